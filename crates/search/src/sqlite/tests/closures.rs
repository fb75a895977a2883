//! Rust: what closures, patterns and macros hand on, and what is used as what it points to.

use expect_test::expect;

use super::resolution::check;
use crate::graph::Direction;

const COMMAND: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"clip\"\n"),
    (
        "src/lib.rs",
        "mod macros;\npub mod other;\n\npub struct Arg;\n\nimpl Arg {\n    pub fn new(name: &str) -> Self { Arg }\n    pub fn short(&self) -> bool { true }\n}\n\npub struct Command {\n    args: Vec<Arg>,\n}\n\nimpl Command {\n    pub fn find(&self, name: &str) -> Option<&Arg> { None }\n}\n",
    ),
    // Another type with the same method, so that its name says nothing.
    (
        "src/other.rs",
        "pub struct Other;\n\nimpl Other {\n    pub fn short(&self) -> bool { false }\n    pub fn build(&self) {}\n}\n",
    ),
    (
        "src/macros.rs",
        "#[macro_export]\nmacro_rules! arg {\n    ($name:expr) => {{\n        let arg = $crate::Arg::new($name);\n        debug_assert!(true);\n        arg\n    }};\n}\n",
    ),
];

fn with(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut files = COMMAND.to_vec();
    files.push(("src/used.rs", text));
    files
}

#[test]
fn a_closures_parameter_is_an_element_of_what_it_is_passed_to() {
    check(
        &with(
            "use crate::{Arg, Command};\n\nfn elements(command: &Command) {\n    command.args.iter().filter(|arg| arg.short());\n    command.args.iter().enumerate().for_each(|(at, arg)| {\n        arg.short();\n    });\n    command.find(\"a\").map_or(false, |arg| arg.short());\n    command.args.iter().fold(0, |sum, arg| arg.short());\n    command.args.iter().any(|arg| {\n        arg.short()\n    });\n}\n\nfn slices(args: &[&Arg]) {\n    args.to_vec().retain(|arg| arg.short());\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            elements in src/used.rs at src/used.rs:4 call sure
            elements in src/used.rs at src/used.rs:6 call sure
            elements in src/used.rs at src/used.rs:8 call sure
            elements in src/used.rs at src/used.rs:9 call sure
            elements in src/used.rs at src/used.rs:11 call sure
            slices in src/used.rs at src/used.rs:16 call sure
        "#]],
    );
}

#[test]
fn a_closures_parameter_is_not_what_two_iterators_give_together_and_ends_with_it() {
    check(
        &with(
            "use crate::{Command, other::Other};\n\nfn pairs(command: &Command, others: Vec<Other>) {\n    command.args.iter().zip(others).for_each(|(arg, other)| {\n        other.short();\n    });\n}\n\nfn after(command: &Command, arg: Other) {\n    command.args.iter().for_each(|arg| {\n        arg.short();\n    });\n    arg.short();\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            pairs in src/used.rs at src/used.rs:5 dynamic perhaps
            after in src/used.rs at src/used.rs:11 call sure
        "#]],
    );
}

#[test]
fn a_pattern_of_a_match_is_what_is_inside_of_the_value() {
    check(
        &with(
            "use crate::Command;\n\nfn matched(command: &Command) -> bool {\n    match command.find(\"a\") {\n        Some(arg) => arg.short(),\n        None => false,\n    }\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            matched in src/used.rs at src/used.rs:5 call sure
        "#]],
    );
}

#[test]
fn a_macro_that_ends_in_a_variable_gives_what_the_variable_was_made_of() {
    check(
        &with(
            "fn made() {\n    let arg = crate::arg!(\"a\");\n    arg.short();\n}\n\nfn named() {\n    use crate::arg;\n    arg!(\"b\").short();\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            made in src/used.rs at src/used.rs:3 call sure
            named in src/used.rs at src/used.rs:8 call sure
        "#]],
    );
}

#[test]
fn a_clone_is_what_was_cloned_and_a_pointer_of_ours_is_used_as_what_it_points_to() {
    check(
        &with(
            "use std::ops::Deref;\n\nuse crate::Arg;\n\npub struct Spanned<T>(T);\n\nimpl<T> Deref for Spanned<T> {\n    type Target = T;\n    fn deref(&self) -> &T { &self.0 }\n}\n\npub struct Plain<T>(T);\n\nfn cloned(arg: &Arg) {\n    let copy = arg.clone();\n    copy.short();\n}\n\nfn pointed(arg: Spanned<Arg>) {\n    arg.short();\n}\n\nfn kept(arg: Plain<Arg>) {\n    arg.short();\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            cloned in src/used.rs at src/used.rs:16 call sure
            pointed in src/used.rs at src/used.rs:20 call sure
            kept in src/used.rs at src/used.rs:24 dynamic perhaps
        "#]],
    );
}

#[test]
fn what_a_trait_of_ours_adds_to_a_librarys_type_is_called_on_that_type() {
    check(
        &with(
            "use std::ffi::OsStr;\n\npub trait OsStrExt {\n    fn begins(&self, with: &str) -> bool;\n}\n\nimpl OsStrExt for OsStr {\n    fn begins(&self, with: &str) -> bool { true }\n}\n\nfn asked(text: &OsStr) -> bool {\n    text.begins(\"a\")\n}\n\nfn other(text: &std::path::Path) -> bool {\n    text.begins(\"a\")\n}\n",
        ),
        "src/used.rs",
        "OsStrExt.begins",
        Direction::Callers,
        expect![[r#"
            asked in src/used.rs at src/used.rs:12 dynamic sure
            other in src/used.rs at src/used.rs:16 dynamic perhaps
        "#]],
    );
}

#[test]
fn a_name_that_gets_its_value_later_is_what_it_gets() {
    check(
        &with(
            "use crate::{Arg, other::Other};\n\nfn late(yes: bool) {\n    let arg;\n    if yes {\n        arg = Arg::new(\"a\");\n    } else {\n        arg = Arg::new(\"b\");\n    }\n    arg.short();\n}\n\nfn again(mut other: Other, list: &List) {\n    other = list.unknown();\n    other.short();\n}\n",
        ),
        "src/lib.rs",
        "Arg.short",
        Direction::Callers,
        expect![[r#"
            late in src/used.rs at src/used.rs:10 call sure
        "#]],
    );
    check(
        &with(
            "use crate::other::Other;\n\nfn again(mut other: Other, list: &List) {\n    other = list.unknown();\n    other.short();\n}\n",
        ),
        "src/other.rs",
        "Other.short",
        Direction::Callers,
        expect![[r#"
            again in src/used.rs at src/used.rs:5 call sure
        "#]],
    );
}
