//! Calls that a language server found and the graph did not: each began as a miss of `graph_eval`.

use expect_test::expect;

use super::resolution::check;
use crate::graph::Direction;

#[test]
fn a_file_inside_of_a_package_does_not_hide_a_package_of_its_name() {
    check(
        &[
            ("src/web/__init__.py", "def run():\n    pass\n"),
            ("tests/apps/inner/__init__.py", "# A package.\n"),
            ("tests/apps/inner/web.py", "def other():\n    pass\n"),
            ("tests/test_run.py", "import web\n\n\ndef test_run():\n    web.run()\n"),
        ],
        "src/web/__init__.py",
        "run",
        Direction::Callers,
        expect![[r#"
            test_run in tests/test_run.py at tests/test_run.py:5 call sure
        "#]],
    );
}

const MANIFEST: &str = "[package]\nname = \"ver\"\nversion = \"0.1.0\"\n";

#[test]
fn a_module_that_is_only_declared_lies_in_its_own_file() {
    check(
        &[
            ("Cargo.toml", MANIFEST),
            ("src/lib.rs", "mod eval;\n\npub fn matches() -> bool {\n    eval::matches_req()\n}\n"),
            ("src/eval.rs", "pub fn matches_req() -> bool {\n    true\n}\n"),
        ],
        "src/eval.rs",
        "matches_req",
        Direction::Callers,
        expect![[r#"
            matches in src/lib.rs at src/lib.rs:4 call sure
        "#]],
    );
}

const SHADOWED: &[(&str, &str)] = &[
    ("Cargo.toml", MANIFEST),
    (
        "src/lib.rs",
        "fn comparator(text: &str) -> (u8, u8) {\n    (1, 2)\n}\n\npub fn parse(text: &str) -> u8 {\n    let (comparator, rest) = comparator(text);\n    comparator + rest\n}\n\npub struct Value;\n\nimpl Value {\n    pub fn unwrap_value(self) -> String {\n        String::new()\n    }\n}\n\npub fn update(v: Value) -> usize {\n    let v = v.unwrap_value();\n    v.len()\n}\n\nfn identifier(text: &str) -> &str {\n    text\n}\n\npub fn first(text: &str) -> usize {\n    let found = identifier(text);\n    let identifier = found.len();\n    identifier\n}\n",
    ),
];

#[test]
fn a_variable_is_not_seen_by_what_it_is_made_of() {
    check(
        SHADOWED,
        "src/lib.rs",
        "comparator",
        Direction::Callers,
        expect![[r#"
            parse in src/lib.rs at src/lib.rs:6 call sure
        "#]],
    );
    check(
        SHADOWED,
        "src/lib.rs",
        "Value.unwrap_value",
        Direction::Callers,
        expect![[r#"
            update in src/lib.rs at src/lib.rs:19 call sure
        "#]],
    );
}

#[test]
fn a_variable_is_not_seen_above_its_declaration() {
    check(
        SHADOWED,
        "src/lib.rs",
        "identifier",
        Direction::Callers,
        expect![[r#"
            first in src/lib.rs at src/lib.rs:28 call sure
        "#]],
    );
}

#[test]
fn a_crate_that_another_gives_on_is_a_module_of_it() {
    check(
        &[
            ("facade/Cargo.toml", "[package]\nname = \"facade\"\n"),
            ("facade/src/lib.rs", "pub extern crate inner_cli as cli;\n"),
            ("inner/Cargo.toml", "[package]\nname = \"inner-cli\"\n"),
            ("inner/src/lib.rs", "pub fn hostname() -> u8 {\n    1\n}\n"),
            ("app/Cargo.toml", "[package]\nname = \"app\"\n"),
            ("app/src/main.rs", "fn main() {\n    facade::cli::hostname();\n}\n"),
        ],
        "inner/src/lib.rs",
        "hostname",
        Direction::Callers,
        expect![[r#"
            main in app/src/main.rs at app/src/main.rs:2 call sure
        "#]],
    );
}

#[test]
fn what_an_iterator_is_said_to_give_is_what_a_loop_runs_over() {
    check(
        &[
            ("Cargo.toml", MANIFEST),
            (
                "src/lib.rs",
                "pub struct Arg;\n\nimpl Arg {\n    pub fn short(&self) -> bool {\n        true\n    }\n}\n\npub struct Command;\n\nimpl Command {\n    pub fn arguments(&self) -> impl Iterator<Item = &Arg> {\n        todo!()\n    }\n}\n\npub fn show(command: &Command) {\n    for arg in command.arguments() {\n        arg.short();\n    }\n}\n",
            ),
        ],
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            show in src/lib.rs at src/lib.rs:19 call sure
        "#]],
    );
}

#[test]
fn a_parameter_of_python_hides_what_another_function_imports() {
    check(
        &[
            ("app/__init__.py", "class App:\n    def add(self):\n        pass\n\n\napp = App()\n"),
            (
                "tests/test_app.py",
                "def test_import():\n    from app import app\n    app.add()\n\n\ndef test_fixture(app, client):\n    app.add()\n",
            ),
        ],
        "app/__init__.py",
        "App.add",
        Direction::Callers,
        expect![[r#"
            test_import in tests/test_app.py at tests/test_app.py:3 call sure
            test_fixture in tests/test_app.py at tests/test_app.py:7 dynamic perhaps
        "#]],
    );
}

const ROUTER: &[(&str, &str)] = &[
    ("go.mod", "module example.com/web/v5\n\ngo 1.22\n"),
    (
        "web.go",
        "package web\n\ntype Router interface {\n\tGet(path string)\n\tRoute(path string, fn func(r Router)) Router\n}\n\ntype Mux struct{}\n\nfunc New() *Mux { return &Mux{} }\n\nfunc (m *Mux) Get(path string) {}\n\nfunc (m *Mux) Route(path string, fn func(r Router)) Router { return m }\n\ntype Other struct{}\n\nfunc (o Other) Get(path string) {}\n",
    ),
    (
        "example/main.go",
        "package main\n\nimport \"example.com/web/v5\"\n\nfunc main() {\n\tr := web.New()\n\tr.Route(\"/\", func(r web.Router) {\n\t\tr.Get(\"/a\")\n\t})\n\tr.Get(\"/b\")\n}\n",
    ),
];

#[test]
fn a_parameter_of_a_closure_is_seen_inside_of_it_and_a_major_version_is_no_name() {
    check(
        ROUTER,
        "web.go",
        "Mux.Get",
        Direction::Callers,
        expect![[r#"
            main in example/main.go at example/main.go:8 dynamic sure
            main in example/main.go at example/main.go:10 call sure
        "#]],
    );
    check(
        ROUTER,
        "web.go",
        "Router.Get",
        Direction::Callers,
        expect![[r#"
            main in example/main.go at example/main.go:8 call sure
            main in example/main.go at example/main.go:10 dynamic sure
        "#]],
    );
    check(
        ROUTER,
        "web.go",
        "Mux.Route",
        Direction::Callers,
        expect![[r#"
            main in example/main.go at example/main.go:7 call sure
        "#]],
    );
}
