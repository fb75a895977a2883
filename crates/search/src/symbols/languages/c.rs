//! C.

use crate::symbols::SymbolKind::{Enum, Function, Macro, Struct, Type, Union};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_c::LANGUAGE.into(),
    definitions: &[
        define_by("function_definition", Function, Name::Declarator),
        define("struct_specifier", Struct).only_if("body", &[]),
        define("union_specifier", Union).only_if("body", &[]),
        define("enum_specifier", Enum).only_if("body", &[]),
        define_by("type_definition", Type, Name::Declarator),
        define("preproc_function_def", Macro),
        // A macro without a value only guards its header.
        define("preproc_def", Macro).only_if("value", &[]),
    ],
    calls: &[call("call_expression", Callee::Field("function"))],
    members: &[member("field_expression", "argument", "field")],
    unwrap: &[],
    imports: &[ImportRule { node: "preproc_include", parse: imports::c }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &[],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter_declaration", "declarator", "type", "value"),
            bind("declaration", "declarator", "type", "value"),
            bind("field_declaration", "declarator", "type", "value"),
        ],
        returns: &["type"],
        // The text of a macro's body.
        tokens: &["preproc_arg"],
        conditions: &["preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"],
        ..Types::NONE
    },
};
