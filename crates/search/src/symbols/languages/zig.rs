//! Zig.

use crate::symbols::SymbolKind::{Constant, Enum, Function, Struct, Union};
use crate::symbols::grammar::{Bind, Callee, Grammar, Name, Place, Types, call, define, define_by, member};

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_zig::LANGUAGE.into(),
    definitions: &[
        define("function_declaration", Function),
        define_by(
            "variable_declaration",
            Struct,
            Name::Holding(&["struct_declaration", "opaque_declaration"]),
        ),
        define_by(
            "variable_declaration",
            Enum,
            Name::Holding(&["enum_declaration", "error_set_declaration"]),
        ),
        define_by("variable_declaration", Union, Name::Holding(&["union_declaration"])),
        define_by("variable_declaration", Constant, Name::Holding(&[])).place(Place::OutsideFunctions),
    ],
    calls: &[call("call_expression", Callee::Field("function"))],
    members: &[member("field_expression", "object", "member")],
    unwrap: &[],
    imports: &[],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["self"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[Bind {
            node: "parameter",
            name: "name",
            of: Some("type"),
            value: None,
            element: false,
            late: false,
        }],
        returns: &["type"],
        ..Types::NONE
    },
};
