//! Stories with real language servers and changes that none of our tools made: by `sed`, by a new folder, in a config, by
//! `git checkout`. The next answer is right, about files that nobody has opened before.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use serde_json::json;
use stage::Stage;

const CLEAN: [&str; 0] = [];

/// What the next check of a file says: one line that holds this, or nothing.
async fn next_answer(stage: &Stage, file: &str, expected: Option<&str>) {
    let lines = stage.check(file).await;
    match expected {
        Some(error) => assert!(lines.iter().any(|line| line.contains(error)), "{error}: {lines:?}"),
        None => assert_eq!(lines, CLEAN),
    }
}

/// A commit of the project as it is, and a branch on which two thousand files more and the dependency are changed.
fn branches(stage: &Stage, change: &str, file: &str) {
    let git = "git -c user.name=x -c user.email=x@example.com -c core.fsmonitor=false";
    stage.shell(&format!(
        "git init -q -b main && printf 'node_modules\\ntarget\\n' > .gitignore && git add -A && {git} commit -q -m one && git checkout -q -b other && {change} && mkdir -p many && for n in $(seq 2000); do echo \"$n\" > many/{file}$n.txt; done && git add -A && {git} commit -q -m two && git checkout -q main"
    ));
}

#[tokio::test]
async fn typescript_7_hears_of_what_others_did() {
    let fixture = "//- package.json\n{\"name\":\"x\",\"type\":\"module\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"skipLibCheck\":true,\"types\":[]},\"include\":[\"src\"]}\n//- src/types.ts\nexport interface User { name: string }\n//- src/app.ts\nimport type { User } from './types';\nexport const greet = (user: User) => user.name;\n//- src/late.ts\nimport { thing } from './made/thing';\nexport const it: number = thing;\n//- src/loose.ts\nexport function loose(value) { return value; }\n";
    let stage = Stage::new(fixture, &["ts7"]);
    next_answer(&stage, "src/app.ts", None).await;
    // A dependency that nobody opened.
    stage.shell("sed -i s/name/title/ src/types.ts");
    next_answer(&stage, "src/app.ts", Some("(2339)")).await;
    stage.shell("sed -i s/title/name/ src/types.ts");
    next_answer(&stage, "src/app.ts", None).await;
    // A file in a new folder.
    next_answer(&stage, "src/late.ts", Some("(2307)")).await;
    stage.shell("mkdir -p src/made && echo 'export const thing = 1;' > src/made/thing.ts");
    next_answer(&stage, "src/late.ts", None).await;
    stage.shell("mv src/made src/moved");
    next_answer(&stage, "src/late.ts", Some("(2307)")).await;
    stage.shell("mv src/moved src/made");
    next_answer(&stage, "src/late.ts", None).await;
    // The config.
    next_answer(&stage, "src/loose.ts", Some("(7006)")).await;
    stage.shell("sed -i 's/\"strict\":true/\"strict\":false/' tsconfig.json");
    next_answer(&stage, "src/loose.ts", None).await;
    stage.shell("sed -i 's/\"strict\":false/\"strict\":true/' tsconfig.json");
    next_answer(&stage, "src/loose.ts", Some("(7006)")).await;
    // Another branch.
    branches(&stage, "sed -i s/name/title/ src/types.ts", "f");
    next_answer(&stage, "src/app.ts", None).await;
    stage.shell("git checkout -q other");
    next_answer(&stage, "src/app.ts", Some("(2339)")).await;
    stage.shell("git checkout -q main");
    next_answer(&stage, "src/app.ts", None).await;
    stage.end().await;
}

#[tokio::test]
async fn pyright_hears_of_what_others_did() {
    let fixture = "//- pyrightconfig.json\n{\"reportMissingModuleSource\":false}\n//- types_.py\nclass User:\n    name: str = ''\n//- app.py\nfrom types_ import User\n\ndef greet(user: User) -> str:\n    return user.name\n//- late.py\nfrom made.thing import thing\n\nit: int = thing\n//- loose.py\nimport os\n";
    let stage = Stage::new(fixture, &["pyright"]);
    next_answer(&stage, "app.py", None).await;
    stage.shell("sed -i s/name/title/ types_.py");
    next_answer(&stage, "app.py", Some("reportAttributeAccessIssue")).await;
    stage.shell("sed -i s/title/name/ types_.py");
    next_answer(&stage, "app.py", None).await;
    next_answer(&stage, "late.py", Some("reportMissingImports")).await;
    stage.shell("mkdir made && touch made/__init__.py && echo 'thing: int = 1' > made/thing.py");
    next_answer(&stage, "late.py", None).await;
    next_answer(&stage, "loose.py", None).await;
    stage.shell("echo '{\"reportUnusedImport\":\"error\"}' > pyrightconfig.json");
    next_answer(&stage, "loose.py", Some("reportUnusedImport")).await;
    stage.shell("echo '{}' > pyrightconfig.json");
    next_answer(&stage, "loose.py", None).await;
    branches(&stage, "sed -i s/name/title/ types_.py", "f");
    next_answer(&stage, "app.py", None).await;
    stage.shell("git checkout -q other");
    next_answer(&stage, "app.py", Some("reportAttributeAccessIssue")).await;
    stage.shell("git checkout -q main");
    next_answer(&stage, "app.py", None).await;
    stage.end().await;
}

