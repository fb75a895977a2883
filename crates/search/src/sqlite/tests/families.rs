//! Which definition is meant in languages that share their rules with others, and where C renames.

use expect_test::expect;

use super::resolution::check;
use crate::graph::Direction;

#[test]
fn a_renaming_macro_does_not_hide_its_function() {
    check(
        &[
            ("conf.h", "#ifdef PREFIX\n#  define reset z_reset\n#endif\n"),
            ("lib.h", "#include \"conf.h\"\nint reset(int n);\n"),
            ("lib.c", "#include \"lib.h\"\n\nint reset(int n) { return n; }\n"),
            ("use.c", "#include \"lib.h\"\n\nint main(void) { return reset(1); }\n"),
        ],
        "lib.c",
        "reset",
        Direction::Callers,
        expect![[r#"
            main in use.c at use.c:3 call sure
        "#]],
    );
}

#[test]
fn kotlin_and_java_see_each_other_by_package() {
    check(
        &[
            // Kotlin needs no folder for its package.
            ("kotlin/Log.kt", "package app.log\n\nclass Log {\n    fun info(n: Int) {}\n}\n"),
            ("kotlin/Other.kt", "package app.other\n\nclass Tap {\n    fun info(n: Int) {}\n}\n"),
            (
                "kotlin/Server.kt",
                "package app.net\n\nimport app.log.Log\n\nclass Server(private val log: Log) {\n    fun run() {\n        log.info(1)\n    }\n}\n",
            ),
            (
                "java/app/Main.java",
                "package app;\n\nimport app.log.Log;\n\nclass Main {\n  void go(Log log) {\n    log.info(2);\n  }\n}\n",
            ),
        ],
        "kotlin/Log.kt",
        "Log.info",
        Direction::Callers,
        expect![[r#"
            Main.go in java/app/Main.java at java/app/Main.java:7 call sure
            Server.run in kotlin/Server.kt at kotlin/Server.kt:7 call sure
        "#]],
    );
}

#[test]
fn scripts_of_pages_call_what_they_import() {
    check(
        &[
            ("src/log.ts", "export function log(n: number) {}\n"),
            ("src/other.ts", "export function log(n: number) {}\n"),
            (
                "src/Button.vue",
                "<template><a/></template>\n<script setup lang=\"ts\">\nimport { log } from './log'\n\nfunction press() {\n  log(1)\n}\n</script>\n",
            ),
        ],
        "src/log.ts",
        "log",
        Direction::Callers,
        expect![[r#"
            (file) in src/Button.vue at src/Button.vue:3 import sure
            press in src/Button.vue at src/Button.vue:6 call sure
        "#]],
    );
}

#[test]
fn haskell_names_come_from_the_module_that_is_imported() {
    check(
        &[
            (
                "src/App/Log.hs",
                "module App.Log where\n\ninfo :: String -> IO ()\ninfo text = write text\n\nwrite x = x\n",
            ),
            ("src/App/Tap.hs", "module App.Tap where\n\ninfo x = x\n"),
            (
                "src/App/Main.hs",
                "module App.Main where\n\nimport App.Log (info)\nimport qualified App.Log as L\n\nmain = do\n  info \"a\"\n  L.info \"b\"\n",
            ),
        ],
        "src/App/Log.hs",
        "info",
        Direction::Callers,
        expect![[r#"
            (file) in src/App/Main.hs at src/App/Main.hs:3 import sure
            main in src/App/Main.hs at src/App/Main.hs:7 call sure
            main in src/App/Main.hs at src/App/Main.hs:8 call sure
        "#]],
    );
}

#[test]
fn elixir_calls_through_a_module_are_candidates() {
    check(
        &[
            ("lib/log.ex", "defmodule App.Log do\n  def info(x), do: x\nend\n"),
            ("lib/tap.ex", "defmodule App.Tap do\n  def info(x), do: x\nend\n"),
            (
                "lib/server.ex",
                "defmodule App.Server do\n  alias App.Log\n  def run do\n    Log.info(1)\n    App.Log.info(2)\n  end\nend\n",
            ),
        ],
        "lib/log.ex",
        "App.Log.info",
        Direction::Callers,
        expect![[r#"
            App.Server.run in lib/server.ex at lib/server.ex:4 dynamic perhaps
            App.Server.run in lib/server.ex at lib/server.ex:5 dynamic perhaps
        "#]],
    );
}
