//! Python.

use crate::symbols::SymbolKind::{Class, Constant, Function};
use crate::symbols::grammar::{Callee, Grammar, ImportRule, Name, Place, call, define, define_by, member};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    definitions: &[
        define("function_definition", Function),
        define("class_definition", Class),
        define_by("assignment", Constant, Name::Field("left")).place(Place::Capitals),
    ],
    calls: &[call("call", Callee::Field("function"))],
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
};
