//! PHP.

use crate::symbols::SymbolKind::{Class, Enum, Function, Interface, Method, Namespace, Trait};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_php::LANGUAGE_PHP.into(),
    definitions: &[
        define_by("namespace_definition", Namespace, Name::Text("name")).only_if("body", &[]),
        define("class_declaration", Class),
        define("interface_declaration", Interface),
        define("trait_declaration", Trait),
        define("enum_declaration", Enum),
        define("function_definition", Function),
        define("method_declaration", Method),
    ],
    calls: &[
        call("function_call_expression", Callee::Field("function")),
        call("member_call_expression", Callee::Parts { object: "object", name: "name" }),
        call("nullsafe_member_call_expression", Callee::Parts { object: "object", name: "name" }),
        call("scoped_call_expression", Callee::Parts { object: "scope", name: "name" }),
        call("object_creation_expression", Callee::FirstChild),
    ],
    members: &[member("qualified_name", "prefix", "name")],
    unwrap: &[],
    imports: &[ImportRule { node: "namespace_use_declaration", parse: imports::php }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "$this", "self", "static", "parent"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("simple_parameter", "name", "type", "default_value"),
            bind("property_promotion_parameter", "name", "type", "default_value"),
            bind("assignment_expression", "left", "type", "right"),
        ],
        returns: &["return_type"],
        bases: &["base_clause", "class_interface_clause"],
        package: &["namespace_definition"],
        ..Types::NONE
    },
};
