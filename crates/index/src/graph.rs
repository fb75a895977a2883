//! Who calls whom: references and imports of each file, resolved when asked.
//!
//! A file's own facts are stored with it and never depend on another file, so that a change touches one file's facts
//! and nothing is rebuilt. Which definition a name means is decided at the query, over names, scopes and imports, with
//! a confidence that says how it was decided.

pub(crate) mod facts;
pub(crate) mod imports;
mod modules;
pub(crate) mod resolve;
mod traverse;

use serde::{Deserialize, Serialize};

pub use traverse::{Direction, Neighbourhood, traverse};

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
