//! Go.

use crate::symbols::SymbolKind::{Constant, Function, Interface, Method, Struct, Type};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, bind, bind_each, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_go::LANGUAGE.into(),
    definitions: &[
        define("function_declaration", Function),
        define_by("method_declaration", Method, Name::Receiver),
        define("method_elem", Method),
        define("type_spec", Struct).only_if("type", &["struct_type"]),
        define("type_spec", Interface).only_if("type", &["interface_type"]),
        define("type_spec", Type),
        define("type_alias", Type),
        define("const_spec", Constant).place(Place::OutsideFunctions),
        define("var_spec", Constant).place(Place::OutsideFunctions),
    ],
    calls: &[call("call_expression", Callee::Field("function"))],
    members: &[
        member("selector_expression", "operand", "field"),
        member("qualified_type", "package", "name"),
    ],
    unwrap: &[("type_instantiation_expression", "type")],
    imports: &[ImportRule { node: "import_declaration", parse: imports::go }],
    wrappers: &[],
    sole_wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    self_names: &[],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter_declaration", "name", "type", "value"),
            bind("variadic_parameter_declaration", "name", "type", "value"),
            bind("var_spec", "name", "type", "value"),
            bind("const_spec", "name", "type", "value"),
            bind("short_var_declaration", "left", "type", "right"),
            bind_each("range_clause", "left", "right"),
            bind("field_declaration", "name", "type", "value"),
        ],
        returns: &["result"],
        package: &["package_clause"],
        bases: &["type_elem"],
        ..Types::NONE
    },
};
