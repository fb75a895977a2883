//! Renames, symbol edits and code actions of real language servers, through `chartroom mcp`.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::path::PathBuf;

use chartroom_testkit::tools;
use program::Home;
use serde_json::{Value, json};
use stdio::McpClient;

/// A trusted project with an agent's tools.
struct Scene {
    _home: Home,
    root: PathBuf,
    client: McpClient,
}

impl Scene {
    fn new(files: &[(&str, &str)], modules: Option<&str>, config: &str) -> Self {
        let home = Home::new();
        let root = home.path().join("project");
        for (name, text) in files {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        if let Some(set) = modules {
            let modules = tools::dir().join(set).join("node_modules");
            assert!(modules.is_dir(), "run `cargo xtask tools` to install {}", modules.display());
            std::os::unix::fs::symlink(modules, root.join("node_modules")).unwrap();
        }
        // The machine that runs this may be busy with everything else.
        let config = format!("[lsp]\nfirstTouchTimeout = 240000\ndiagnosticTimeout = 120000\n{config}");
        let config = home.write("config.toml", &config);
        assert_eq!(home.run(&["trust", "project"]).0, 0);
        let mut command = home.command(&["mcp"]);
        command.current_dir(&root).env("CHARTROOM_CONFIG", config);
        // What finds a compiler and its libraries: the servers need the user's own.
        for name in ["PATH", "RUSTUP_HOME", "CARGO_HOME"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if let Some(user) = std::env::var_os("HOME") {
            for (name, below) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
                if std::env::var_os(name).is_none() {
                    command.env(name, PathBuf::from(&user).join(below));
                }
            }
        }
        Self { client: McpClient::start(command), root, _home: home }
    }

    fn ask(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.client.tool(tool, arguments);
        let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
        if answer["isError"] == json!(true) { format!("ERROR: {text}") } else { text }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap()
    }
}

const TSCONFIG: (&str, &str) = (
    "tsconfig.json",
    "{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"noUnusedLocals\":true,\"types\":[]},\"include\":[\"src\"]}\n",
);

#[test]
fn typescript_7_renames_edits_and_mends() {
    let shop = "export class Shop {\n  /* 🐻漢字 */ total(): number {\n    return 1;\n  }\n\n  /** Not needed. */\n  unused(): void {}\n}\n";
    let files = [
        ("package.json", "{\"name\":\"x\",\"type\":\"module\"}\n"),
        TSCONFIG,
        ("src/shop.ts", shop),
        ("src/a.ts", "import { Shop } from './shop';\nexport const a = new Shop().total();\n"),
        (
            "src/b.ts",
            "import { Shop } from './shop';\n// 漢🐻\nexport const b = new Shop().total() + new Shop().total();\n",
        ),
        ("src/c.ts", "export const c = new Shop();\n"),
    ];
    let mut scene = Scene::new(&files, Some("ts7"), "");
    let rename = |more: Value| {
        let mut arguments = json!({ "filePath": "src/shop.ts", "symbol": "Shop/total", "newName": "sum" });
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        arguments
    };
    let preview = scene.ask("rename_symbol", rename(json!({ "preview": true })));
    assert!(preview.starts_with("Preview, nothing was changed. Renamed total to sum, 4 places in 3 files:\nsrc/a.ts (line 2)\nsrc/b.ts (lines 3, 3)\nsrc/shop.ts (line 2)\n"), "{preview}");
    assert_eq!(scene.read("src/shop.ts"), shop);
    let id = preview.rsplit('"').nth(1).unwrap().to_owned();
    // Somebody changes one of the files after the preview.
    std::fs::write(
        scene.root.join("src/a.ts"),
        "import { Shop } from './shop';\n\nexport const a = new Shop().total();\n",
    )
    .unwrap();
    let refused = scene.ask("rename_symbol", rename(json!({ "previewId": id })));
    assert!(refused.starts_with("ERROR: nothing was changed: since the preview"), "{refused}");
    assert_eq!(
        scene.ask("rename_symbol", rename(json!({}))),
        "Renamed total to sum, 4 places in 3 files: src/a.ts, src/b.ts, src/shop.ts."
    );
    assert_eq!(
        scene.read("src/a.ts"),
        "import { Shop } from './shop';\n\nexport const a = new Shop().sum();\n"
    );
    assert_eq!(
        scene.read("src/b.ts"),
        "import { Shop } from './shop';\n// 漢🐻\nexport const b = new Shop().sum() + new Shop().sum();\n"
    );
    // A method gets another type, and its users are told.
    let replace = json!({ "filePath": "src/shop.ts", "symbol": "Shop/sum", "action": "replace", "text": "sum(): string {\n  return 1;\n}" });
    let replaced = scene.ask("edit_symbol", replace);
    assert!(
        replaced.starts_with(
            "Replaced Shop/sum, 1 place in 1 file: src/shop.ts.\n\nLSP errors detected in this file"
        ),
        "{replaced}"
    );
    let used = scene
        .ask("edit_symbol", json!({ "filePath": "src/shop.ts", "symbol": "Shop/sum", "action": "delete" }));
    assert!(
        used.starts_with("ERROR: Shop/sum was not deleted: it is used in 3 places: src/a.ts:3:29"),
        "{used}"
    );
    let deleted = scene.ask(
        "edit_symbol",
        json!({ "filePath": "src/shop.ts", "symbol": "Shop/unused", "action": "delete" }),
    );
    assert!(
        deleted.starts_with("Deleted Shop/unused, which nothing used, 1 place in 1 file: src/shop.ts."),
        "{deleted}"
    );
    assert!(!scene.read("src/shop.ts").contains("Not needed"), "{}", scene.read("src/shop.ts"));
    // A missing import is offered and made, by its id only.
    let line = json!({ "filePath": "src/c.ts", "line": 1 });
    let actions = scene.ask("code_actions", line);
    let import = actions
        .lines()
        .find(|action| action.contains("import") && action.contains("./shop"))
        .unwrap_or_else(|| panic!("{actions}"));
    assert!(!scene.read("src/c.ts").contains("import"));
    let applied =
        scene.ask("code_actions", json!({ "filePath": "src/c.ts", "line": 1, "apply": &import[1..7] }));
    assert!(applied.starts_with("Applied `"), "{applied}");
    assert!(scene.read("src/c.ts").starts_with("import { Shop } from"), "{}", scene.read("src/c.ts"));
}

#[test]
fn pyright_renames_and_edits() {
    let files = [
        ("pyrightconfig.json", "{}\n"),
        (
            "shop.py",
            "class Shop:\n    def total(self) -> int:\n        \"\"\"漢字 🐻\"\"\"\n        return 1\n",
        ),
        ("use.py", "from shop import Shop\n\nprint(\"🐻漢\", Shop().total())\n"),
    ];
    let mut scene = Scene::new(&files, Some("pyright"), "[lsp.servers.ruff]\nenabled = false\n");
    assert_eq!(
        scene.ask(
            "rename_symbol",
            json!({ "filePath": "use.py", "line": 3, "symbol": "total", "newName": "sum" })
        ),
        "Renamed total to sum, 2 places in 2 files: shop.py, use.py."
    );
    assert_eq!(scene.read("use.py"), "from shop import Shop\n\nprint(\"🐻漢\", Shop().sum())\n");
    let inserted = scene.ask("edit_symbol", json!({ "filePath": "shop.py", "symbol": "Shop.sum", "action": "insert_after", "text": "def twice(self) -> str:\n    return self.sum() * 2" }));
    assert!(
        inserted.starts_with("Inserted after Shop/sum, 1 place in 1 file: shop.py.\n\nLSP errors"),
        "{inserted}"
    );
    assert!(
        scene
            .read("shop.py")
            .ends_with("        return 1\n\n    def twice(self) -> str:\n        return self.sum() * 2\n"),
        "{}",
        scene.read("shop.py")
    );
}

#[test]
fn gopls_renames_over_files_and_tells_no_error_from_between_two_of_them() {
    let main = |name: &str| {
        format!(
            "package main\n\nimport \"example.com/p/shop\"\n\nfunc main() {{ println(\"🐻漢\", shop.{name}()) }}\n"
        )
    };
    let shop =
        |name: &str| format!("package shop\n\n// {name} adds. 漢字\nfunc {name}() int {{ return 1 }}\n");
    let files = [
        ("go.mod", "module example.com/p\n\ngo 1.19\n"),
        ("main.go", &main("Total")),
        ("shop/shop.go", &shop("Total")),
    ];
    let mut scene = Scene::new(&files, None, "");
    // The file that uses it is written first, and for a moment uses what is not there.
    for (old, new) in [("Total", "Sum"), ("Sum", "Plus"), ("Plus", "Total")] {
        let arguments = json!({ "filePath": "shop/shop.go", "symbol": old, "newName": new });
        assert_eq!(
            scene.ask("rename_symbol", arguments),
            format!("Renamed {old} to {new}, 3 places in 2 files: main.go, shop/shop.go.")
        );
        assert_eq!((scene.read("main.go"), scene.read("shop/shop.go")), (main(new), shop(new)));
    }
}

#[test]
fn rust_analyzer_renames_and_applies_an_action() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "src/shop.rs",
            "pub struct Shop;\n\nimpl Shop {\n    /// 漢字 🐻\n    pub fn total(&self) -> u32 {\n        1\n    }\n}\n",
        ),
        ("src/main.rs", "mod shop;\n\nfn main() {\n    println!(\"🐻漢 {}\", shop::Shop.total());\n}\n"),
    ];
    let mut scene = Scene::new(&files, None, "");
    assert_eq!(
        scene.ask(
            "rename_symbol",
            json!({ "filePath": "src/shop.rs", "symbol": "Shop/total", "newName": "sum" })
        ),
        "Renamed total to sum, 2 places in 2 files: src/main.rs, src/shop.rs."
    );
    assert!(scene.read("src/main.rs").contains("println!(\"🐻漢 {}\", shop::Shop.sum());"));
    let replaced = scene.ask("edit_symbol", json!({ "filePath": "src/shop.rs", "symbol": "Shop/sum", "action": "replace", "text": "pub fn sum(&self) -> u32 {\n    2\n}" }));
    assert!(replaced.starts_with("Replaced Shop/sum, 1 place in 1 file: src/shop.rs."), "{replaced}");
    assert_eq!(
        scene.read("src/shop.rs"),
        "pub struct Shop;\n\nimpl Shop {\n    /// 漢字 🐻\n    pub fn sum(&self) -> u32 {\n        2\n    }\n}\n"
    );
    let actions =
        scene.ask("code_actions", json!({ "filePath": "src/shop.rs", "line": 5, "kind": "refactor" }));
    let first = actions.lines().next().unwrap();
    assert!(first.starts_with('['), "{actions}");
    let applied = scene.ask(
        "code_actions",
        json!({ "filePath": "src/shop.rs", "line": 5, "kind": "refactor", "apply": &first[1..7] }),
    );
    assert!(applied.starts_with("Applied `"), "{applied}");
}
