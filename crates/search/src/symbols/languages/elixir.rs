//! Elixir, where definitions are calls.

use crate::symbols::SymbolKind::{Function, Impl, Interface, Macro, Module};
use crate::symbols::grammar::{Callee, Grammar, Name, Types, call, define_by, member};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_elixir::LANGUAGE.into(),
    definitions: &[
        define_by("call", Module, Name::Keyword(&["defmodule"])),
        define_by("call", Interface, Name::Keyword(&["defprotocol"])),
        define_by("call", Impl, Name::Keyword(&["defimpl"])),
        define_by("call", Macro, Name::Keyword(&["defmacro", "defmacrop"])).clauses(),
        define_by("call", Function, Name::Keyword(&["def", "defp", "defdelegate", "defguard"])).clauses(),
    ],
    calls: &[call("call", Callee::Field("target"))],
    members: &[member("dot", "left", "right")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["__MODULE__"],
    import_calls: &["alias", "import", "require", "use"],
    // `if`, `case` and each attribute are calls as well.
    note_unresolved: false,
    types: Types::NONE,
};
