//! R.

use crate::symbols::SymbolKind::Function;
use crate::symbols::grammar::{Callee, Grammar, Name, Types, call, define_by, member};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_r::LANGUAGE.into(),
    definitions: &[
        define_by("binary_operator", Function, Name::Field("lhs")).only_if("rhs", &["function_definition"])
    ],
    calls: &[call("call", Callee::Field("function"))],
    members: &[member("namespace_operator", "lhs", "rhs"), member("extract_operator", "lhs", "rhs")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self"],
    import_calls: &["source"],
    note_unresolved: true,
    types: Types::NONE,
};
