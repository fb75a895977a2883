//! Java.

use crate::symbols::SymbolKind::{Class, Constant, Constructor, Enum, Interface, Method};
use crate::symbols::grammar::{Callee, Grammar, ImportRule, Place, Types, bind, call, define, member};
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
        define("variable_declarator", Constant).place(Place::Capitals),
        define("constructor_declaration", Constructor),
        define("compact_constructor_declaration", Constructor),
    ],
    calls: &[
        call("method_invocation", Callee::Parts { object: "object", name: "name" }),
        call("object_creation_expression", Callee::Type("type")),
        call("marker_annotation", Callee::Field("name")),
        call("annotation", Callee::Field("name")),
    ],
    members: &[member("field_access", "object", "field"), member("method_reference", "object", "name")],
    unwrap: &[],
    imports: &[ImportRule { node: "import_declaration", parse: imports::java }],
    wrappers: &[],
    sole_wrappers: &[],
    self_names: &["this", "super"],
    import_calls: &[],
    note_unresolved: true,
    types: Types {
        binds: &[
            bind("formal_parameter", "name", "type", "value"),
            bind("local_variable_declaration", "declarator", "type", "value"),
            bind("field_declaration", "declarator", "type", "value"),
            bind("enhanced_for_statement", "name", "type", "missing"),
            bind("resource", "name", "type", "value"),
            bind("catch_formal_parameter", "name", "type", "value"),
        ],
        returns: &["type"],
        bases: &["superclass", "super_interfaces", "extends_interfaces"],
        package: &["package_declaration"],
        ..Types::NONE
    },
};
