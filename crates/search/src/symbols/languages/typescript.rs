//! TypeScript and TSX: two grammars, one description.

use super::javascript::{CALLS, FUNCTION_VALUES, MEMBERS, TYPES};
use crate::symbols::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Namespace, Type};
use crate::symbols::grammar::{Definition, Grammar, ImportRule, Name, Place, define, define_by};
use crate::symbols::imports;

const DEFINITIONS: &[Definition] = &[
    define("function_declaration", Function),
    define("generator_function_declaration", Function),
    define("function_signature", Function),
    define("class_declaration", Class),
    define("abstract_class_declaration", Class),
    define("class", Class),
    define("interface_declaration", Interface),
    define("type_alias_declaration", Type),
    define("enum_declaration", Enum),
    define_by("internal_module", Namespace, Name::Text("name")),
    define_by("module", Namespace, Name::Text("name")),
    define("method_definition", Method),
    define("method_signature", Method),
    define("abstract_method_signature", Method),
    define("public_field_definition", Method).only_if("value", FUNCTION_VALUES),
    define("variable_declarator", Function).only_if("value", FUNCTION_VALUES),
    define("variable_declarator", Constant).place(Place::Capitals),
    define("variable_declarator", Constant).place(Place::Exported),
    define_by("pair", Method, Name::Field("key")).only_if("value", FUNCTION_VALUES),
    define_by("assignment_expression", Function, Name::Text("left")).only_if("right", FUNCTION_VALUES),
];

const fn grammar(language: fn() -> tree_sitter::Language) -> Grammar {
    Grammar {
        language,
        definitions: DEFINITIONS,
        calls: CALLS,
        members: MEMBERS,
        unwrap: &[("non_null_expression", "expression"), ("instantiation_expression", "function")],
        imports: &[ImportRule { node: "import_statement", parse: imports::javascript }],
        wrappers: &["export_statement", "ambient_declaration"],
        sole_wrappers: &["lexical_declaration", "variable_declaration", "expression_statement"],
        self_names: &["this", "super"],
        import_calls: &["require"],
        note_unresolved: true,
        types: TYPES,
    }
}

pub(super) static TYPESCRIPT: Grammar = grammar(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into());
pub(super) static TSX: Grammar = grammar(|| tree_sitter_typescript::LANGUAGE_TSX.into());
