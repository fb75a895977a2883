//! What each language's definition finds in a small file.

mod c_family;
mod data;
mod dynamic;
mod embedded;
mod functional;
mod grammars;
mod more;
mod rust_go_java;

use super::{Language, PARSE_BUDGET, extract};
use expect_test::Expect;
use std::path::Path;

/// Prints what a file defines, calls and imports.
#[track_caller]
fn check(path: &str, source: &str, expected: Expect) {
    expected.assert_eq(&render(path, source));
}

fn render(path: &str, source: &str) -> String {
    let language = Language::of(Path::new(path)).expect("a known language");
    let found = extract(language, path, source, PARSE_BUDGET).expect("a grammar");
    let mut out = String::new();
    for symbol in &found.symbols {
        let depth = symbol.breadcrumbs.len();
        let (start, end) = (symbol.span.start, symbol.span.end);
        out += &format!("{}{start}-{end} {} [{}]\n", "  ".repeat(depth), symbol.label, symbol.qualified);
    }
    for reference in &found.facts.references {
        let from = reference.from.map_or("(file)", |at| found.symbols[at as usize].qualified.as_str());
        let of = reference.qualifier.as_deref().map(|of| format!(" of {of}")).unwrap_or_default();
        let own = if reference.on_self { " (own)" } else { "" };
        let uses = match reference.used {
            super::Use::Call => "calls",
            super::Use::Macro => "expands",
            super::Use::Base => "extends",
        };
        out += &format!("{} {from} {uses} {}{of}{own}\n", reference.line, reference.name);
    }
    for import in &found.facts.imports {
        let name = import.name.as_deref().map(|name| format!(" . {name}")).unwrap_or_default();
        out += &format!("{} {:?} = {}{name}\n", import.line, import.local, import.module);
    }
    out
}

#[test]
fn an_id_survives_edits_above_it_and_changes_with_its_name() {
    let ids = |source: &str| {
        let found = extract(Language::named("python").unwrap(), "a.py", source, PARSE_BUDGET).unwrap();
        found.symbols.into_iter().map(|symbol| (symbol.qualified, symbol.id)).collect::<Vec<_>>()
    };
    let before = ids("def f(): pass\ndef g(): pass\n");
    let after = ids("# a new line\n\nimport x\n\ndef f(a, b): pass\ndef g(): pass\n");
    assert_eq!(before, after);
    assert_ne!(before[0].1, ids("def h(): pass\n")[0].1);
}

#[test]
fn two_definitions_of_one_name_have_ids_of_their_own() {
    let found =
        extract(Language::named("python").unwrap(), "a.py", "def f(): pass\ndef f(): pass\n", PARSE_BUDGET)
            .unwrap();
    assert_ne!(found.symbols[0].id, found.symbols[1].id);
}

#[test]
fn a_parse_without_time_is_given_up() {
    let source = "def f(): pass\n".repeat(20_000);
    let budget = std::time::Duration::ZERO;
    assert_eq!(extract(Language::named("python").unwrap(), "a.py", &source, budget), None);
}

#[test]
fn deep_nesting_costs_no_stack() {
    let source = format!("x = {}1{}\n", "(".repeat(50_000), ")".repeat(50_000));
    assert!(extract(Language::named("python").unwrap(), "a.py", &source, PARSE_BUDGET).is_some());
    let source = "fn f() { ".repeat(3_000);
    assert!(extract(Language::named("rust").unwrap(), "a.rs", &source, PARSE_BUDGET).is_some());
}

#[test]
fn statements_that_look_like_definitions_are_none() {
    // A macro that the grammar does not know makes the body of a function look like more functions.
    let source = "FOO_BEGIN\nint run(int a) BAR\n{\n}\nif (x) {\n  stop();\n}\nwhile (y) {\n}\n";
    let found = extract(Language::named("cpp").unwrap(), "a.cpp", source, PARSE_BUDGET).unwrap();
    let names: Vec<&str> = found.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert!(!names.iter().any(|name| matches!(*name, "if" | "while")), "{names:?}");
    let source = "int run() {\n  LOOP_OVER(x) }\n  if (a) { return 1; }\n}\n";
    let found = extract(Language::named("c").unwrap(), "a.c", source, PARSE_BUDGET).unwrap();
    assert!(found.symbols.iter().all(|symbol| symbol.name != "if"), "{:?}", found.symbols);
}

#[test]
fn exported_constants_and_macros_are_in_the_outline() {
    let outline = |path: &str, source: &str| -> Vec<String> {
        let language = Language::of(Path::new(path)).unwrap();
        let found = extract(language, path, source, PARSE_BUDGET).unwrap();
        found.symbols.into_iter().map(|symbol| symbol.label).collect()
    };
    let script = "export const routes = { a: 1 };\nconst hidden = 2;\nexport const LIMIT = 3;\nexport function f() { const inner = 1; }\n";
    assert_eq!(outline("a.ts", script), ["constant routes", "constant LIMIT", "function f()"]);
    let header =
        "#ifndef A_H\n#define A_H\n#define MAX_SIZE 10\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#endif\n";
    assert_eq!(outline("a.h", header), ["macro MAX_SIZE", "macro MIN(a, b)"]);
    let java = "class A {\n  public static final int MAX = 1;\n  int size = 2;\n}\n";
    assert_eq!(outline("A.java", java), ["class A", "constant MAX"]);
}

#[test]
fn methods_are_shown_with_their_type() {
    let label = |path: &str, source: &str| {
        let language = Language::of(Path::new(path)).unwrap();
        extract(language, path, source, PARSE_BUDGET).unwrap().symbols.pop().unwrap().label
    };
    assert_eq!(label("a.go", "package a\n\nfunc (s *Server) Run(n int) {}\n"), "method Server.Run(n int)");
    assert_eq!(label("a.rs", "impl Server { fn run(&self) {} }\n"), "method Server.run(&self)");
    assert_eq!(label("a.py", "class Server:\n    def run(self): pass\n"), "method Server.run(self)");
    assert_eq!(label("a.cpp", "void net::Server::run(int n) {}\n"), "method Server.run(int n)");
}

#[test]
fn facts_come_back_from_their_text_and_one_line_says_a_call_once() {
    let source = "import os\n\nclass A(B):\n    def run(self, s: Server):\n        s.stop(s.stop())\n        os.walk('x')\n        s.stop()\n";
    let facts = extract(Language::named("python").unwrap(), "a.py", source, PARSE_BUDGET).unwrap().facts;
    let stops: Vec<u32> =
        facts.references.iter().filter(|call| call.name == "stop").map(|call| call.line).collect();
    assert_eq!(stops, [5, 7]);
    assert!(!facts.imports.is_empty() && !facts.bindings.is_empty(), "{facts:?}");
    assert_eq!(super::Facts::from_text(&facts.to_text()), facts);
    let json = serde_json::to_value(&facts).unwrap();
    assert_eq!(json.as_str(), Some(facts.to_text().as_str()));
    assert_eq!(serde_json::from_value::<super::Facts>(json).unwrap(), facts);
    // A damaged line costs itself and nothing else.
    let damaged = facts.to_text().replacen("c\t5", "c\tfive", 1);
    assert_eq!(super::Facts::from_text(&damaged).references.len(), facts.references.len() - 1);
}
