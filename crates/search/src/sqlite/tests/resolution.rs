//! Which definition is meant: by scope, import, package, re-export and the type of the receiver, in small projects.

use expect_test::{Expect, expect};

use super::{published, reader};
use crate::graph::Direction;
use crate::symbols::SymbolKind;

/// Prints the edges of a symbol that are at least so sure: the other end, the site, the confidence.
#[track_caller]
pub(super) fn check(files: &[(&str, &str)], file: &str, name: &str, direction: Direction, expected: Expect) {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), files);
    let reader = reader(&store);
    let symbol = reader
        .symbols_in(file)
        .unwrap()
        .into_iter()
        .find(|symbol| symbol.qualified_name == name && symbol.kind != SymbolKind::Impl)
        .expect("the symbol");
    let (edges, is_caller) = match direction {
        Direction::Callers => (reader.callers(&symbol.symbol_id).unwrap(), true),
        Direction::Callees | Direction::Both => (reader.callees(&symbol.symbol_id).unwrap(), false),
    };
    let mut out = String::new();
    for edge in edges {
        let other = if is_caller { &edge.src_symbol_id } else { &edge.dst_symbol_id };
        let other = reader.symbol(other).unwrap().expect("both ends are there");
        let name = if other.qualified_name.is_empty() { "(file)" } else { &other.qualified_name };
        let sure = if edge.confidence >= 0.8 { "sure" } else { "perhaps" };
        let kind = format!("{:?}", edge.kind).to_lowercase();
        out +=
            &format!("{name} in {} at {}:{} {kind} {sure}\n", other.rel_path, edge.site_file, edge.site_line);
    }
    expected.assert_eq(&out);
}

const GO_ROOT: &[(&str, &str)] = &[
    ("go.mod", "module example.com/web\n\ngo 1.22\n"),
    (
        "engine.go",
        "package web\n\ntype Engine struct{ routes int }\n\nfunc New() *Engine { return &Engine{} }\n\nfunc (e *Engine) Run() { e.serve() }\n\nfunc (e *Engine) serve() {}\n",
    ),
    ("routes.go", "package web\n\nfunc Default() *Engine {\n\te := New()\n\te.Run()\n\treturn e\n}\n"),
    (
        "engine_test.go",
        "package web_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/web\"\n)\n\nfunc TestRun(t *testing.T) { web.New().Run() }\n",
    ),
    (
        "cmd/app/main.go",
        "package main\n\nimport \"example.com/web\"\n\nfunc main() {\n\tengine := web.New()\n\tengine.Run()\n}\n",
    ),
    ("other/engine.go", "package other\n\ntype Engine struct{}\n\nfunc (e *Engine) Run() {}\n"),
];

