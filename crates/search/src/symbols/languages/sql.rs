//! SQL: what a schema defines; a query uses tables and views as code calls functions.

use crate::symbols::SymbolKind::{Function, Table, Type};
use crate::symbols::grammar::{Callee, Grammar, Name, Types, call, define_by, member};

/// The name without its schema.
const NAME: Name = Name::Field("#object_reference/name");

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_sequel::LANGUAGE.into(),
    definitions: &[
        define_by("create_table", Table, NAME),
        define_by("create_view", Table, NAME),
        define_by("create_materialized_view", Table, NAME),
        define_by("create_function", Function, NAME),
        define_by("create_trigger", Function, NAME),
        define_by("create_type", Type, NAME),
    ],
    calls: &[
        call("invocation", Callee::Field("#object_reference")),
        call("relation", Callee::Field("#object_reference")),
    ],
    members: &[member("object_reference", "schema", "name")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &["statement"],
    self_names: &[],
    import_calls: &[],
    // Most functions are the database's own.
    note_unresolved: false,
    types: Types::NONE,
};
