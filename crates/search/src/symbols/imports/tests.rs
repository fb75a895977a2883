//! Import statements in their odd forms; the plain ones are in the tests of the languages.

use super::*;

#[track_caller]
fn check(parse: fn(&str) -> Vec<Import>, text: &str, expected: &str) {
    let shown: Vec<String> = parse(text)
        .iter()
        .map(|import| match &import.name {
            Some(name) => format!("{}={}.{name}", import.local, import.module),
            None => format!("{}={}", import.local, import.module),
        })
        .collect();
    assert_eq!(shown.join(" "), expected, "{text}");
}

#[test]
fn odd_forms() {
    check(python, "from . import a", "a=..a");
    check(python, "from a import (\n    b,  # why\n    c as d,\n)", "b=a.b d=a.c");
    check(python, "from a import *", "*=a.*");
    check(javascript, "import './style.css'", "=./style.css");
    check(javascript, "import a, * as b from 'c'", "a=c.default b=c");
    check(javascript, "import {a}from\"b\"", "a=b.a");
    check(javascript, "import { type A, B as C } from '../x'", "A=../x.A C=../x.B");
    check(rust, "pub(crate) use a::{self, b::{c, d as e}, f::*};", "a=a c=a::b.c e=a::b.d *=a::f.*");
    check(rust, "use x;", "x=x");
    check(go, "import . \"a/b\"", "*=a/b");
    check(go, "import _ \"a/b\"", "=a/b");
    check(go, "import \"a/web/v5\"", "web=a/web/v5");
    check(go, "import \"a/yaml.v3\"", "yaml=a/yaml.v3");
    check(java, "import a.b.*;", "*=a.b.*");
    check(c_sharp, "using X = A.B;", "X=A.B");
    check(c, "#include <a/b.h>", "*=a/b.h");
    check(php, "use A\\B as C, D;", "C=A.B D=.D");
}

#[test]
fn what_is_no_import_gives_none() {
    for parse in [python, javascript, rust, go, java, c_sharp, c, php] {
        for text in ["", "import", "use ", "from", "{{{{", "use a::{{{", "'", "import {"] {
            let _imports = parse(text);
        }
    }
}
