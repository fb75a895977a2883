//! Each way in which a language server could run a repository's own code, alone and with the real server: dead while
//! the workspace is untrusted, and alive (so that the test means something) once it is trusted.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_protocol::lsp::{CheckParams, FileText, ServerOutcome, ServerState};
use stage::{Stage, npm_set};
use tempfile::TempDir;

/// A folder outside of the workspace, in which what is executed leaves a file.
struct Markers {
    folder: TempDir,
}

impl Markers {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("executed")
    }

    fn is_left(&self) -> bool {
        self.path().exists()
    }

    /// What leaves it, in the language of each vector.
    fn rust(&self) -> String {
        format!("std::fs::write({:?}, \"\").unwrap();", self.path())
    }

    fn javascript(&self) -> String {
        format!("require('fs').writeFileSync({:?}, '');", self.path())
    }

    fn program(&self, file: &Path, then: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("#!/bin/sh\n: > '{}'\n{then}\n", self.path().display())).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Whether trust brings a vector to life.
#[derive(PartialEq)]
enum Trusted {
    Runs,
    /// Only the user's own config could name it.
    StaysDead,
}

/// Checks `file`, which `server` serves, untrusted and then trusted.
async fn check(stage: Stage, markers: &Markers, file: &str, server: &str, trusted: Trusted) {
    assert!(!markers.is_left(), "it is not there before anything was done");
    let params = || CheckParams {
        files: vec![FileText { file_path: file.to_owned(), text: None }],
        ..CheckParams::default()
    };
    let response = stage.orchestrator.check(params()).await;
    let outcome = response.servers.iter().find(|outcome| outcome.id == server);
    let outcome = &outcome.unwrap_or_else(|| panic!("{server} does not serve {file}")).outcome;
    assert!(matches!(outcome, ServerOutcome::Absent { status: ServerState::Untrusted, .. }), "{outcome:?}");
    let mend = format!("chartroom trust {}", stage.project.root().canonicalize().unwrap().display());
    for row in stage.orchestrator.status() {
        if row.status != ServerState::Disabled {
            assert_eq!((row.status, row.hint.as_deref()), (ServerState::Untrusted, Some(mend.as_str())));
        }
    }
    assert!(!markers.is_left(), "executed in an untrusted workspace");
    stage.be_trusted();
    stage.orchestrator.check(params()).await;
    if trusted == Trusted::StaysDead {
        assert!(stage.running().iter().any(|(id, _, _)| id == server), "{server} runs");
        assert!(!markers.is_left(), "the project named what to execute");
    } else {
        // Some of it comes a moment after the check.
        for _ in 0..1_200 {
            if markers.is_left() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(markers.is_left(), "the vector is not alive: the test would show nothing");
    }
    stage.orchestrator.shutdown().await;
}

const CRATE: &str = "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[tokio::test]
async fn a_build_script() {
    let markers = Markers::new();
    let fixture = format!(
        "{CRATE}build = \"build.rs\"\n//- build.rs\nfn main() {{ {} }}\n//- src/lib.rs\npub fn a() {{}}\n",
        markers.rust()
    );
    check(Stage::untrusted(&fixture, &[], "{}"), &markers, "src/lib.rs", "rust-analyzer", Trusted::Runs)
        .await;
}

#[tokio::test]
async fn a_proc_macro() {
    let markers = Markers::new();
    let fixture = format!(
        "{CRATE}[dependencies]\nm = {{ path = \"m\" }}\n[workspace]\nmembers = [\"m\"]\n//- src/lib.rs\nm::run!();\n\
         //- m/Cargo.toml\n[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n\
         //- m/src/lib.rs\n#[proc_macro]\npub fn run(_: proc_macro::TokenStream) -> proc_macro::TokenStream {{ {} Default::default() }}\n",
        markers.rust()
    );
    check(Stage::untrusted(&fixture, &[], "{}"), &markers, "src/lib.rs", "rust-analyzer", Trusted::Runs)
        .await;
}

#[tokio::test]
async fn a_cargo_config() {
    let markers = Markers::new();
    let fixture = format!("{CRATE}//- src/lib.rs\npub fn a() {{}}\n");
    let stage = Stage::untrusted(&fixture, &[], "{}");
    let wrapper = stage.project.path("wrapper.sh");
    markers.program(&wrapper, "exec \"$@\"");
    stage.project.write(".cargo/config.toml", &format!("[build]\nrustc-wrapper = {wrapper:?}\n"));
    check(stage, &markers, "src/lib.rs", "rust-analyzer", Trusted::Runs).await;
}

#[tokio::test]
async fn an_eslint_config() {
    let markers = Markers::new();
    let fixture = format!(
        "//- package.json\n{{\"name\":\"x\",\"type\":\"commonjs\"}}\n//- eslint.config.js\n{}\nmodule.exports = [];\n//- a.js\nlet a = 1;\n",
        markers.javascript()
    );
    let config = r#"{"servers":{"typescript":{"enabled":false}}}"#;
    check(Stage::untrusted(&fixture, &["eslint"], config), &markers, "a.js", "eslint", Trusted::Runs).await;
}

const TSCONFIG: &str = "//- package.json\n{\"name\":\"x\"}\n//- a.ts\nexport const a = 1;\n";

/// A project that has TypeScript 6 and its server as `npm install` leaves them: its own copies, no links elsewhere.
fn typescript_6(fixture: &str) -> Stage {
    let stage = Stage::untrusted(fixture, &[], "{}");
    for package in ["typescript", "typescript-language-server"] {
        let from = npm_set("ts6").join(package).canonicalize().unwrap();
        copy(&from, &stage.project.path(&format!("node_modules/{package}")));
    }
    let bin = stage.project.path("node_modules/.bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = "../typescript-language-server/lib/cli.mjs";
    assert!(bin.join(program).is_file(), "the server's program is where npm links it");
    std::os::unix::fs::symlink(program, bin.join("typescript-language-server")).unwrap();
    stage
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn a_plugin_of_tsserver() {
    let markers = Markers::new();
    let fixture = format!(
        "{TSCONFIG}//- tsconfig.json\n{{\"compilerOptions\":{{\"types\":[],\"plugins\":[{{\"name\":\"hostile\"}}]}}}}\n\
         //- node_modules/hostile/package.json\n{{\"name\":\"hostile\",\"version\":\"1.0.0\",\"main\":\"index.js\"}}\n\
         //- node_modules/hostile/index.js\n{}\nmodule.exports = () => ({{ create: info => info.languageService }});\n",
        markers.javascript()
    );
    check(typescript_6(&fixture), &markers, "a.ts", "typescript", Trusted::Runs).await;
}

#[tokio::test]
async fn a_tsserver_in_the_projects_own_typescript() {
    let markers = Markers::new();
    let stage = typescript_6(&format!("{TSCONFIG}//- tsconfig.json\n{{}}\n"));
    for file in ["tsserver.js", "_tsserver.js"] {
        let tsserver = stage.project.path("node_modules/typescript/lib").join(file);
        if let Ok(text) = std::fs::read_to_string(&tsserver) {
            std::fs::write(&tsserver, format!("{}\n{text}", markers.javascript())).unwrap();
        }
    }
    check(stage, &markers, "a.ts", "typescript", Trusted::Runs).await;
}

#[tokio::test]
async fn a_tsserver_that_the_projects_editor_settings_name() {
    let markers = Markers::new();
    let fixture = format!(
        "{TSCONFIG}//- tsconfig.json\n{{}}\n//- .vscode/settings.json\n{{\"typescript.tsdk\":\"evil/lib\"}}\n\
         //- evil/package.json\n{{\"name\":\"typescript\",\"version\":\"5.9.0\"}}\n//- evil/lib/tsserver.js\n{}\n//- evil/lib/typescript.js\n{}\n",
        markers.javascript(),
        markers.javascript()
    );
    check(typescript_6(&fixture), &markers, "a.ts", "typescript", Trusted::StaysDead).await;
}

#[tokio::test]
async fn programs_planted_where_a_project_has_its_own() {
    let typescript =
        "//- node_modules/typescript/package.json\n{\"name\":\"typescript\",\"version\":\"7.0.0\"}\n";
    for (planted, fixture, file, server) in [
        ("node_modules/.bin/tsc", format!("{TSCONFIG}{typescript}"), "a.ts", "typescript"),
        (
            "node_modules/.bin/vscode-eslint-language-server",
            "//- eslint.config.js\nmodule.exports = [];\n//- a.js\nlet a;\n".to_owned(),
            "a.js",
            "eslint",
        ),
        (
            "node_modules/.bin/pyright-langserver",
            "//- pyrightconfig.json\n{}\n//- a.py\nx = 1\n".to_owned(),
            "a.py",
            "pyright",
        ),
        (".venv/bin/ty", "//- ty.toml\n\n//- a.py\nx = 1\n".to_owned(), "a.py", "ty"),
    ] {
        let markers = Markers::new();
        let stage = Stage::untrusted(&fixture, &[], "{}");
        markers.program(&stage.project.path(planted), "exit 1");
        check(stage, &markers, file, server, Trusted::Runs).await;
    }
}

#[tokio::test]
async fn programs_planted_in_the_root_are_nobodys() {
    for (planted, fixture, file, server) in [
        ("rust-analyzer", format!("{CRATE}//- src/lib.rs\npub fn a() {{}}\n"), "src/lib.rs", "rust-analyzer"),
        ("gopls", "//- go.mod\nmodule x\n\ngo 1.19\n//- a.go\npackage a\n".to_owned(), "a.go", "gopls"),
        ("clangd", "//- a.c\nint a;\n".to_owned(), "a.c", "clangd"),
    ] {
        let markers = Markers::new();
        let stage = Stage::untrusted(&fixture, &[], "{}");
        markers.program(&stage.project.path(planted), "exit 1");
        check(stage, &markers, file, server, Trusted::StaysDead).await;
    }
}
