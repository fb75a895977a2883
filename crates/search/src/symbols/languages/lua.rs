//! Lua.

use crate::symbols::SymbolKind::Function;
use crate::symbols::grammar::{Callee, Grammar, Name, Types, call, define_by, member};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_lua::LANGUAGE.into(),
    definitions: &[define_by("function_declaration", Function, Name::Path("name"))],
    calls: &[call("function_call", Callee::Field("name"))],
    members: &[
        member("dot_index_expression", "table", "field"),
        member("method_index_expression", "table", "method"),
    ],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self"],
    import_calls: &["require", "dofile"],
    note_unresolved: true,
    types: Types::NONE,
};
