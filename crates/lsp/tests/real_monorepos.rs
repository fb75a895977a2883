//! Stories with real language servers in repositories of several packages: they see each other, through one server.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use std::os::unix::fs::symlink;

use serde_json::json;
use stage::Stage;

/// The servers that run, each with its root.
fn running(stage: &Stage) -> Vec<(String, String)> {
    stage.running().into_iter().map(|(id, root, _)| (id, root)).collect()
}

fn one(id: &str) -> Vec<(String, String)> {
    vec![(id.to_owned(), ".".to_owned())]
}

const TSCONFIG: &str = "{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"skipLibCheck\":true,\"types\":[]},\"include\":[\"src\"]}";

/// Two packages as npm and pnpm lay them out: `web` depends on `core` by its name, through a link.
async fn typescript_workspace(root_files: &str) {
    let fixture = format!(
        "{root_files}//- packages/core/package.json\n{{\"name\":\"@acme/core\",\"types\":\"src/index.ts\",\"main\":\"src/index.ts\"}}\n\
         //- packages/core/tsconfig.json\n{TSCONFIG}\n//- packages/core/src/index.ts\nexport function area(width: number) {{ return width; }}\n\
         //- packages/web/package.json\n{{\"name\":\"@acme/web\",\"dependencies\":{{\"@acme/core\":\"workspace:*\"}}}}\n\
         //- packages/web/tsconfig.json\n{TSCONFIG}\n//- packages/web/src/app.ts\nimport {{ area }} from '@acme/core';\nexport const size = area(1);\n"
    );
    let stage = Stage::new(&fixture, &["ts7"]);
    let scope = stage.project.path("packages/web/node_modules/@acme");
    std::fs::create_dir_all(&scope).unwrap();
    symlink("../../../core", scope.join("core")).unwrap();
    let core = "packages/core/src/index.ts";
    assert_eq!(stage.check(core).await, Vec::<String>::new());
    let others =
        stage.write_and_look_around(core, "export function area(width: string) { return width; }\n").await;
    assert_eq!(others, ["packages/web/src/app.ts"], "breaking core makes web say so");
    let others =
        stage.write_and_look_around(core, "export function area(width: number) { return width; }\n").await;
    assert_eq!(others, Vec::<String>::new());
    assert_eq!(stage.check("packages/web/src/app.ts").await, Vec::<String>::new());
    let place = json!({ "filePath": core, "line": 1, "symbol": "area" });
    let references = stage.ask("lsp_find_references", place).await;
    assert!(references.contains("packages/web/src/app.ts:2:21"), "{references}");
    assert_eq!(running(&stage), one("typescript"));
    stage.end().await;
}

#[tokio::test]
async fn packages_of_a_pnpm_workspace_see_each_other_in_typescript_7() {
    typescript_workspace(
        "//- pnpm-workspace.yaml\npackages:\n  - 'packages/*'\n//- package.json\n{\"private\":true}\n",
    )
    .await;
}

#[tokio::test]
async fn packages_of_an_npm_workspace_see_each_other_in_typescript_7() {
    typescript_workspace("//- package.json\n{\"private\":true,\"workspaces\":[\"packages/*\"]}\n").await;
}

#[tokio::test]
async fn a_cargo_workspace_of_three_crates_has_one_rust_analyzer() {
    let package = |name: &str, dependencies: &str| {
        format!(
            "//- {name}/Cargo.toml\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{dependencies}"
        )
    };
    let fixture = format!(
        "//- Cargo.toml\n[workspace]\nresolver = \"2\"\nmembers = [\"core\", \"web\", \"cli\"]\n{}//- core/src/lib.rs\npub fn area(width: u32) -> u32 {{ width }}\n{}//- web/src/lib.rs\npub fn size() -> u32 {{ core_of_acme::area(1) }}\n{}//- cli/src/main.rs\nfn main() {{ println!(\"{{}}\", web::size()); }}\n",
        package("core", "").replace("name = \"core\"", "name = \"core_of_acme\""),
        package("web", "core_of_acme = { path = \"../core\" }\n"),
        package("cli", "web = { path = \"../web\" }\n"),
    );
    let stage = Stage::new(&fixture, &[]);
    for file in ["core/src/lib.rs", "web/src/lib.rs", "cli/src/main.rs"] {
        assert_eq!(stage.check(file).await, Vec::<String>::new(), "{file}");
    }
    assert_eq!(running(&stage), one("rust-analyzer"));
    let others = stage
        .write_and_look_around("core/src/lib.rs", "pub fn area(width: &str) -> usize { width.len() }\n")
        .await;
    assert_eq!(others, ["web/src/lib.rs"], "breaking core makes web say so");
    let others =
        stage.write_and_look_around("core/src/lib.rs", "pub fn area(width: u32) -> u32 { width }\n").await;
    assert_eq!(others, Vec::<String>::new());
    let place = json!({ "filePath": "core/src/lib.rs", "line": 1, "symbol": "area" });
    let references = stage.ask("lsp_find_references", place).await;
    assert!(references.contains("web/src/lib.rs:1:"), "{references}");
    assert_eq!(running(&stage), one("rust-analyzer"));
    stage.end().await;
}

