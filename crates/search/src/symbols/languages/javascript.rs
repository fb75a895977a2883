//! JavaScript and JSX.

use crate::symbols::SymbolKind::{Class, Constant, Function, Method};
use crate::symbols::grammar::{
    Call, Callee, Definition, Grammar, ImportRule, Member, Name, Place, Types, bind, bind_each, call, define,
    define_by, member,
};
use crate::symbols::imports;

/// Values that make a named variable, field or pair a function.
pub(super) const FUNCTION_VALUES: &[&str] = &["arrow_function", "function_expression", "generator_function"];

pub(super) const CALLS: &[Call] = &[
    call("call_expression", Callee::Field("function")),
    call("new_expression", Callee::Field("constructor")),
    call("decorator", Callee::FirstChild),
    call("jsx_opening_element", Callee::Component("name")),
    call("jsx_self_closing_element", Callee::Component("name")),
];

pub(super) const MEMBERS: &[Member] = &[member("member_expression", "object", "property")];

/// What declarations say, in both languages.
pub(super) const TYPES: Types = Types {
    binds: &[
        bind("required_parameter", "pattern", "type", "value"),
        bind("optional_parameter", "pattern", "type", "value"),
        // `x => …`.
        bind("arrow_function", "parameter", "type", "value"),
        bind("type_parameter", "name", "constraint", "value"),
        bind("variable_declarator", "name", "type", "value"),
        bind("public_field_definition", "name", "type", "value"),
        bind("field_definition", "property", "type", "value"),
        bind("property_signature", "name", "type", "value"),
        bind("assignment_expression", "left", "type", "right"),
        bind_each("for_in_statement", "left", "right"),
    ],
    returns: &["return_type"],
    returned: &["return_statement"],
    bases: &["class_heritage", "extends_type_clause"],
    exports: Some(ImportRule { node: "export_statement", parse: imports::javascript_exports }),
    signatures: &["call_signature"],
    callbacks: true,
    ..Types::NONE
};

const DEFINITIONS: &[Definition] = &[
    define("function_declaration", Function),
    define("generator_function_declaration", Function),
    define("class_declaration", Class),
    define("class", Class),
    define("method_definition", Method),
    define_by("field_definition", Method, Name::Field("property")).only_if("value", FUNCTION_VALUES),
    define("variable_declarator", Function).only_if("value", FUNCTION_VALUES),
    define("variable_declarator", Constant).place(Place::Capitals),
    define("variable_declarator", Constant).place(Place::Exported),
    define_by("pair", Method, Name::Field("key")).only_if("value", FUNCTION_VALUES),
    define_by("assignment_expression", Function, Name::Text("left")).only_if("right", FUNCTION_VALUES),
];

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_javascript::LANGUAGE.into(),
    definitions: DEFINITIONS,
    calls: CALLS,
    members: MEMBERS,
    unwrap: &[],
    imports: &[ImportRule { node: "import_statement", parse: imports::javascript }],
    wrappers: &["export_statement"],
    sole_wrappers: &["lexical_declaration", "variable_declaration", "expression_statement"],
    self_names: &["this", "super"],
    import_calls: &["require"],
    note_unresolved: true,
    types: TYPES,
};
