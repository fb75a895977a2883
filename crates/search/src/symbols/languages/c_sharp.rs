//! C#.

use crate::symbols::SymbolKind::{
    Class, Constructor, Enum, Function, Interface, Method, Namespace, Property, Struct, Type,
};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_c_sharp::LANGUAGE.into(),
    definitions: &[
        define_by("namespace_declaration", Namespace, Name::Text("name")),
        define("class_declaration", Class),
        define("record_declaration", Class),
        define("struct_declaration", Struct),
        define("interface_declaration", Interface),
        define("enum_declaration", Enum),
        define("delegate_declaration", Type),
        define("method_declaration", Method),
        define("constructor_declaration", Constructor),
        define("property_declaration", Property),
        define("local_function_statement", Function),
    ],
    calls: &[
        call("invocation_expression", Callee::Field("function")),
        call("object_creation_expression", Callee::Type("type")),
    ],
    members: &[
        member("member_access_expression", "expression", "name"),
        member("qualified_name", "qualifier", "name"),
    ],
    unwrap: &[],
    imports: &[ImportRule { node: "using_directive", parse: imports::c_sharp }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "base"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter", "name", "type", "value"),
            bind("property_declaration", "name", "type", "value"),
            bind("foreach_statement", "left", "type", "missing"),
        ],
        returns: &["returns", "type"],
        bases: &["base_list"],
        package: &["file_scoped_namespace_declaration", "namespace_declaration"],
        ..Types::NONE
    },
};