#[test]
fn go_functions_of_the_root_package_have_their_callers() {
    check(
        GO_ROOT,
        "engine.go",
        "New",
        Direction::Callers,
        expect![[r#"
            main in cmd/app/main.go at cmd/app/main.go:6 call sure
            TestRun in engine_test.go at engine_test.go:9 call sure
            Default in routes.go at routes.go:4 call sure
        "#]],
    );
}

#[test]
fn go_methods_are_called_through_the_type_of_their_receiver() {
    check(
        GO_ROOT,
        "engine.go",
        "Engine.Run",
        Direction::Callers,
        expect![[r#"
            main in cmd/app/main.go at cmd/app/main.go:7 call sure
            TestRun in engine_test.go at engine_test.go:9 call sure
            Default in routes.go at routes.go:5 call sure
        "#]],
    );
}

#[test]
fn go_method_callees_follow_fields_and_embedded_types() {
    check(
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "store/store.go",
                "package store\n\ntype Store struct{}\n\nfunc (s *Store) Get(k string) string { return k }\n",
            ),
            (
                "cache/cache.go",
                "package cache\n\ntype Cache struct{}\n\nfunc (c *Cache) Get(k string) string { return k }\n\nfunc (c *Cache) Drop() {}\n",
            ),
            (
                "server.go",
                "package app\n\nimport (\n\t\"example.com/app/cache\"\n\t\"example.com/app/store\"\n)\n\ntype Server struct {\n\t*cache.Cache\n\tstore *store.Store\n}\n\nfunc (s *Server) Handle(keys []string) {\n\tfor _, key := range keys {\n\t\ts.store.Get(key)\n\t}\n\ts.Drop()\n}\n",
            ),
        ],
        "server.go",
        "Server.Handle",
        Direction::Callees,
        expect![[r#"
            Store.Get in store/store.go at server.go:15 call sure
            Cache.Drop in cache/cache.go at server.go:17 call sure
        "#]],
    );
}

const WORKSPACE: &[(&str, &str)] = &[
    ("package.json", "{\"name\": \"root\", \"workspaces\": [\"packages/*\"]}\n"),
    ("packages/core/package.json", "{\"name\": \"@x/core\", \"main\": \"./dist/index.js\"}\n"),
    (
        "packages/core/src/index.ts",
        "export * from './log';\nexport { open as openStore, Store } from './store';\nexport { default as Client } from './client';\n",
    ),
    ("packages/core/src/log.ts", "export function info(text: string) { return text; }\n"),
    (
        "packages/core/src/store.ts",
        "export class Store {\n  get(key: string) { return key; }\n}\nexport function open(): Store { return new Store(); }\n",
    ),
    ("packages/core/src/client.ts", "export default class Client {\n  get(url: string) { return url; }\n}\n"),
    (
        "packages/app/src/main.ts",
        "import { info, openStore, Client } from '@x/core';\n\nexport class App {\n  private client = new Client();\n  constructor(private readonly name: string) {}\n  run() {\n    info(this.name);\n    const store = openStore();\n    store.get('a');\n    this.client\n      .get('b');\n  }\n}\n",
    ),
];

#[test]
fn typescript_functions_are_found_through_barrels_and_workspace_packages() {
    check(
        WORKSPACE,
        "packages/core/src/log.ts",
        "info",
        Direction::Callers,
        expect![[r#"
            (file) in packages/app/src/main.ts at packages/app/src/main.ts:1 import sure
            App.run in packages/app/src/main.ts at packages/app/src/main.ts:7 call sure
        "#]],
    );
    check(
        WORKSPACE,
        "packages/core/src/store.ts",
        "open",
        Direction::Callers,
        expect![[r#"
            (file) in packages/app/src/main.ts at packages/app/src/main.ts:1 import sure
            App.run in packages/app/src/main.ts at packages/app/src/main.ts:8 call sure
            (file) in packages/core/src/index.ts at packages/core/src/index.ts:2 import sure
        "#]],
    );
}

#[test]
fn typescript_method_callees_follow_the_types_of_variables_and_fields() {
    check(
        WORKSPACE,
        "packages/app/src/main.ts",
        "App.run",
        Direction::Callees,
        expect![[r#"
            info in packages/core/src/log.ts at packages/app/src/main.ts:7 call sure
            open in packages/core/src/store.ts at packages/app/src/main.ts:8 call sure
            Store.get in packages/core/src/store.ts at packages/app/src/main.ts:9 call sure
            Client.get in packages/core/src/client.ts at packages/app/src/main.ts:11 call sure
        "#]],
    );
}

const PYTHON: &[(&str, &str)] = &[
    (
        "app/models.py",
        "class Base:\n    def save(self): pass\n\nclass User(Base):\n    def save(self):\n        super().save()\n\nclass Order(Base):\n    def save(self): pass\n\nclass Draft(Order): pass\n\nclass Note(Base):\n    def save(self): pass\n\nclass Page(Base):\n    def save(self): pass\n",
    ),
    (
        "app/cached.py",
        "def cached(function): return function\n\nclass Registry:\n    def register(self, function): return function\n\nregistry = Registry()\n",
    ),
    (
        "app/views.py",
        "from .models import User, Order, Draft\nfrom app.cached import cached, registry\n\nclass View:\n    def __init__(self, order: Order):\n        self.user = User()\n        self.order = order\n\n    @cached\n    def post(self):\n        self.user.save()\n        self.order.save()\n\n@registry.register\ndef draft():\n    made = Draft()\n    made.save()\n\ndef unknown(thing):\n    thing.save()\n",
    ),
];

#[test]
fn python_methods_of_one_name_are_told_apart_by_their_receivers() {
    check(
        PYTHON,
        "app/models.py",
        "User.save",
        Direction::Callers,
        expect![[r#"
            View.post in app/views.py at app/views.py:11 call sure
            unknown in app/views.py at app/views.py:20 dynamic perhaps
        "#]],
    );
    check(
        PYTHON,
        "app/models.py",
        "Order.save",
        Direction::Callers,
        expect![[r#"
            View.post in app/views.py at app/views.py:12 call sure
            draft in app/views.py at app/views.py:17 call sure
            unknown in app/views.py at app/views.py:20 dynamic perhaps
        "#]],
    );
    check(
        PYTHON,
        "app/models.py",
        "Base.save",
        Direction::Callers,
        expect![[r#"
            User.save in app/models.py at app/models.py:6 call sure
            unknown in app/views.py at app/views.py:20 dynamic perhaps
        "#]],
    );
}

#[test]
fn python_decorators_are_uses() {
    check(
        PYTHON,
        "app/cached.py",
        "cached",
        Direction::Callers,
        expect![[r#"
            (file) in app/views.py at app/views.py:2 import sure
            View in app/views.py at app/views.py:9 call sure
        "#]],
    );
    check(
        PYTHON,
        "app/cached.py",
        "Registry.register",
        Direction::Callers,
        expect![[r#"
            (file) in app/views.py at app/views.py:14 call sure
        "#]],
    );
}

const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"web-kit\"\n"),
    ("src/lib.rs", "pub mod pool;\npub mod queue;\npub use pool::Pool;\n"),
    (
        "src/pool.rs",
        "pub struct Pool { size: usize }\nimpl Pool {\n    pub fn new(size: usize) -> Self { Self { size } }\n    pub fn take(&self) -> usize { self.size }\n    pub fn name(self, _: &str) -> Self { self }\n}\n",
    ),
    (
        "src/queue.rs",
        "pub struct Queue { items: Vec<u8> }\nimpl Queue {\n    pub fn new() -> Self { Self { items: Vec::new() } }\n    pub fn take(&mut self) -> Option<u8> { self.items.pop() }\n}\n",
    ),
    (
        "tests/all.rs",
        "use web_kit::{Pool, queue::Queue};\n\nfn both(queue: &mut Queue) {\n    let pool = Pool::new(1)\n        .name(\"a\")\n        .name(\"b\");\n    assert_eq!(pool.take(), 1);\n    queue.take();\n    Queue::new();\n}\n",
    ),
];

#[test]
fn rust_names_that_several_types_share_are_told_apart() {
    check(
        RUST,
        "src/pool.rs",
        "Pool.take",
        Direction::Callers,
        expect![[r#"
            both in tests/all.rs at tests/all.rs:7 call sure
        "#]],
    );
    check(
        RUST,
        "src/queue.rs",
        "Queue.take",
        Direction::Callers,
        expect![[r#"
            both in tests/all.rs at tests/all.rs:8 call sure
        "#]],
    );
    check(
        RUST,
        "src/queue.rs",
        "Queue.new",
        Direction::Callers,
        expect![[r#"
            both in tests/all.rs at tests/all.rs:9 call sure
        "#]],
    );
}

#[test]
fn a_call_in_a_chain_stands_where_its_name_stands() {
    check(
        RUST,
        "src/pool.rs",
        "Pool.name",
        Direction::Callers,
        expect![[r#"
            both in tests/all.rs at tests/all.rs:5 call sure
            both in tests/all.rs at tests/all.rs:6 call sure
        "#]],
    );
}

#[test]
fn what_a_type_extends_or_implements_is_an_edge() {
    check(
        &[
            ("src/shape.ts", "export interface Shape { area(): number }\n"),
            (
                "src/square.ts",
                "import { Shape } from './shape';\nexport class Square implements Shape {\n  area() { return 1; }\n}\n",
            ),
        ],
        "src/shape.ts",
        "Shape",
        Direction::Callers,
        expect![[r#"
            (file) in src/square.ts at src/square.ts:1 import sure
            Square in src/square.ts at src/square.ts:2 implements sure
        "#]],
    );
}

#[test]
fn a_constructor_is_called_by_the_name_of_its_type() {
    check(PYTHON, "app/views.py", "View.__init__", Direction::Callers, expect![[""]]);
    check(
        &[("a.py", "class A:\n    def __init__(self): pass\n\ndef make():\n    return A()\n")],
        "a.py",
        "A.__init__",
        Direction::Callers,
        expect![[r#"
            make in a.py at a.py:5 call sure
        "#]],
    );
}
