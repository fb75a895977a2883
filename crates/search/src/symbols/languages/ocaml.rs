//! OCaml, the implementations: interfaces have a grammar of their own, as large again.

use crate::symbols::SymbolKind::{Class, Constant, Function, Interface, Method, Module, Type};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_ocaml::LANGUAGE_OCAML.into(),
    definitions: &[
        define_by("let_binding", Function, Name::Field("pattern")).only_if("#parameter", &[]),
        define_by("let_binding", Function, Name::Field("pattern"))
            .only_if("body", &["fun_expression", "function_expression"]),
        define_by("let_binding", Constant, Name::Field("pattern"))
            .only_if("pattern", &["value_name"])
            .place(Place::OutsideFunctions),
        define_by("external", Function, Name::Text("#value_name")),
        define_by("value_specification", Function, Name::Text("#value_name")),
        define("type_binding", Type),
        define_by("module_binding", Module, Name::Text("#module_name")),
        define_by("module_type_definition", Interface, Name::Text("#module_type_name")),
        define_by("class_binding", Class, Name::Text("#class_name")),
        define_by("method_definition", Method, Name::Text("#method_name")),
    ],
    calls: &[
        call("application_expression", Callee::Field("function")),
        call("infix_expression", Callee::Beside { operand: "right", operators: &["|>"] }),
        call("infix_expression", Callee::Beside { operand: "left", operators: &["@@"] }),
        call("method_invocation", Callee::Field("#method_name")),
        call("new_expression", Callee::FirstChild),
    ],
    members: &[member("value_path", "<", ">"), member("class_path", "<", ">")],
    unwrap: &[("application_expression", "function")],
    imports: &[ImportRule { node: "open_module", parse: imports::ocaml }],
    wrappers: &[],
    sole_wrappers: &["value_definition", "type_definition", "module_definition", "class_definition"],
    self_names: &["self"],
    import_calls: &[],
    note_unresolved: true,
    types: Types::NONE,
};
