//! Dart. A function's name is in its signature, beside its body.

use crate::symbols::SymbolKind::{Class, Constructor, Enum, Function, Impl, Property, Trait, Type};
use crate::symbols::grammar::{
    Callee, Grammar, ImportRule, Name, Types, bind, call, define, define_by, member,
};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_dart::LANGUAGE.into(),
    definitions: &[
        define("class_declaration", Class),
        define("mixin_declaration", Trait),
        define("extension_declaration", Impl),
        define("enum_declaration", Enum),
        define_by("type_alias", Type, Name::Text("#type_identifier")),
        define_by("function_declaration", Function, Name::Field("signature/name")),
        define_by("method_declaration", Function, Name::Field("signature/#function_signature/name")),
        define_by("method_declaration", Property, Name::Field("signature/#getter_signature/name")),
        define_by("method_declaration", Property, Name::Field("signature/#setter_signature/name")),
        define_by("method_declaration", Constructor, Name::Field("signature/#constructor_signature/name")),
        define_by(
            "method_declaration",
            Constructor,
            Name::Field("signature/#factory_constructor_signature/name"),
        ),
        // Without a body.
        define_by("declaration", Function, Name::Field("#function_signature/name")),
        define_by("declaration", Constructor, Name::Field("#constructor_signature/name")),
    ],
    calls: &[
        call("call_expression", Callee::Field("function")),
        call("new_expression", Callee::Field("#type")),
        call("annotation", Callee::Field("name")),
    ],
    members: &[member("member_expression", "object", "property")],
    unwrap: &[],
    imports: &[
        ImportRule { node: "library_import", parse: imports::dart },
        ImportRule { node: "library_export", parse: imports::dart },
    ],
    wrappers: &["member_declaration"],
    sole_wrappers: &[],
    self_names: &["this", "super"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("formal_parameter", "name", "#type", "none"),
            bind("initialized_variable_declaration", "name", "#type", "value"),
            bind("declaration", "#initialized_identifier_list/#initialized_identifier/name", "#type", "none"),
        ],
        returns: &["signature/return_type", "signature/#function_signature/return_type"],
        bases: &["superclass", "mixins", "interfaces"],
        ..Types::NONE
    },
};
