//! Types, implementations, calls, symbols by path and whole folders, asked of real language servers.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use serde_json::{Value, json};
use stage::Stage;

/// Asks about a symbol by its path.
fn by_path(file: &str, path: &str, more: (&str, &str)) -> Value {
    let mut arguments = json!({ "filePath": file, "symbol": path });
    arguments[more.0] = json!(more.1);
    arguments
}

#[tokio::test]
async fn typescript_7_knows_types_implementations_and_calls() {
    let fixture = "//- package.json\n{\"name\":\"x\",\"type\":\"module\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"types\":[]},\"include\":[\"src\"]}\n//- src/shape.ts\nexport interface Shape {\n  area(): number;\n}\n//- src/square.ts\nimport type { Shape } from './shape';\nexport class Square implements Shape {\n  constructor(readonly side: number) {}\n  /* 🐻漢字 */ area(): number {\n    return double(this.side);\n  }\n}\nexport function double(n: number): number {\n  return n * 2;\n}\n//- src/use.ts\nimport { Square } from './square';\nconst square = new Square(2);\nexport const size = square.area();\n//- src/bad/one.ts\nexport const one: number = 'x';\n//- src/bad/two.ts\nexport const two: string = 2;\n";
    let stage = Stage::new(fixture, &["ts7"]);
    let implementations = by_path("src/shape.ts", "Shape/area", ("of", "implementations"));
    assert_eq!(stage.ask("lsp_goto_definition", implementations).await, "src/square.ts:4:13");
    let of_type = json!({ "filePath": "src/use.ts", "line": 3, "symbol": "square", "of": "type" });
    assert_eq!(stage.ask("lsp_goto_definition", of_type).await, "src/square.ts:2:14");
    let incoming = by_path("src/square.ts", "Square/area", ("direction", "incoming"));
    let calls = stage.ask("lsp_calls", incoming).await;
    assert!(calls.contains("src/use.ts:3:28"), "{calls}");
    let outgoing = by_path("src/square.ts", "Square/area", ("direction", "outgoing"));
    assert_eq!(stage.ask("lsp_calls", outgoing).await, "double - src/square.ts:8:17");
    let references =
        stage.ask("lsp_find_references", json!({ "filePath": "src/square.ts", "symbol": "double" })).await;
    assert_eq!(references, "src/square.ts:5:12\nsrc/square.ts:8:17");
    let folder = stage.ask("lsp_diagnostics", json!({ "path": "src/bad" })).await;
    assert_eq!(
        folder,
        "src/bad/one.ts:1:14 Type 'string' is not assignable to type 'number'.\nsrc/bad/two.ts:1:14 Type 'number' is not assignable to type 'string'.\n2 in 2 files (2 files checked)"
    );
    stage.end().await;
}

#[tokio::test]
async fn gopls_knows_types_implementations_and_calls() {
    let fixture = "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- shape.go\npackage main\n\ntype Shape interface {\n\tArea() int\n}\n//- square.go\npackage main\n\ntype Square struct{ side int }\n\nfunc (s *Square) Area() int { return double(s.side) }\n\nfunc double(n int) int { return 2 * n }\n//- main.go\npackage main\n\nfunc main() {\n\tvar s Shape = &Square{2}\n\tprintln(s.Area())\n}\n";
    let stage = Stage::new(fixture, &[]);
    let implementations =
        json!({ "filePath": "shape.go", "line": 3, "symbol": "Shape", "of": "implementations" });
    assert_eq!(stage.ask("lsp_goto_definition", implementations).await, "square.go:3:6");
    let of_type = json!({ "filePath": "main.go", "line": 5, "symbol": "s", "of": "type" });
    assert_eq!(stage.ask("lsp_goto_definition", of_type).await, "shape.go:3:6");
    let outgoing = by_path("square.go", "Square/Area", ("direction", "outgoing"));
    assert_eq!(stage.ask("lsp_calls", outgoing).await, "double - square.go:7:6");
    let incoming = by_path("square.go", "double", ("direction", "incoming"));
    let calls = stage.ask("lsp_calls", incoming).await;
    assert!(calls.contains("square.go:5:38"), "{calls}");
    stage.end().await;
}

#[tokio::test]
async fn pyright_knows_types_and_calls_and_checks_a_folder() {
    let fixture = "//- pyrightconfig.json\n{}\n//- shop.py\nclass Shop:\n    def total(self) -> int:\n        return double(1)\n\n\ndef double(n: int) -> int:\n    return n * 2\n//- use.py\nfrom shop import Shop\n\nshop = Shop()\nprint(shop.total())\n//- bad/one.py\nx: int = 'a'\n//- bad/two.py\ny: int = 1\n";
    let config = r#"{"servers":{"ruff":{"enabled":false}}}"#;
    let stage = Stage::with_config(fixture, &["pyright"], config);
    let of_type = json!({ "filePath": "use.py", "line": 4, "symbol": "shop", "of": "type" });
    assert_eq!(stage.ask("lsp_goto_definition", of_type).await, "shop.py:1:7");
    let incoming = by_path("shop.py", "Shop/total", ("direction", "incoming"));
    let calls = stage.ask("lsp_calls", incoming).await;
    assert!(calls.contains("use.py:4:"), "{calls}");
    let outgoing = by_path("shop.py", "Shop/total", ("direction", "outgoing"));
    assert_eq!(stage.ask("lsp_calls", outgoing).await, "double - shop.py:6:5");
    let folder = stage.ask("lsp_diagnostics", json!({ "path": "bad" })).await;
    assert!(
        folder.starts_with("bad/one.py:1:10 ") && folder.ends_with("\n1 in 1 file (2 files checked)"),
        "{folder}"
    );
    stage.end().await;
}

#[tokio::test]
async fn rust_analyzer_knows_implementations_and_calls() {
    let fixture = "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/shape.rs\npub trait Shape {\n    fn area(&self) -> u32;\n}\n//- src/square.rs\nuse crate::shape::Shape;\npub struct Square(pub u32);\nimpl Shape for Square {\n    fn area(&self) -> u32 {\n        double(self.0)\n    }\n}\nfn double(n: u32) -> u32 {\n    n * 2\n}\n//- src/main.rs\nmod shape;\nmod square;\nuse shape::Shape;\nfn main() {\n    println!(\"{}\", square::Square(2).area());\n}\n";
    let stage = Stage::new(fixture, &[]);
    let implementations = by_path("src/shape.rs", "Shape", ("of", "implementations"));
    assert_eq!(stage.ask("lsp_goto_definition", implementations).await, "src/square.rs:3:16");
    let outgoing = by_path("src/square.rs", "Square/area", ("direction", "outgoing"));
    assert_eq!(stage.ask("lsp_calls", outgoing).await, "double - src/square.rs:8:4");
    let incoming = by_path("src/square.rs", "double", ("direction", "incoming"));
    assert_eq!(stage.ask("lsp_calls", incoming).await, "area - src/square.rs:5:9");
    stage.end().await;
}
