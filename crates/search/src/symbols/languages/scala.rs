//! Scala, 2 and 3.

use crate::symbols::SymbolKind::{Class, Constant, Enum, Function, Trait, Type};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_scala::LANGUAGE.into(),
    definitions: &[
        define("class_definition", Class),
        define("object_definition", Class),
        define("trait_definition", Trait),
        define("enum_definition", Enum),
        define("function_definition", Function),
        define("function_declaration", Function),
        define("type_definition", Type),
        define_by("val_definition", Constant, Name::Field("pattern")).place(Place::Capitals),
    ],
    calls: &[
        call("call_expression", Callee::Field("function")),
        call("instance_expression", Callee::FirstChild),
        call("annotation", Callee::Field("name")),
    ],
    members: &[member("field_expression", "value", "field"), member("stable_type_identifier", "<", ">")],
    unwrap: &[("generic_function", "function"), ("generic_type", "type")],
    imports: &[ImportRule { node: "import_declaration", parse: imports::scala }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "super"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter", "name", "type", "default_value"),
            bind("class_parameter", "name", "type", "default_value"),
            bind("val_definition", "pattern", "type", "value"),
            bind("var_definition", "pattern", "type", "value"),
        ],
        returns: &["return_type"],
        bases: &["extends_clause"],
        package: &["package_clause"],
        ..Types::NONE
    },
};
