//! What a file says about other things: uses, imports and what names stand for, as they are written.

use serde::{Deserialize, Serialize};

/// How a definition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// It is called, or decorates something.
    Call,
    /// It is a macro, and is expanded.
    Macro,
    /// A type extends or implements it.
    Base,
}

/// A use of a definition in a file, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The definition it stands in, as a place in the file's symbols; none at the top level.
    pub from: Option<u32>,
    /// The last segment of what is called.
    pub name: String,
    /// What stands in front of the name, as a chain: `a.b()` of `a.b(1).name()`; `…` when it is none.
    pub qualifier: Option<String>,
    /// The qualifier is the object whose method this is (`self`, `this`).
    pub on_self: bool,
    /// The line of the name itself, 1-based.
    pub line: u32,
    /// In which way.
    pub used: Use,
}

/// What a name stands for: a variable, a parameter, a field, or what a function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The definition it belongs to, as a place in the file's symbols; none at the top level.
    pub scope: Option<u32>,
    /// The name; `()` for what a function returns, `#0` for what its first parameter takes when that can be a function,
    /// `#0+` when all arguments from there on are meant, `=` for what an alias of a type stands for.
    pub name: String,
    /// Its type as written, `=` and the chain that it is made by, or `~` and from where a parameter has its type
    /// (`symbols/callbacks.rs`).
    pub value: String,
    /// 1-based.
    pub line: u32,
    /// The last line where it is seen, for parameters of functions without a name: those are no scope of their own.
    pub until: Option<u32>,
}

impl Binding {
    /// The name of what a function returns.
    pub const RETURNED: &'static str = "()";
    /// The name of what an alias of a type stands for.
    pub const ALIASED: &'static str = "=";
    /// What the object is that a function is a member of.
    pub const MEMBER_OF: &'static str = "#of";
    /// What stands for a definition that some configurations have not.
    pub const CONDITION: &'static str = "#if";
    /// What stands for a definition that its file alone sees.
    pub const OF_FILE: &'static str = "#static";
    /// The name of a generic type's parameters, as they are called, with commas between. `<Base` has the arguments that a
    /// type gives one of its bases.
    pub const PARAMETERS: &'static str = "<>";
}

/// A name that a file takes from elsewhere, or gives on under another name.
///
/// An empty module is the file itself: `export default run` has the local name `default` and the name `run`.
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
