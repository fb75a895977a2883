//! Python.

use crate::symbols::SymbolKind::{Class, Constant, Function};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, bind, bind_each, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    definitions: &[
        define("function_definition", Function),
        define("class_definition", Class),
        define_by("assignment", Constant, Name::Field("left")).place(Place::Capitals),
    ],
    calls: &[call("call", Callee::Field("function")), call("decorator", Callee::FirstChild)],
    members: &[member("attribute", "object", "attribute")],
    unwrap: &[],
    imports: &[
        ImportRule { node: "import_statement", parse: imports::python },
        ImportRule { node: "import_from_statement", parse: imports::python },
    ],
    wrappers: &["decorated_definition"],
    sole_wrappers: &[],
    self_names: &["self", "cls", "super()"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            // Names alone, which hide what has their names outside.
            bind("parameters", "names", "type", "value"),
            bind("typed_parameter", "name", "type", "value"),
            bind("typed_default_parameter", "name", "type", "value"),
            bind("default_parameter", "name", "type", "value"),
            bind("assignment", "left", "type", "right"),
            bind("named_expression", "name", "type", "value"),
            bind("as_pattern", "alias", "type", "value"),
            bind_each("for_statement", "left", "right"),
            bind_each("for_in_clause", "left", "right"),
        ],
        returns: &["return_type"],
        returned: &["return_statement"],
        base_fields: &["superclasses"],
        ..Types::NONE
    },
};