#[tokio::test]
async fn the_modules_of_a_go_work_see_each_other_in_one_gopls() {
    let fixture = "//- go.work\ngo 1.19\n\nuse (\n\t./core\n\t./web\n)\n//- core/go.mod\nmodule example.com/core\n\ngo 1.19\n//- core/shape.go\npackage core\n\nfunc Area(width int) int { return width }\n//- web/go.mod\nmodule example.com/web\n\ngo 1.19\n//- web/main.go\npackage main\n\nimport \"example.com/core\"\n\nfunc main() { println(core.Area(1)) }\n";
    let stage = Stage::new(fixture, &[]);
    assert_eq!(stage.check("core/shape.go").await, Vec::<String>::new());
    let broken = "package core\n\nfunc Area(width string) int { return len(width) }\n";
    assert_eq!(stage.write_and_look_around("core/shape.go", broken).await, ["web/main.go"]);
    let fine = "package core\n\nfunc Area(width int) int { return width }\n";
    assert_eq!(stage.write_and_look_around("core/shape.go", fine).await, Vec::<String>::new());
    assert_eq!(stage.check("web/main.go").await, Vec::<String>::new());
    let place = json!({ "filePath": "core/shape.go", "line": 3, "symbol": "Area" });
    let references = stage.ask("lsp_find_references", place).await;
    assert!(references.contains("web/main.go:5:"), "{references}");
    assert_eq!(running(&stage), one("gopls"));
    stage.end().await;
}

/// Makes an empty virtual environment.
#[expect(clippy::disallowed_methods, reason = "the test does what a user did before")]
fn make_environment(at: &std::path::Path) {
    let made = std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(at).status();
    assert!(made.unwrap().success());
}

/// A workspace of uv: one environment at its root, in which the members are installed by path.
#[tokio::test]
async fn the_members_of_a_uv_workspace_see_each_other_in_pyright() {
    let fixture = "//- pyproject.toml\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n//- packages/core/pyproject.toml\n[project]\nname = \"acme-core\"\nversion = \"0.1.0\"\n//- packages/core/src/acme_core/__init__.py\ndef area(width: int) -> int:\n    return width\n//- packages/web/pyproject.toml\n[project]\nname = \"acme-web\"\nversion = \"0.1.0\"\ndependencies = [\"acme-core\"]\n//- packages/web/src/acme_web/__init__.py\nfrom acme_core import area\n\nsize: int = area(1)\n";
    let stage = Stage::new(fixture, &["pyright"]);
    let environment = stage.project.path(".venv");
    make_environment(&environment);
    let library = std::fs::read_dir(environment.join("lib")).unwrap().flatten().next().unwrap().path();
    for member in ["core", "web"] {
        let path = stage.project.path(&format!("packages/{member}/src"));
        let entry = library.join("site-packages").join(format!("acme_{member}.pth"));
        std::fs::write(entry, format!("{}\n", path.display())).unwrap();
    }
    let (core, web) = ("packages/core/src/acme_core/__init__.py", "packages/web/src/acme_web/__init__.py");
    assert_eq!(stage.check(web).await, Vec::<String>::new(), "the import is found");
    let others =
        stage.write_and_look_around(core, "def area(width: str) -> int:\n    return len(width)\n").await;
    assert_eq!(others, [web], "breaking core makes web say so");
    let others = stage.write_and_look_around(core, "def area(width: int) -> int:\n    return width\n").await;
    assert_eq!(others, Vec::<String>::new());
    let references =
        stage.ask("lsp_find_references", json!({ "filePath": core, "line": 1, "symbol": "area" })).await;
    assert!(references.contains(&format!("{web}:3:")), "{references}");
    let mut running = running(&stage);
    running.retain(|(id, _)| id == "pyright");
    assert_eq!(running, one("pyright"));
    stage.end().await;
}
