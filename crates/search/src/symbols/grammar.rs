//! How a language is described: node kinds as data, and the lookup table the walk uses.

use std::sync::OnceLock;

use super::Import;
use super::SymbolKind;

/// Everything the walk must know about one tree-sitter grammar. One file in `languages/` each.
///
/// Fields are named as the grammar does; for children without one `text::child` has a few forms of its own.
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
    /// What is taken from declarations.
    pub(crate) types: Types,
}

/// Where a language says what names stand for.
pub(crate) struct Types {
    pub(crate) binds: &'static [Bind],
    /// Fields of a definition that hold what it returns.
    pub(crate) returns: &'static [&'static str],
    /// Statements whose value is returned, for functions that do not write it.
    pub(crate) returned: &'static [&'static str],
    /// Clauses that name what a type extends or implements.
    pub(crate) bases: &'static [&'static str],
    /// Fields of a type's definition that do.
    pub(crate) base_fields: &'static [&'static str],
    /// The node that names the file's package.
    pub(crate) package: &'static [&'static str],
    /// Nodes that give names on, with what reads their text.
    pub(crate) exports: Option<ImportRule>,
    /// Tokens of macros.
    pub(crate) tokens: &'static [&'static str],
    /// What a type that can be called takes and gives.
    pub(crate) signatures: &'static [&'static str],
    /// A function that is written as an argument has the types of its parameters from who takes it.
    pub(crate) callbacks: bool,
    /// Nodes around what is compiled in some configurations only.
    pub(crate) conditions: &'static [&'static str],
}

impl Types {
    pub(crate) const NONE: Self = Self {
        binds: &[],
        returns: &[],
        returned: &[],
        bases: &[],
        base_fields: &[],
        package: &[],
        exports: None,
        tokens: &[],
        signatures: &[],
        callbacks: false,
        conditions: &[],
    };
}

/// A declaration that binds names.
pub(crate) struct Bind {
    pub(crate) node: &'static str,
    /// The field with the name, the names, or the pattern.
    pub(crate) name: &'static str,
    pub(crate) of: Option<&'static str>,
    pub(crate) value: Option<&'static str>,
    /// The name is one element of the value: a loop.
    pub(crate) element: bool,
    /// It says what a name is that was declared without anything.
    pub(crate) late: bool,
}

/// A name with a type and perhaps a value.
pub(crate) const fn bind(
    node: &'static str,
    name: &'static str,
    of: &'static str,
    value: &'static str,
) -> Bind {
    Bind { node, name, of: Some(of), value: Some(value), element: false, late: false }
}

/// A name that gets its first value after its declaration.
pub(crate) const fn bind_late(node: &'static str, name: &'static str, value: &'static str) -> Bind {
    Bind { node, name, of: None, value: Some(value), element: false, late: true }
}

/// A name that runs over the elements of a value.
pub(crate) const fn bind_each(node: &'static str, name: &'static str, value: &'static str) -> Bind {
    Bind { node, name, of: None, value: Some(value), element: true, late: false }
}

pub(crate) struct Definition {
    pub(crate) node: &'static str,
    pub(crate) kind: SymbolKind,
    pub(crate) name: Name,
    /// A field that must be there and, when kinds are given, be one of them.
    pub(crate) only_if: Option<(&'static str, &'static [&'static str])>,
    /// Where the definition may stand.
    pub(crate) place: Place,
    /// Those of one name that follow each other are one: equations of a function, and the line with its type.
    pub(crate) clauses: bool,
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
    /// A path whose last part is the name, the rest its owner: Lua's `function M.run()`.
    Path(&'static str),
    /// The first child, when another child is one of these: Zig's `const T = struct {…}`.
    Holding(&'static [&'static str]),
    /// Ruby's `def self.x`, or a name that is a path: the text of the field.
    Text(&'static str),
    /// Elixir's way: a call of one of these words, whose first argument is the name or is called by it.
    Keyword(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    /// Not inside a function: locals are not symbols.
    OutsideFunctions,
    /// Not inside a function, and written in capitals.
    Capitals,
    /// Not inside a function, and given to others by the statement around it.
    Exported,
}

/// A definition by its `name` field, anywhere.
pub(crate) const fn define(node: &'static str, kind: SymbolKind) -> Definition {
    Definition {
        node,
        kind,
        name: Name::Field("name"),
        only_if: None,
        place: Place::Anywhere,
        clauses: false,
    }
}

/// A definition whose name is found in another way.
pub(crate) const fn define_by(node: &'static str, kind: SymbolKind, name: Name) -> Definition {
    Definition { node, kind, name, only_if: None, place: Place::Anywhere, clauses: false }
}

impl Definition {
    pub(crate) const fn only_if(self, field: &'static str, kinds: &'static [&'static str]) -> Self {
        Self { only_if: Some((field, kinds)), ..self }
    }

    pub(crate) const fn place(self, place: Place) -> Self {
        Self { place, ..self }
    }

    pub(crate) const fn clauses(self) -> Self {
        Self { clauses: true, ..self }
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
    /// The same, of a macro.
    Macro(&'static str),
    /// The call node itself has the object and the name.
    Parts { object: &'static str, name: &'static str },
    /// `new T(…)`: the field holds a type.
    Type(&'static str),
    /// `new T(…)` in a grammar without a field for it: the first named child.
    FirstChild,
    /// A JSX element: a component when its name starts with a capital.
    Component(&'static str),
    /// What stands beside one of these operators is called: `f $ x`, `x |> f`.
    Beside { operand: &'static str, operators: &'static [&'static str] },
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

/// What else a node says, besides its role.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aside {
    None,
    Bind(u16),
    Bases,
    Returned,
    Package,
    Export,
    Tokens,
    Signature,
}

/// A grammar with its roles looked up by node kind id.
pub(crate) struct Compiled {
    pub(crate) language: tree_sitter::Language,
    roles: Vec<(Role, Aside)>,
}

impl Compiled {
    pub(crate) fn role(&self, kind_id: u16) -> (Role, Aside) {
        self.roles.get(usize::from(kind_id)).copied().unwrap_or((Role::None, Aside::None))
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
                Some(kind) if language.node_kind_is_named(id) => {
                    (role_of(grammar, kind), aside_of(grammar, kind))
                }
                _ => (Role::None, Aside::None),
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

fn aside_of(grammar: &Grammar, kind: &str) -> Aside {
    let types = &grammar.types;
    if let Some(at) = types.binds.iter().position(|rule| rule.node == kind) {
        u16::try_from(at).map_or(Aside::None, Aside::Bind)
    } else if types.bases.contains(&kind) {
        Aside::Bases
    } else if types.returned.contains(&kind) {
        Aside::Returned
    } else if types.package.contains(&kind) {
        Aside::Package
    } else if types.exports.as_ref().is_some_and(|rule| rule.node == kind) {
        Aside::Export
    } else if types.tokens.contains(&kind) {
        Aside::Tokens
    } else if types.signatures.contains(&kind) {
        Aside::Signature
    } else {
        Aside::None
    }
}
