//! Swift.

use crate::symbols::SymbolKind::{
    Class, Constant, Constructor, Enum, Function, Impl, Interface, Property, Struct, Type,
};
use crate::symbols::grammar::{
    Bind, Callee, Grammar, Name, Place, Types, bind, call, define, define_by, member,
};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_swift::LANGUAGE.into(),
    definitions: &[
        define("class_declaration", Struct).only_if("declaration_kind", &["struct"]),
        define("class_declaration", Enum).only_if("declaration_kind", &["enum"]),
        define_by("class_declaration", Impl, Name::Text("name")).only_if("declaration_kind", &["extension"]),
        define("class_declaration", Class),
        define("protocol_declaration", Interface),
        define("function_declaration", Function),
        define("protocol_function_declaration", Function),
        define_by("init_declaration", Constructor, Name::Field("name")),
        define_by("property_declaration", Property, Name::Text("name")).only_if("computed_value", &[]),
        define_by("property_declaration", Constant, Name::Text("name")).place(Place::Capitals),
        define("typealias_declaration", Type),
    ],
    calls: &[call("call_expression", Callee::FirstChild)],
    members: &[member("navigation_expression", "target", "suffix")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self", "super", "Self"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            Bind {
                node: "parameter",
                name: "name",
                of: Some("#user_type"),
                value: None,
                element: false,
                late: false,
            },
            bind("property_declaration", "name", "#type_annotation", "value"),
        ],
        returns: &["#user_type"],
        bases: &["inheritance_specifier"],
        ..Types::NONE
    },
};
