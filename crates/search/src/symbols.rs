//! What a file defines: functions, types and modules with their names, labels, spans and stable ids.
//!
//! `extract` reads one file with tree-sitter and also collects what it refers to (calls and imports), because both
//! come out of the same walk over the tree. `Language::of` says which language a path is written in.

mod bind;
mod callbacks;
mod called;
pub(crate) mod chain;
mod defined;
mod embedded;
mod facts;
pub(crate) mod grammar;
mod imports;
pub mod languages;
pub(crate) mod manifest;
mod references;
mod text;
mod tokens;
mod walk;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use facts::Facts;
pub use languages::Language;
pub use references::{Binding, Import, Reference, Use};
pub use walk::{Extracted, PARSE_BUDGET, extract};

/// Lines of a file, 1-based and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LineSpan {
    /// The first line, 1-based.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

impl LineSpan {
    /// Says whether the two spans share a line.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// Says whether `other` lies inside this span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// What sort of thing a symbol is. The discriminants are stored: append, never renumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum SymbolKind {
    /// A function that belongs to no type.
    Function = 0,
    /// A function that belongs to a type.
    Method = 1,
    /// A method that makes the type's values.
    Constructor = 2,
    /// A class.
    Class = 3,
    /// A struct, or a record.
    Struct = 4,
    /// A union.
    Union = 5,
    /// An enumeration.
    Enum = 6,
    /// An interface.
    Interface = 7,
    /// A trait.
    Trait = 8,
    /// Rust's `impl` block.
    Impl = 9,
    /// An alias of a type.
    Type = 10,
    /// A module.
    Module = 11,
    /// A namespace.
    Namespace = 12,
    /// A macro.
    Macro = 13,
    /// A constant or static at the top of a file or type.
    Constant = 14,
    /// A property with code of its own.
    Property = 15,
    /// A table or a view of a database.
    Table = 16,
    /// A rule of a style sheet.
    Rule = 17,
}

impl SymbolKind {
    const ALL: [Self; 18] = [
        Self::Function,
        Self::Method,
        Self::Constructor,
        Self::Class,
        Self::Struct,
        Self::Union,
        Self::Enum,
        Self::Interface,
        Self::Trait,
        Self::Impl,
        Self::Type,
        Self::Module,
        Self::Namespace,
        Self::Macro,
        Self::Constant,
        Self::Property,
        Self::Table,
        Self::Rule,
    ];

    /// The kind with this stored number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The word a label starts with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Type => "type",
            Self::Module => "module",
            Self::Namespace => "namespace",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Property => "property",
            Self::Table => "table",
            Self::Rule => "rule",
        }
    }

    /// Says whether a function inside this is a method of it.
    pub fn has_methods(self) -> bool {
        match self {
            Self::Class
            | Self::Struct
            | Self::Union
            | Self::Enum
            | Self::Interface
            | Self::Trait
            | Self::Impl => true,
            Self::Function
            | Self::Method
            | Self::Constructor
            | Self::Type
            | Self::Module
            | Self::Namespace
            | Self::Macro
            | Self::Constant
            | Self::Property
            | Self::Table
            | Self::Rule => false,
        }
    }

    /// Says whether this can be called.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Macro)
    }
}

/// One definition in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// `sym_` and 16 hex digits over path, kind, qualified name and ordinal: no line numbers, so that it survives
    /// edits above the definition.
    pub id: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Its own name, without what it lies in.
    pub name: String,
    /// The name with the scopes around it, joined with dots in every language: `Server.run`.
    pub qualified: String,
    /// What an outline shows: `function f(a, b)`, `class X`.
    pub label: String,
    /// Labels of the nearest enclosing scopes, outermost first, at most two.
    pub breadcrumbs: Vec<String>,
    /// Its definition, from the first line to the last.
    pub span: LineSpan,
    /// The enclosing definition, as a place in the same file's list.
    pub parent: Option<u32>,
}

/// The id of a definition. `ordinal` counts the earlier definitions of the same kind and qualified name in the file.
pub fn symbol_id(path: &str, kind: SymbolKind, qualified: &str, ordinal: u32) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [path, kind.as_str(), qualified] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(&ordinal.to_le_bytes());
    format!("sym_{}", &hasher.finalize().to_hex()[..16])
}

/// The symbol that stands for a whole file: calls outside of any definition come from it.
pub fn file_symbol(path: &str, lines: u32) -> Symbol {
    Symbol {
        id: symbol_id(path, SymbolKind::Module, "", 0),
        kind: SymbolKind::Module,
        name: String::new(),
        qualified: String::new(),
        label: format!("module {path}"),
        breadcrumbs: Vec::new(),
        span: LineSpan { start: 1, end: lines.max(1) },
        parent: None,
    }
}
