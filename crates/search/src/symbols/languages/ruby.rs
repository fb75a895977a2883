//! Ruby.

use crate::symbols::SymbolKind::{Class, Constant, Function, Method, Module};
use crate::symbols::grammar::{Callee, Grammar, Name, Place, Types, bind, call, define_by, member};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_ruby::LANGUAGE.into(),
    definitions: &[
        define_by("class", Class, Name::Text("name")),
        define_by("module", Module, Name::Text("name")),
        define_by("method", Function, Name::Text("name")),
        define_by("singleton_method", Method, Name::Text("name")),
        define_by("assignment", Constant, Name::Field("left")).place(Place::Capitals),
    ],
    calls: &[call("call", Callee::Parts { object: "receiver", name: "method" })],
    members: &[member("scope_resolution", "scope", "name")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self", "super"],
    import_calls: &["require", "require_relative", "load", "autoload"],
    note_unresolved: true,
    types: Types {
        binds: &[bind("assignment", "left", "type", "right")],
        bases: &["superclass"],
        ..Types::NONE
    },
};
