//! How a language is described: node kinds as data, and the lookup table the walk uses.

use std::sync::OnceLock;

use super::Import;
use super::SymbolKind;

/// Everything the walk must know about one tree-sitter grammar. One file in `languages/` each.
pub(crate) struct Grammar {
    pub(crate) language: fn() -> tree_sitter::Language,
    /// Rules for the same node are tried in order, the first that has a name wins.
    pub(crate) definitions: &'static [Definition],
    pub(crate) calls: &'static [Call],
    /// Nodes of the form "something of something": `a.b`, `a::b`.
    pub(crate) members: &'static [Member],
    /// Nodes that only wrap a callee, with the field to look into: `f::<T>` has `f` in `function`.
    pub(crate) unwrap: &'static [(&'static str, &'static str)],
    pub(crate) imports: &'static [ImportRule],
    /// Nodes around a definition whose lines belong to it: decorators, `export`, `template <…>`.
    pub(crate) wrappers: &'static [&'static str],
    /// The same, when the definition is the only thing inside: `type ( A … )` with one type.
    pub(crate) sole_wrappers: &'static [&'static str],
    /// What a method calls its own object.
    pub(crate) self_names: &'static [&'static str],
    /// Calls by these names import what their first argument names: `require`, `source`.
    pub(crate) import_calls: &'static [&'static str],
    /// A call is worth a note when it cannot be resolved. Not in shells, where each command is a call.
    pub(crate) note_unresolved: bool,
}

pub(crate) struct Definition {
    pub(crate) node: &'static str,
    pub(crate) kind: SymbolKind,
    pub(crate) name: Name,
    /// A field that must be there and, when kinds are given, be one of them.
    pub(crate) only_if: Option<(&'static str, &'static [&'static str])>,
    /// Where the definition may stand.
    pub(crate) place: Place,
}

/// Where to find the name of a definition.
#[derive(Clone, Copy)]
pub(crate) enum Name {
    Field(&'static str),
    /// C's way: follow `declarator` down to the identifier.
    Declarator,
    /// `impl Type` and `impl Trait for Type`: the scope is the type.
    Impl,
    /// Go's method: the receiver's type is the scope.
    Receiver,
    /// Ruby's `def self.x`, or a name that is a path: the text of the field.
    Text(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    /// Not inside a function: locals are not symbols.
    OutsideFunctions,
    /// Not inside a function, and written in capitals.
    Capitals,
}

/// A definition by its `name` field, anywhere.
pub(crate) const fn define(node: &'static str, kind: SymbolKind) -> Definition {
    Definition { node, kind, name: Name::Field("name"), only_if: None, place: Place::Anywhere }
}

/// A definition whose name is found in another way.
pub(crate) const fn define_by(node: &'static str, kind: SymbolKind, name: Name) -> Definition {
    Definition { node, kind, name, only_if: None, place: Place::Anywhere }
}

impl Definition {
    pub(crate) const fn only_if(self, field: &'static str, kinds: &'static [&'static str]) -> Self {
        Self { only_if: Some((field, kinds)), ..self }
    }

    pub(crate) const fn place(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

pub(crate) struct Call {
    pub(crate) node: &'static str,
    pub(crate) callee: Callee,
}

#[derive(Clone, Copy)]
pub(crate) enum Callee {
    /// The field holds an identifier or a member node.
    Field(&'static str),
    /// The call node itself has the object and the name.
    Parts { object: &'static str, name: &'static str },
    /// `new T(…)`: the field holds a type.
    Type(&'static str),
    /// `new T(…)` in a grammar without a field for it: the first named child.
    FirstChild,
    /// A JSX element: a component when its name starts with a capital.
    Component(&'static str),
}

pub(crate) const fn call(node: &'static str, callee: Callee) -> Call {
    Call { node, callee }
}

pub(crate) struct Member {
    pub(crate) node: &'static str,
    pub(crate) object: &'static str,
    pub(crate) name: &'static str,
}

pub(crate) const fn member(node: &'static str, object: &'static str, name: &'static str) -> Member {
    Member { node, object, name }
}

pub(crate) struct ImportRule {
    pub(crate) node: &'static str,
    /// Reads the statement's own text: import syntax is small and regular, its trees are neither.
    pub(crate) parse: fn(&str) -> Vec<Import>,
}

/// What the walk does at a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    None,
    Definition(u16),
    Call(u16),
    Import(u16),
    Wrapper,
    SoleWrapper,
}

/// A grammar with its roles looked up by node kind id.
pub(crate) struct Compiled {
    pub(crate) language: tree_sitter::Language,
    roles: Vec<Role>,
}

impl Compiled {
    pub(crate) fn role(&self, kind_id: u16) -> Role {
        self.roles.get(usize::from(kind_id)).copied().unwrap_or(Role::None)
    }
}

/// The compiled form of a grammar, made at its first use.
pub(crate) fn compile<'a>(grammar: &Grammar, slot: &'a OnceLock<Compiled>) -> &'a Compiled {
    slot.get_or_init(|| {
        let language = (grammar.language)();
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        // A node kind can have several ids (aliases), so that every id is asked for its name.
        let roles = (0..count)
            .map(|id| match language.node_kind_for_id(id) {
                Some(kind) if language.node_kind_is_named(id) => role_of(grammar, kind),
                _ => Role::None,
            })
            .collect();
        Compiled { language, roles }
    })
}

fn role_of(grammar: &Grammar, kind: &str) -> Role {
    let place = |position: Option<usize>| position.and_then(|at| u16::try_from(at).ok());
    if let Some(at) = place(grammar.definitions.iter().position(|rule| rule.node == kind)) {
        Role::Definition(at)
    } else if let Some(at) = place(grammar.calls.iter().position(|rule| rule.node == kind)) {
        Role::Call(at)
    } else if let Some(at) = place(grammar.imports.iter().position(|rule| rule.node == kind)) {
        Role::Import(at)
    } else if grammar.wrappers.contains(&kind) {
        Role::Wrapper
    } else if grammar.sole_wrappers.contains(&kind) {
        Role::SoleWrapper
    } else {
        Role::None
    }
}
