//! C++.

use crate::symbols::SymbolKind::{Class, Enum, Function, Macro, Namespace, Struct, Type, Union};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_cpp::LANGUAGE.into(),
    definitions: &[
        define_by("function_definition", Function, Name::Declarator),
        define_by("class_specifier", Class, Name::Text("name")).only_if("body", &[]),
        define_by("struct_specifier", Struct, Name::Text("name")).only_if("body", &[]),
        define("union_specifier", Union).only_if("body", &[]),
        define("enum_specifier", Enum).only_if("body", &[]),
        define_by("namespace_definition", Namespace, Name::Text("name")),
        define_by("type_definition", Type, Name::Declarator),
        define("alias_declaration", Type),
        define("concept_definition", Type),
        define("preproc_function_def", Macro),
        // A macro without a value only guards its header.
        define("preproc_def", Macro).only_if("value", &[]),
    ],
    calls: &[
        call("call_expression", Callee::Field("function")),
        call("new_expression", Callee::Type("type")),
    ],
    members: &[
        member("field_expression", "argument", "field"),
        member("qualified_identifier", "scope", "name"),
    ],
    unwrap: &[("template_function", "name"), ("template_method", "name"), ("template_type", "name")],
    imports: &[ImportRule { node: "preproc_include", parse: imports::c }],
    wrappers: &["template_declaration"],
    sole_wrappers: &[],
    self_names: &["this"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("parameter_declaration", "declarator", "type", "value"),
            bind("optional_parameter_declaration", "declarator", "type", "value"),
            bind("declaration", "declarator", "type", "value"),
            bind("field_declaration", "declarator", "type", "value"),
        ],
        returns: &["type"],
        bases: &["base_class_clause"],
        // The text of a macro's body.
        tokens: &["preproc_arg"],
        conditions: &["preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"],
        ..Types::NONE
    },
};
