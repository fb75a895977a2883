//! Edges across files, and one file's change without a rebuild.

use expect_test::{Expect, expect};

use super::{published, put, reader, writer};
use crate::graph::{Direction, traverse};
use crate::store::GenerationReader;

fn show(reader: &dyn GenerationReader, file: &str, name: &str, direction: Direction, depth: u32) -> String {
    let symbol = reader
        .symbols_in(file)
        .unwrap()
        .into_iter()
        .find(|symbol| symbol.qualified_name == name)
        .expect("the symbol");
    let found = traverse(reader, &symbol.symbol_id, direction, depth, 20).unwrap();
    let label = |id: &str| {
        let symbol = found.nodes.iter().find(|node| node.symbol_id == id).expect("a node for each end");
        if symbol.qualified_name.is_empty() { symbol.label.clone() } else { symbol.qualified_name.clone() }
    };
    let mut out = String::new();
    for edge in &found.edges {
        let (from, to) = (label(&edge.src_symbol_id), label(&edge.dst_symbol_id));
        out += &format!(
            "{from} -> {to} {:?} {}:{} {:.2}\n",
            edge.kind, edge.site_file, edge.site_line, edge.confidence
        );
    }
    out
}

#[track_caller]
fn check(files: &[(&str, &str)], file: &str, name: &str, direction: Direction, expected: Expect) {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), files);
    expected.assert_eq(&show(&*reader(&store), file, name, direction, 2));
}

#[test]
fn python_calls_through_imports_and_self() {
    check(
        &[
            ("pkg/log.py", "def info(x):\n    return write(x)\n\ndef write(x): pass\n"),
            (
                "pkg/server.py",
                "from .log import info as tell\n\nclass Server:\n    def run(self):\n        self.stop()\n        tell(1)\n        print(2)\n\n    def stop(self): pass\n",
            ),
            ("pkg/other.py", "def info(x): pass\ndef print(x): pass\n"),
        ],
        "pkg/server.py",
        "Server.run",
        Direction::Callees,
        expect![[r#"
            Server.run -> Server.stop Call pkg/server.py:5 0.96
            Server.run -> info Call pkg/server.py:6 0.95
            info -> write Call pkg/log.py:2 0.96
        "#]],
    );
}

#[test]
fn callers_are_found_in_every_file() {
    check(
        &[
            (
                "src/net.rs",
                "pub fn connect() {}\npub struct Pool;\nimpl Pool { pub fn take(&self) { connect() } }\n",
            ),
            ("src/main.rs", "use crate::net::{self, connect};\nfn main() { connect(); net::connect(); }\n"),
            ("src/far.rs", "fn far() { crate::net::connect(); let p = x(); p.take(); }\n"),
        ],
        "src/net.rs",
        "connect",
        Direction::Callers,
        expect![[r#"
            far -> connect Call src/far.rs:1 0.95
            module src/main.rs -> connect Import src/main.rs:1 0.95
            main -> connect Call src/main.rs:2 0.95
            Pool.take -> connect Call src/net.rs:3 0.96
            far -> Pool.take Dynamic src/far.rs:1 0.15
        "#]],
    );
}

#[test]
fn typescript_classes_and_modules() {
    check(
        &[
            (
                "src/store.ts",
                "export class Store {\n  get(k: string) { return this.read(k); }\n  read(k: string) { return k; }\n}\nexport function open() { return new Store(); }\n",
            ),
            (
                "src/app.ts",
                "import { open, Store } from './store';\nimport * as s from './store';\nexport function main() { const a = open(); s.open(); a.get('x'); new Store(); external(); }\n",
            ),
        ],
        "src/app.ts",
        "main",
        Direction::Callees,
        expect![[r#"
            main -> Store Call src/app.ts:3 0.95
            main -> Store.get Call src/app.ts:3 0.95
            main -> open Call src/app.ts:3 0.95
            Store.get -> Store.read Call src/store.ts:2 0.96
            open -> Store Call src/store.ts:5 0.96
        "#]],
    );
}

#[test]
fn go_packages_and_methods() {
    check(
        &[
            ("log/log.go", "package log\n\nfunc Info(s string) { write(s) }\n"),
            ("log/write.go", "package log\n\nfunc write(s string) {}\n"),
            (
                "main.go",
                "package main\n\nimport \"example.com/app/log\"\n\nfunc main() { log.Info(\"x\") }\n",
            ),
        ],
        "main.go",
        "main",
        Direction::Callees,
        expect![[r#"
            main -> Info Call main.go:5 0.95
            Info -> write Call log/log.go:3 0.95
        "#]],
    );
}

#[test]
fn what_is_not_known_is_noted_and_listed_as_candidates() {
    let data = tempfile::tempdir().unwrap();
    let classes: String = (0..5).map(|at| format!("class C{at}:\n    def go(self): pass\n")).collect();
    let store = published(
        data.path(),
        &[
            ("a.py", &classes),
            ("b.py", "import os\n\ndef f(x):\n    x.go()\n    os.path.join(x)\n    missing(x)\n"),
        ],
    );
    let reader = reader(&store);
    let notes: Vec<String> = reader
        .notes_in("b.py")
        .unwrap()
        .iter()
        .map(|note| format!("{} {:?} {}", note.start_line, note.kind, note.detail))
        .collect();
    assert_eq!(
        notes,
        [
            "4 DynamicEdge x.go() can be any of 5 definitions of that name",
            "5 UnresolvedEdge os.path.join() is not defined in the index, or not visibly",
            "6 UnresolvedEdge missing() is not defined in the index, or not visibly",
        ]
    );
    let shown = show(&*reader, "b.py", "f", Direction::Callees, 1);
    assert_eq!(shown.lines().filter(|line| line.contains(".go Dynamic b.py:4")).count(), 5, "{shown}");
    assert_eq!(shown.lines().count(), 5, "what is not defined here has no edge: {shown}");
}

#[test]
fn a_changed_file_changes_its_edges_alone() {
    let data = tempfile::tempdir().unwrap();
    let store = published(
        data.path(),
        &[("a.py", "def target(): pass\n"), ("b.py", "from a import target\ndef one(): target()\n")],
    );
    writer(&store).apply(vec![put("b.py", "from a import target\n\n\ndef two(): target()\n")]).unwrap();
    let shown = show(&*reader(&store), "a.py", "target", Direction::Callers, 1);
    assert_eq!(shown, "module b.py -> target Import b.py:1 0.95\ntwo -> target Call b.py:4 0.95\n");
    writer(&store).apply(vec![put("a.py", "def renamed(): pass\n")]).unwrap();
    assert_eq!(show(&*reader(&store), "b.py", "two", Direction::Callees, 1), "");
}
