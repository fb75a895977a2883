//! CSS: rules by their selectors.

use crate::symbols::SymbolKind::Rule;
use crate::symbols::grammar::{Grammar, ImportRule, Name, Types, define_by};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_css::LANGUAGE.into(),
    definitions: &[
        define_by("rule_set", Rule, Name::Text("#selectors")),
        define_by("keyframes_statement", Rule, Name::Text("#keyframes_name")),
    ],
    calls: &[],
    members: &[],
    unwrap: &[],
    imports: &[ImportRule { node: "import_statement", parse: imports::css }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &[],
    import_calls: &[],
    note_unresolved: false,
    types: Types::NONE,
};
