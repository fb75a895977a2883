//! Bash and POSIX shells.

use crate::symbols::SymbolKind::Function;
use crate::symbols::grammar::{Callee, Grammar, Types, call, define};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_bash::LANGUAGE.into(),
    definitions: &[define("function_definition", Function)],
    calls: &[call("command", Callee::Field("name"))],
    members: &[],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &[],
    import_calls: &["source", "."],
    note_unresolved: false,
    types: Types::NONE,
};