#[tokio::test]
async fn gopls_hears_of_what_others_did() {
    let fixture = "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- shape/shape.go\npackage shape\n\nfunc Area(width int) int { return width }\n//- main.go\npackage main\n\nimport \"example.com/x/shape\"\n\nfunc main() { println(shape.Area(1)) }\n//- late/late.go\npackage late\n\nimport \"example.com/x/made\"\n\nvar It int = made.Thing\n//- generic/generic.go\npackage generic\n\nfunc First[T any](all []T) T { return all[0] }\n";
    let stage = Stage::new(fixture, &[]);
    next_answer(&stage, "main.go", None).await;
    stage.shell("sed -i 's/width int/width string/; s/return width/return len(width)/' shape/shape.go");
    next_answer(&stage, "main.go", Some("string")).await;
    stage.shell("sed -i 's/width string/width int/; s/return len(width)/return width/' shape/shape.go");
    next_answer(&stage, "main.go", None).await;
    next_answer(&stage, "late/late.go", Some("made")).await;
    stage.shell("mkdir made && printf 'package made\\n\\nconst Thing = 1\\n' > made/made.go");
    next_answer(&stage, "late/late.go", None).await;
    // The config: before Go 1.18 there are no type parameters.
    next_answer(&stage, "generic/generic.go", None).await;
    stage.shell("sed -i 's/go 1.19/go 1.16/' go.mod");
    next_answer(&stage, "generic/generic.go", Some("1.18")).await;
    stage.shell("sed -i 's/go 1.16/go 1.19/' go.mod");
    next_answer(&stage, "generic/generic.go", None).await;
    branches(
        &stage,
        "sed -i 's/width int/width string/; s/return width/return len(width)/' shape/shape.go",
        "f",
    );
    next_answer(&stage, "main.go", None).await;
    stage.shell("git checkout -q other");
    next_answer(&stage, "main.go", Some("string")).await;
    stage.shell("git checkout -q main");
    next_answer(&stage, "main.go", None).await;
    stage.end().await;
}

#[tokio::test]
async fn rust_analyzer_hears_of_a_changed_manifest() {
    let fixture = "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n//- src/lib.rs\npub fn size() -> u32 { shape::area(1) }\n//- shape/Cargo.toml\n[package]\nname = \"shape\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n//- shape/src/lib.rs\npub fn area(width: u32) -> u32 { width }\n";
    let stage = Stage::new(fixture, &[]);
    next_answer(&stage, "src/lib.rs", Some("shape")).await;
    stage.shell("echo 'shape = { path = \"shape\" }' >> Cargo.toml");
    next_answer(&stage, "src/lib.rs", None).await;
    let place = json!({ "filePath": "src/lib.rs", "line": 1, "symbol": "area" });
    assert_eq!(stage.ask("lsp_goto_definition", place).await, "shape/src/lib.rs:1:8");
    stage.shell("sed -i 's/width: u32/width: \\&str/; s/-> u32/-> usize/; s/{ width }/{ width.len() }/' shape/src/lib.rs");
    next_answer(&stage, "src/lib.rs", Some("E0308")).await;
    stage.end().await;
}

/// It looks at folders: told of the files alone it does not find them.
#[tokio::test]
async fn ty_hears_of_a_new_folder() {
    let fixture = "//- ty.toml\n\n//- types_.py\nclass User:\n    name: str = ''\n//- app.py\nfrom types_ import User\n\ndef greet(user: User) -> str:\n    return user.name\n//- late.py\nfrom made.thing import thing\n\nit: int = thing\n";
    let config = r#"{"servers":{"ruff":{"enabled":false},"pyright":{"enabled":false}}}"#;
    let stage = Stage::with_config(fixture, &[], config);
    next_answer(&stage, "app.py", None).await;
    stage.shell("sed -i s/name/title/ types_.py");
    next_answer(&stage, "app.py", Some("attribute")).await;
    next_answer(&stage, "late.py", Some("made.thing")).await;
    stage.shell("mkdir made && touch made/__init__.py && echo 'thing: int = 1' > made/thing.py");
    next_answer(&stage, "late.py", None).await;
    stage.shell("rm -r made");
    next_answer(&stage, "late.py", Some("made.thing")).await;
    stage.end().await;
}
