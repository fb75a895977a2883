//! One call, several definitions: interfaces of Go, objects of scripts, configurations of C.

use expect_test::expect;

use super::resolution::check;
use crate::graph::Direction;

const VALUES: &[(&str, &str)] = &[
    ("go.mod", "module example.com/flags\n\ngo 1.22\n"),
    (
        "value.go",
        "package flags\n\ntype Named interface {\n\tName() string\n}\n\ntype Value interface {\n\tNamed\n\tSet(text string, strict bool) error\n}\n\ntype Int struct{}\n\nfunc (i *Int) Name() string { return \"\" }\n\nfunc (i *Int) Set(text string, strict bool) error { return nil }\n\ntype Short struct{}\n\nfunc (s *Short) Name() string { return \"\" }\n\nfunc (s *Short) Set(text string) error { return nil }\n\ntype Unnamed struct{}\n\nfunc (u *Unnamed) Set(text string, strict bool) error { return nil }\n",
    ),
    (
        "use.go",
        "package flags\n\nfunc Parse(v Value) {\n\tv.Set(\"1\", true)\n}\n\nfunc Direct() {\n\ti := &Int{}\n\ti.Set(\"1\", true)\n}\n",
    ),
];

#[test]
fn a_call_through_an_interface_of_go_is_listed_for_what_has_all_its_methods() {
    check(
        VALUES,
        "value.go",
        "Int.Set",
        Direction::Callers,
        expect![[r#"
            Parse in use.go at use.go:4 dynamic sure
            Direct in use.go at use.go:9 call sure
        "#]],
    );
    // Its `Set` takes something else.
    check(VALUES, "value.go", "Short.Set", Direction::Callers, expect![""]);
    // The interface inside of the interface wants a name.
    check(VALUES, "value.go", "Unnamed.Set", Direction::Callers, expect![""]);
}

#[test]
fn a_call_of_a_method_of_go_is_listed_for_the_interfaces_that_its_type_meets() {
    check(
        VALUES,
        "value.go",
        "Value.Set",
        Direction::Callers,
        expect![[r#"
            Parse in use.go at use.go:4 call sure
            Direct in use.go at use.go:9 dynamic sure
        "#]],
    );
}

const FILES: &[(&str, &str)] = &[
    ("go.mod", "module example.com/files\n\ngo 1.22\n"),
    (
        "fs/fs.go",
        "package fs\n\nimport \"net/http\"\n\ntype File interface{ Close() error }\n\ntype Fs interface {\n\tOpen(name string) (File, error)\n}\n\ntype Mem struct{}\n\nfunc (m *Mem) Open(name string) (f File, err error) { return nil, nil }\n\ntype Http struct{}\n\nfunc (h Http) Open(name string) (http.File, error) { return nil, nil }\n",
    ),
    (
        "use/use.go",
        "package use\n\nimport \"example.com/files/fs\"\n\ntype Own struct{}\n\nfunc (o Own) Open(name string) (fs.File, error) { return nil, nil }\n\nfunc Read(from fs.Fs) {\n\tfrom.Open(\"a\")\n}\n",
    ),
];

#[test]
fn a_method_of_go_that_gives_something_else_meets_no_interface() {
    let read = || {
        expect![[r#"
            Read in use/use.go at use/use.go:10 dynamic sure
        "#]]
    };
    check(FILES, "fs/fs.go", "Mem.Open", Direction::Callers, read());
    // The same type, seen from another package.
    check(FILES, "use/use.go", "Own.Open", Direction::Callers, read());
    // A file of `net/http` is another type of the same name.
    check(FILES, "fs/fs.go", "Http.Open", Direction::Callers, expect![""]);
}

const SHAPES: &[(&str, &str)] = &[
    (
        "src/core.ts",
        "export interface Internals {\n  parse(text: string): string;\n}\nexport interface Shape {\n  _in: Internals;\n}\nexport interface SquareInternals extends Internals {\n  side: number;\n}\nexport interface Square extends Shape {\n  _in: SquareInternals;\n}\nexport interface $make<T> {\n  init(it: T): void;\n}\nexport function $make<T>(name: string, start: (it: T) => void): $make<T> {\n  return null as any;\n}\nexport type Built = { gen: () => string };\n",
    ),
    (
        "src/square.ts",
        "import * as core from './core';\n\nexport const Square: core.$make<core.Square> = core.$make('Square', (it) => {\n  it._in.parse = (text) => text;\n});\n\nexport const Typed = core.$make<core.Square>('Typed', (it) => {\n  it._in.parse = (text) => text;\n});\n\nfunction round(it: { other: { parse: any } }) {\n  it.other.parse = (text: string) => text;\n}\n",
    ),
    (
        "src/use.ts",
        "import type { Built, Shape } from './core';\n\nexport function run(shape: Shape) {\n  shape._in.parse('a');\n}\n\nexport function build(): Built {\n  return { gen: () => 'a' };\n}\n\nconst leaves: (() => Built)[] = [() => ({ gen: () => 'b' })];\n\nfunction stranger() {\n  return { gen: () => 'c' };\n}\n\nexport function all() {\n  const made = () => build();\n  const one = made();\n  return one.gen();\n}\n\nexport function each(parts: [string, Built][]) {\n  for (const [key, part] of parts) part.gen();\n}\n",
    ),
];

#[test]
fn a_function_that_is_assigned_to_a_member_is_called_through_the_type_of_the_object() {
    check(
        SHAPES,
        "src/square.ts",
        "Square.it._in.parse",
        Direction::Callers,
        expect![[r#"
            run in src/use.ts at src/use.ts:4 dynamic sure
        "#]],
    );
    check(
        SHAPES,
        "src/square.ts",
        "Typed.it._in.parse",
        Direction::Callers,
        expect![[r#"
            run in src/use.ts at src/use.ts:4 dynamic sure
        "#]],
    );
    check(SHAPES, "src/square.ts", "round.it.other.parse", Direction::Callers, expect![""]);
}

#[test]
fn a_function_in_an_object_is_called_through_the_type_that_the_object_is_written_for() {
    check(
        SHAPES,
        "src/use.ts",
        "build.gen",
        Direction::Callers,
        expect![[r#"
        all in src/use.ts at src/use.ts:20 dynamic sure
        each in src/use.ts at src/use.ts:24 dynamic sure
    "#]],
    );
    check(
        SHAPES,
        "src/use.ts",
        "gen",
        Direction::Callers,
        expect![[r#"
            all in src/use.ts at src/use.ts:20 dynamic sure
            each in src/use.ts at src/use.ts:24 dynamic sure
        "#]],
    );
    check(SHAPES, "src/use.ts", "stranger.gen", Direction::Callers, expect![""]);
}

#[test]
fn a_member_of_an_object_for_a_base_is_what_the_type_gives_the_base() {
    check(
        &[
            (
                "src/types.ts",
                "export interface Def {\n  shape: () => string;\n}\n\nexport class Base<D> {\n  _def!: D;\n  constructor(def: D, Def: string) {}\n}\n\nexport class Thing extends Base<Def> {\n  show() {\n    return this._def.shape();\n  }\n}\n\nexport class Holder<Def2> {\n  constructor(def: Def2) {}\n}\n\nexport class Wide<Given> {\n  _def!: Given;\n  constructor(def: Given) {}\n}\n\nexport class Narrow extends Wide<Def> {}\n\nexport function make() {\n  return new Narrow({ shape: () => 'a' });\n}\n",
            ),
            ("src/other.ts", "export class Other {\n  shape() {\n    return '';\n  }\n}\n"),
        ],
        "src/types.ts",
        "make.shape",
        Direction::Callers,
        expect![[r#"
            Thing.show in src/types.ts at src/types.ts:12 dynamic sure
        "#]],
    );
}

const ZIP: &[(&str, &str)] = &[
    ("zip.h", "#ifndef ZIP_H\n#define ZIP_H\nint zopen(const char *path);\n#endif\n"),
    ("zip.c", "#include \"zip.h\"\n\nint zopen(const char *path) {\n  return 1;\n}\n"),
    (
        "test/mini.c",
        "#include \"zip.h\"\n\n#ifdef SOLO\nstatic int zopen(const char *path) {\n  return 2;\n}\n#endif\n\nint main(void) {\n  return zopen(\"a\");\n}\n",
    ),
    (
        "test/own.c",
        "static int zopen(const char *path) {\n  return 3;\n}\n\nint run(void) {\n  return zopen(\"a\");\n}\n",
    ),
    ("test/far.c", "int far(void) {\n  return zopen(\"a\");\n}\n"),
];

#[test]
fn a_function_that_a_file_defines_for_one_configuration_hides_no_other() {
    check(
        ZIP,
        "zip.c",
        "zopen",
        Direction::Callers,
        expect![[r#"
            far in test/far.c at test/far.c:2 call sure
            main in test/mini.c at test/mini.c:10 call sure
        "#]],
    );
    check(
        ZIP,
        "test/mini.c",
        "zopen",
        Direction::Callers,
        expect![[r#"
            main in test/mini.c at test/mini.c:10 call sure
        "#]],
    );
}

#[test]
fn alternatives_of_several_configurations_in_one_file_are_one_thing() {
    check(
        &[
            (
                "log.c",
                "#ifdef WIDE\nint put(int a, ...) {\n  return 1;\n}\n#else\nint put(int a) {\n  return 2;\n}\n#endif\n",
            ),
            ("main.c", "int main(void) {\n  return put(1);\n}\n"),
        ],
        "log.c",
        "put",
        Direction::Callers,
        expect![[r#"
            main in main.c at main.c:2 call sure
        "#]],
    );
}

#[test]
fn what_a_header_defines_behind_its_guard_is_in_every_configuration() {
    check(
        &[
            (
                "size.h",
                "#ifndef SIZE_H\n#define SIZE_H\ninline int size(void) {\n  return 1;\n}\ninline int twice(void) {\n  return size();\n}\n#endif\n",
            ),
            ("other.c", "int size(void) {\n  return 2;\n}\n"),
        ],
        "other.c",
        "size",
        Direction::Callers,
        expect![""],
    );
}

const INTERFACES: &[(&str, &str)] = &[
    (
        "src/things.ts",
        "export interface Top {\n  run(): void;\n}\nexport interface Middle extends Top {\n  label: string;\n}\nexport class Leaf implements Middle {\n  label = 'a';\n  run() {}\n}\nexport class Twig implements Middle {\n  label = 'b';\n  run() {}\n}\nexport class Stone {\n  run() {}\n}\nexport interface Make {\n  (): Leaf;\n}\nexport interface On {\n  (name: string, then: (leaf: Leaf) => void): void;\n}\nexport interface OnMore extends On {\n  label: string;\n}\nexport type Cut = { gen: () => string };\nexport type Built = { gen: () => string };\n",
    ),
    (
        "src/use.ts",
        "import type { Built, Cut, Leaf, Make, OnMore } from './things';\n\nexport function direct(leaf: Leaf) {\n  leaf.run();\n}\n\nexport function made(make: Make) {\n  make().run();\n}\n\nexport function later(on: OnMore) {\n  on('a', (leaf) => leaf.run());\n}\n\nexport function cut(): Cut {\n  return { gen: () => 'a' };\n}\n\nexport function build(): Built {\n  return { gen: () => 'b' };\n}\n\nexport function all(built: Built) {\n  return built.gen();\n}\n",
    ),
];

#[test]
fn what_an_interface_returns_or_hands_over_is_followed_through_those_it_extends() {
    check(
        INTERFACES,
        "src/things.ts",
        "Leaf.run",
        Direction::Callers,
        expect![[r#"
        direct in src/use.ts at src/use.ts:4 call sure
        made in src/use.ts at src/use.ts:8 call sure
        later in src/use.ts at src/use.ts:12 call sure
    "#]],
    );
}

#[test]
fn a_call_of_a_method_is_listed_for_the_interfaces_above_its_type_and_with_doubt_for_others_below_them() {
    check(
        INTERFACES,
        "src/things.ts",
        "Top.run",
        Direction::Callers,
        expect![[r#"
        direct in src/use.ts at src/use.ts:4 dynamic sure
        made in src/use.ts at src/use.ts:8 dynamic sure
        later in src/use.ts at src/use.ts:12 dynamic sure
    "#]],
    );
    check(
        INTERFACES,
        "src/things.ts",
        "Twig.run",
        Direction::Callers,
        expect![[r#"
        direct in src/use.ts at src/use.ts:4 dynamic perhaps
        made in src/use.ts at src/use.ts:8 dynamic perhaps
        later in src/use.ts at src/use.ts:12 dynamic perhaps
    "#]],
    );
    check(INTERFACES, "src/things.ts", "Stone.run", Direction::Callers, expect![""]);
}

#[test]
fn a_function_in_an_object_for_another_type_with_the_same_member_is_not_meant() {
    check(INTERFACES, "src/use.ts", "cut.gen", Direction::Callers, expect![""]);
    check(
        INTERFACES,
        "src/use.ts",
        "build.gen",
        Direction::Callers,
        expect![[r#"
        all in src/use.ts at src/use.ts:24 dynamic sure
    "#]],
    );
}
