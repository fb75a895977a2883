//! Haskell. A function is its line with the type and its equations.

use crate::symbols::SymbolKind::{Enum, Function, Impl, Struct, Trait, Type};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Place, Types, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_haskell::LANGUAGE.into(),
    definitions: &[
        define("data_type", Enum),
        define("newtype", Struct),
        define("type_synonym", Type),
        define("class", Trait),
        define_by("instance", Impl, Name::Text("name")),
        define("signature", Function).place(Place::OutsideFunctions).clauses(),
        define("function", Function).clauses(),
        define("bind", Function).place(Place::OutsideFunctions).clauses(),
    ],
    calls: &[
        call("apply", Callee::Field("function")),
        call(
            "infix",
            Callee::Beside { operand: "left_operand", operators: &["$", "$!", "<$>", ".", "<&>", "=<<"] },
        ),
        call("infix", Callee::Beside { operand: "right_operand", operators: &[".", "&", "<&>", ">>="] }),
    ],
    members: &[member("qualified", "module", "id")],
    unwrap: &[("apply", "function"), ("parens", "expression")],
    imports: &[ImportRule { node: "import", parse: imports::haskell }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &[],
    import_calls: &[],
    note_unresolved: true,
    types: Types::NONE,
};
