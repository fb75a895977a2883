//! Java.

use crate::symbols::SymbolKind::{Class, Constructor, Enum, Interface, Method};
use crate::symbols::grammar::{Callee, Grammar, ImportRule, call, define, member};
use crate::symbols::imports;

pub(super) static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_java::LANGUAGE.into(),
    definitions: &[
        define("class_declaration", Class),
        define("record_declaration", Class),
        define("interface_declaration", Interface),
        define("annotation_type_declaration", Interface),
        define("enum_declaration", Enum),
        define("method_declaration", Method),
        define("constructor_declaration", Constructor),
        define("compact_constructor_declaration", Constructor),
    ],
    calls: &[
        call("method_invocation", Callee::Parts { object: "object", name: "name" }),
        call("object_creation_expression", Callee::Type("type")),
    ],
    members: &[member("field_access", "object", "field"), member("method_reference", "object", "name")],
    unwrap: &[],
    imports: &[ImportRule { node: "import_declaration", parse: imports::java }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "super"],
    import_calls: &[],
    note_unresolved: true,
};
