//! What a file says about other things: calls and imports, as they are written.

use serde::{Deserialize, Serialize};

/// A call in a file, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The definition it stands in, as a place in the file's symbols; none at the top level.
    pub from: Option<u32>,
    /// The last segment of what is called.
    pub name: String,
    /// What stands in front of the name: `a.b` of `a.b.name()`.
    pub qualifier: Option<String>,
    /// The qualifier is the object whose method this is (`self`, `this`).
    pub on_self: bool,
    /// 1-based.
    pub line: u32,
}

/// A name that a file takes from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// What the file calls it; empty when the import binds no name (`import "x"`, `#include`), `*` when it binds all.
    pub local: String,
    /// Where it comes from, as written.
    pub module: String,
    /// What it is called there, when that is a name inside the module.
    pub name: Option<String>,
    /// 1-based.
    pub line: u32,
}
