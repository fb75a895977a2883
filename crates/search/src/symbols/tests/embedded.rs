//! Vue, Svelte and HTML: what their scripts say, at the lines of the page.

use super::check;
use expect_test::expect;

#[test]
fn vue_scripts_are_read_as_typescript() {
    check(
        "src/Button.vue",
        r#"<template>
  <Icon @click="press(1)" />
</template>

<script setup lang="ts">
import Icon from './Icon.vue'
import { log } from '../log'

function press(n: number): void {
  log(n)
}
</script>

<style>.a { color: red }</style>
"#,
        expect![[r#"
            9-11 function press(n: number) [press]
            10 press calls log
            6 "Icon" = ./Icon.vue . default
            7 "log" = ../log . log
        "#]],
    );
}

#[test]
fn svelte_and_html_scripts_are_read() {
    check(
        "src/App.svelte",
        "<script>\n  import { log } from './log'\n  const go = () => log(1)\n</script>\n<p on:click={go}>x</p>\n",
        expect![[r#"
            3-3 function go() [go]
            3 go calls log
            2 "log" = ./log . log
        "#]],
    );
    check(
        "web/index.html",
        "<html>\n<script>\nfunction start() { draw(); }\n</script>\n<script type=\"text/template\">no(1)</script>\n</html>\n",
        expect![[r#"
            3-3 function start() [start]
            3 start calls draw
        "#]],
    );
}
