//! Stories with real language servers that cannot load the project: what they say themselves is what is told, at once.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use std::time::Duration;

use serde_json::{Value, json};
use stage::Stage;

/// Without the servers' own words each of these would be waited for until here.
const LIMITS: &str = r#""firstTouchTimeout":60000,"diagnosticTimeout":60000"#;
/// Far below the limit, and far above what a server needs to say that it cannot load a project.
const AT_ONCE: Duration = Duration::from_secs(45);

fn check(file: &str) -> Value {
    json!({ "filePath": file })
}

async fn told(stage: &Stage, tool: &str, arguments: Value) -> String {
    let (text, took) = stage.told(tool, arguments).await;
    assert!(took < AT_ONCE, "{took:?}: {text}");
    text
}

#[tokio::test]
async fn gopls_says_what_is_wrong_with_go_mod() {
    let fixture =
        "//- go.mod\nmodule example.com/x\n\ngo 1.99.7\n//- main.go\npackage main\n\nfunc main() {}\n";
    let stage = Stage::with_config(fixture, &[], &format!("{{{LIMITS}}}"));
    let why = "invalid go version '1.99.7'";
    for _ in 0..2 {
        let text = told(&stage, "lsp_check", check("main.go")).await;
        assert!(text.contains("gopls cannot load the project: ") && text.contains(why), "{text}");
    }
    let row = stage.orchestrator.status().into_iter().find(|row| row.id == "gopls").unwrap();
    assert!(row.reason.as_ref().is_some_and(|reason| reason.contains(why)), "{row:?}");
    let text = told(&stage, "lsp_diagnostics", json!({})).await;
    assert!(text.contains("[gopls: cannot load the project: "), "{text}");
    // Mended, it is believed again, and so is what it finds.
    stage.write("go.mod", "module example.com/x\n\ngo 1.19\n").await;
    assert_eq!(stage.check("main.go").await, Vec::<String>::new());
    assert_eq!(stage.write("main.go", "package main\n\nfunc main() { missing() }\n").await.len(), 1);
    stage.end().await;
}

#[tokio::test]
async fn rust_analyzer_says_what_is_wrong_with_cargo_toml() {
    let fixture = "//- Cargo.toml\n[package]\nname = \"x\"\nversion =\n//- src/main.rs\nfn main() {}\n";
    let stage = Stage::with_config(fixture, &[], &format!("{{{LIMITS}}}"));
    let text = told(&stage, "lsp_check", check("src/main.rs")).await;
    assert!(text.contains("rust-analyzer cannot load the project: Failed to load workspaces."), "{text}");
    assert!(text.contains("--&gt; Cargo.toml:3:"), "as data, with its place: {text}");
    stage.end().await;
}

#[tokio::test]
async fn typescript_says_what_is_wrong_with_tsconfig() {
    let fixture = "//- package.json\n{\"name\":\"x\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":tru}}\n//- a.ts\nexport const a = 1;\n";
    let stage = Stage::with_config(fixture, &["ts7"], &format!("{{{LIMITS}}}"));
    // It pushes this by itself, a moment after it has answered.
    let text = loop {
        let text = told(&stage, "lsp_check", check("a.ts")).await;
        if text.contains("says") {
            break text;
        }
        assert!(text.contains("No diagnostics in a.ts (typescript)"), "{text}");
    };
    assert!(text.contains("[typescript says: tsconfig.json:1:"), "{text}");
    stage.end().await;
}

#[tokio::test]
async fn pyright_says_what_is_wrong_with_its_config() {
    let fixture = "//- pyrightconfig.json\n{ \"include\": [\n//- a.py\nx: int = 1\n";
    let config = format!("{{{LIMITS},\"servers\":{{\"ruff\":{{\"enabled\":false}}}}}}");
    let stage = Stage::with_config(fixture, &["pyright"], &config);
    let text = told(&stage, "lsp_check", check("a.py")).await;
    assert!(text.contains("[pyright says: Config file ") && text.contains("could not be parsed"), "{text}");
    stage.end().await;
}
