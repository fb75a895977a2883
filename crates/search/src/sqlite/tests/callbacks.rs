//! TypeScript: functions that are passed on have their parameters' types from who takes them, and what types stand for.

use expect_test::expect;

use super::resolution::check;
use crate::graph::Direction;

const WEB: &[(&str, &str)] = &[
    (
        "src/context.ts",
        "export class Context {\n  header(): string {\n    return '';\n  }\n  only(): string {\n    return '';\n  }\n}\n",
    ),
    // Another class with the same method, so that its name says nothing.
    ("src/other.ts", "export class Other {\n  header(): string {\n    return '';\n  }\n}\n"),
    (
        "src/types.ts",
        "import type { Context } from './context';\n\nexport type Next = () => Promise<void>;\nexport type Handler<E = any, P extends string = any> = (c: Context, next: Next) => Response;\nexport type Middleware<E = any> = (c: Context, next: Next) => Promise<Response | void>;\nexport type H<E = any> = Handler<E> | Middleware<E>;\n\nexport interface HandlerInterface<E> {\n  <P extends string>(path: P, handler: H<E>): App;\n  <P extends string>(path: P, ...handlers: H<E>[]): App;\n}\n",
    ),
    (
        "src/app.ts",
        "import type { Context } from './context';\nimport type { H, HandlerInterface, Middleware } from './types';\n\nexport class App {\n  get!: HandlerInterface<any>;\n  post!: HandlerInterface<any>;\n  use(...handlers: Middleware[]): this {\n    return this;\n  }\n  onError(report: (error: Error, c: Context) => Response): this {\n    return this;\n  }\n}\n",
    ),
];

fn with(path: &'static str, text: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut files = WEB.to_vec();
    files.push((path, text));
    files
}

