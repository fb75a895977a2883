//! Kotlin. Its grammar names few fields, so that children are found by their kinds.

use crate::symbols::SymbolKind::{Class, Constant, Function, Type};
use crate::symbols::grammar::{
    Bind, Callee, Grammar, ImportRule, Name, Place, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    definitions: &[
        // Interfaces and enums are class declarations too. What is in a companion belongs to its class.
        define("class_declaration", Class),
        define("object_declaration", Class),
        define("function_declaration", Function),
        define_by("property_declaration", Constant, Name::Text("#variable_declaration/#identifier"))
            .place(Place::Capitals),
        define_by("type_alias", Type, Name::Text("#identifier")),
    ],
    calls: &[
        call("call_expression", Callee::FirstChild),
        call("constructor_invocation", Callee::Field("#user_type")),
        call("annotation", Callee::Field("#user_type")),
    ],
    members: &[member("navigation_expression", "<", ">")],
    unwrap: &[],
    imports: &[ImportRule { node: "import", parse: imports::kotlin }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "super"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            Bind {
                node: "parameter",
                name: "#identifier",
                of: Some("#user_type"),
                value: None,
                element: false,
                late: false,
            },
            Bind {
                node: "class_parameter",
                name: "#identifier",
                of: Some("#user_type"),
                value: None,
                element: false,
                late: false,
            },
            bind("property_declaration", "#variable_declaration", "none", "#call_expression"),
        ],
        returns: &["#user_type"],
        bases: &["delegation_specifiers"],
        package: &["package_header"],
        ..Types::NONE
    },
};
