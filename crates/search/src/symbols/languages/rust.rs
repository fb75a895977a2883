//! Rust.

use crate::symbols::SymbolKind::{Constant, Enum, Function, Impl, Macro, Module, Struct, Trait, Type, Union};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, bind, bind_each, bind_late, call, define, define_by,
    member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_rust::LANGUAGE.into(),
    definitions: &[
        define("function_item", Function),
        define("function_signature_item", Function),
        define("struct_item", Struct),
        define("union_item", Union),
        define("enum_item", Enum),
        define("trait_item", Trait),
        define_by("impl_item", Impl, Name::Impl),
        define("mod_item", Module),
        define("macro_definition", Macro),
        define("type_item", Type).place(Place::OutsideFunctions),
        define("const_item", Constant).place(Place::OutsideFunctions),
        define("static_item", Constant).place(Place::OutsideFunctions),
    ],
    calls: &[
        call("call_expression", Callee::Field("function")),
        call("macro_invocation", Callee::Macro("macro")),
    ],
    members: &[member("field_expression", "value", "field"), member("scoped_identifier", "path", "name")],
    unwrap: &[("generic_function", "function")],
    imports: &[
        ImportRule { node: "use_declaration", parse: imports::rust },
        ImportRule { node: "extern_crate_declaration", parse: imports::rust_crate },
    ],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self", "Self"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter", "pattern", "type", "value"),
            bind("closure_parameters", "name", "type", "value"),
            bind("match_arm", "pattern", "type", "value"),
            bind("let_declaration", "pattern", "type", "value"),
            bind("let_condition", "pattern", "type", "value"),
            bind_each("for_expression", "pattern", "value"),
            bind_late("assignment_expression", "left", "right"),
            bind("field_declaration", "name", "type", "value"),
            bind("const_item", "name", "type", "value"),
            bind("static_item", "name", "type", "value"),
            bind("type_parameter", "name", "bounds", "value"),
        ],
        returns: &["return_type"],
        base_fields: &["trait", "bounds"],
        tokens: &["token_tree", "attribute_item", "inner_attribute_item"],
        ..Types::NONE
    },
};