#[test]
fn a_callbacks_parameter_is_what_the_function_that_takes_it_declares() {
    check(
        &with(
            "src/main.ts",
            "import { App } from './app';\n\nconst app = new App();\n\napp.get('/', (c) => c.header());\napp.post('/', async (c, next) => {\n  await next();\n  return c.header();\n});\napp.use(c => c.header());\napp.use().onError((error, c) => c.header());\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            (file) in src/main.ts at src/main.ts:5 call sure
            (file) in src/main.ts at src/main.ts:8 call sure
            (file) in src/main.ts at src/main.ts:10 call sure
            (file) in src/main.ts at src/main.ts:11 call sure
        "#]],
    );
}

#[test]
fn a_function_that_is_returned_or_assigned_has_the_declared_type() {
    check(
        &with(
            "src/logger.ts",
            "import type { Middleware } from './types';\n\nexport const logger = (level: number): Middleware => {\n  return async function logger(c, next) {\n    c.header();\n    await next();\n  };\n};\n\nexport const short = (): Middleware => async (c) => {\n  c.header();\n};\n\nconst plain: Middleware = async (c) => {\n  c.header();\n};\n\nconst table = { plain: (async (c) => c.header()) as Middleware };\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            logger in src/logger.ts at src/logger.ts:5 call sure
            short in src/logger.ts at src/logger.ts:11 call sure
            plain in src/logger.ts at src/logger.ts:15 call sure
            (file) in src/logger.ts at src/logger.ts:18 call sure
        "#]],
    );
}

#[test]
fn a_callback_in_an_object_has_the_type_of_the_field() {
    check(
        &with(
            "src/serve.ts",
            "import type { Context } from './context';\nimport type { H } from './types';\n\ninterface Hooks {\n  before?: H;\n  after(c: Context): void;\n}\ntype Options = Hooks & { log?: (c: Context) => void; hooks: Hooks };\n\nfunction serve(port: number, options: Partial<Options>): void {}\n\nserve(1, {\n  before: (c) => c.header(),\n  after(c) {\n    c.header();\n  },\n  log: function (c) {\n    c.header();\n  },\n  hooks: { after: (c) => void c.header() },\n});\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            before in src/serve.ts at src/serve.ts:13 call sure
            after in src/serve.ts at src/serve.ts:15 call sure
            log in src/serve.ts at src/serve.ts:18 call sure
            after in src/serve.ts at src/serve.ts:20 call sure
        "#]],
    );
}

#[test]
fn fields_that_are_taken_apart_keep_their_types() {
    check(
        &with(
            "src/parts.ts",
            "import type { Context } from './context';\n\ntype Props = { c: Context; inner: { deep: Context }; list: Context[] };\n\nexport function show({ c, list }: Props) {\n  c.header();\n  list.forEach((one) => one.header());\n}\n\nexport function each(props: Props) {\n  const { c: other } = props;\n  other.header();\n  props.list.map((one) => one.header());\n}\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            show in src/parts.ts at src/parts.ts:6 call sure
            show in src/parts.ts at src/parts.ts:7 call sure
            each in src/parts.ts at src/parts.ts:12 call sure
            each in src/parts.ts at src/parts.ts:13 call sure
        "#]],
    );
}

#[test]
fn type_parameters_and_aliases_stand_for_what_they_extend() {
    check(
        &with(
            "src/generic.ts",
            "import type { Context } from './context';\n\ntype Alias = Context;\n\nexport function first<C extends Context>(c: C) {\n  c.header();\n}\n\nexport class Box<T extends Context> {\n  constructor(private inner: T) {}\n  open() {\n    return this.inner.header();\n  }\n}\n\nexport function second(c: Alias | null) {\n  c?.header();\n}\n\nexport function unknown<T>(c: T) {\n  (c as any).header();\n}\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            first in src/generic.ts at src/generic.ts:6 call sure
            Box.open in src/generic.ts at src/generic.ts:12 call sure
            second in src/generic.ts at src/generic.ts:17 call sure
            unknown in src/generic.ts at src/generic.ts:21 dynamic perhaps
        "#]],
    );
}

#[test]
fn a_method_that_gives_itself_back_is_followed() {
    check(
        &with(
            "src/chain.ts",
            "import { App } from './app';\n\nclass Sub extends App {\n  extra(): void {}\n}\n\nnew Sub().use().use().extra();\n",
        ),
        "src/chain.ts",
        "Sub.extra",
        Direction::Callers,
        expect![[r#"
            (file) in src/chain.ts at src/chain.ts:7 call sure
        "#]],
    );
}

#[test]
fn a_method_of_what_a_getter_gives_is_found() {
    check(
        &with(
            "src/getter.ts",
            "import type { Context } from './context';\n\nclass Event {\n  #c: Context;\n  get context(): Context {\n    return this.#c;\n  }\n}\n\nexport function on(event: Event) {\n  event.context.header();\n}\n",
        ),
        "src/context.ts",
        "Context.header",
        Direction::Callers,
        expect![[r#"
            on in src/getter.ts at src/getter.ts:11 call sure
        "#]],
    );
}

#[test]
fn a_parameter_of_a_base_is_what_the_class_gives_for_it() {
    check(
        &[
            (
                "src/types.ts",
                "export type Any = Type<any, any>;\n\nexport interface Def {\n  name?: string;\n}\n\nexport abstract class Type<Output = any, D extends Def = Def> {\n  readonly _def!: D;\n  abstract _parse(input: unknown): Output;\n}\n\nexport interface BoxDef<T extends Any = Any> extends Def {\n  inner: T;\n  items: Any[];\n}\n\nexport class Box<T extends Any> extends Type<T['out'], BoxDef<T>> {\n  _parse(input: unknown) {\n    const { inner } = this._def;\n    this._def.items.map((item) => item._parse(input));\n    return inner._parse(input);\n  }\n}\n",
            ),
            ("src/other.ts", "export class Other {\n  _parse(input: unknown) {}\n}\n"),
        ],
        "src/types.ts",
        "Type._parse",
        Direction::Callers,
        expect![[r#"
            Box._parse in src/types.ts at src/types.ts:20 call sure
            Box._parse in src/types.ts at src/types.ts:21 call sure
        "#]],
    );
}

#[test]
fn a_function_in_an_object_is_called_through_the_objects_type() {
    check(
        &[(
            "src/built.ts",
            "type Built = { gen: () => number };\n\nconst all: Built[] = [{ gen: () => 1 }, { gen: () => 2 }];\n\nexport function run(one: Built): number {\n  return one.gen();\n}\n",
        )],
        "src/built.ts",
        "gen",
        Direction::Callers,
        expect![[r#"
            run in src/built.ts at src/built.ts:6 dynamic sure
        "#]],
    );
}

#[test]
fn every_part_of_a_union_is_called() {
    let files = &[(
        "src/union.ts",
        "export class A {\n  go() {}\n}\nexport class B {\n  go() {}\n}\nexport class C {\n  go() {}\n}\ntype Either = A | B;\nexport function run(one: Either): void {\n  one.go();\n}\n",
    )];
    for name in ["A.go", "B.go"] {
        check(
            files,
            "src/union.ts",
            name,
            Direction::Callers,
            expect![[r#"
                run in src/union.ts at src/union.ts:12 call sure
            "#]],
        );
    }
    check(files, "src/union.ts", "C.go", Direction::Callers, expect![""]);
}

const SHAPES: &[(&str, &str)] = &[
    (
        "src/base.ts",
        "export abstract class Shape {\n  abstract area(scale: number): number;\n  twice(): number {\n    return this.area(2);\n  }\n}\nexport abstract class Round extends Shape {}\n",
    ),
    (
        "src/shapes.ts",
        "import { Round, Shape } from './base';\n\nexport class Circle extends Round {\n  area(scale: number): number {\n    return 3 * scale;\n  }\n}\nexport class Square extends Shape {\n  area(scale: number): number {\n    return scale;\n  }\n}\nexport function sum(shapes: Shape[], one: Shape, round: Circle): number {\n  return one.area(1) + round.area(1);\n}\n",
    ),
];

#[test]
fn a_call_through_the_base_calls_what_overrides_it() {
    check(
        SHAPES,
        "src/shapes.ts",
        "Circle.area",
        Direction::Callers,
        expect![[r#"
            Shape.twice in src/base.ts at src/base.ts:4 dynamic sure
            sum in src/shapes.ts at src/shapes.ts:14 call sure
            sum in src/shapes.ts at src/shapes.ts:14 dynamic sure
        "#]],
    );
    check(
        SHAPES,
        "src/shapes.ts",
        "Square.area",
        Direction::Callers,
        expect![[r#"
            Shape.twice in src/base.ts at src/base.ts:4 dynamic sure
            sum in src/shapes.ts at src/shapes.ts:14 dynamic sure
        "#]],
    );
    check(
        SHAPES,
        "src/base.ts",
        "Shape.area",
        Direction::Callers,
        expect![[r#"
            Shape.twice in src/base.ts at src/base.ts:4 call sure
            sum in src/shapes.ts at src/shapes.ts:14 call sure
            sum in src/shapes.ts at src/shapes.ts:14 dynamic sure
        "#]],
    );
}
