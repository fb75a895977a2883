//! One walk over a file's tree: what it defines, what it calls, what it imports.
//!
//! The walk holds its own stack, so that a file with a hundred thousand nested brackets costs memory, not the process.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

use super::grammar::{Callee, Compiled, Definition, Grammar, Name, Place, Role};
use super::{Import, Reference};
use super::{Language, LineSpan, Symbol, SymbolKind, symbol_id};

/// How long one file may take to parse before it is split by lines instead.
pub const PARSE_BUDGET: Duration = Duration::from_secs(3);

/// Parameters longer than this are cut in labels.
const LABEL_PARAMETERS: usize = 120;
/// Text in front of a called name longer than this says nothing about its type.
const QUALIFIER_LENGTH: usize = 60;
const MAX_BREADCRUMBS: usize = 2;

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// In the order of the file; a parent comes before its children.
    pub symbols: Vec<Symbol>,
    /// Calls, in the order of the file.
    pub references: Vec<Reference>,
    /// Imports, in the order of the file.
    pub imports: Vec<Import>,
}

/// Reads one file. `None` when the language has no grammar or the file did not parse within the budget.
pub fn extract(language: Language, path: &str, text: &str, budget: Duration) -> Option<Extracted> {
    let (grammar, compiled) = language.grammar()?;
    let tree = parse(compiled, text, budget)?;
    let mut walk = Walk {
        grammar,
        compiled,
        text,
        path,
        out: Extracted::default(),
        open: Vec::new(),
        ordinals: HashMap::new(),
        around: Vec::new(),
    };
    walk.run(&mut tree.walk());
    Some(walk.out)
}

fn parse(compiled: &Compiled, text: &str, budget: Duration) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&compiled.language).ok()?;
    let deadline = Instant::now() + budget;
    let mut late = |_: &tree_sitter::ParseState| {
        if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut late)))
}

/// A node that the walk is inside of.
struct Around {
    role: Role,
    first_row: usize,
    last_row: usize,
    named_children: usize,
}

struct Walk<'a> {
    grammar: &'static Grammar,
    compiled: &'static Compiled,
    text: &'a str,
    path: &'a str,
    out: Extracted,
    /// Definitions the walk is inside of: place in `out.symbols`, scope name, depth of the node.
    open: Vec<(u32, String, usize)>,
    ordinals: HashMap<(SymbolKind, String), u32>,
    around: Vec<Around>,
}

impl<'a> Walk<'a> {
    fn run(&mut self, cursor: &mut TreeCursor<'a>) {
        loop {
            let node = cursor.node();
            let role = if node.is_named() { self.compiled.role(node.kind_id()) } else { Role::None };
            self.visit(node, role);
            if cursor.goto_first_child() {
                let wraps = matches!(role, Role::Wrapper | Role::SoleWrapper);
                self.around.push(Around {
                    role,
                    first_row: node.start_position().row,
                    last_row: last_row(node),
                    named_children: if wraps { node.named_child_count() } else { 0 },
                });
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.around.pop();
                let depth = self.around.len();
                while self.open.last().is_some_and(|(_, _, opened)| *opened >= depth) {
                    self.open.pop();
                }
            }
            let depth = self.around.len();
            while self.open.last().is_some_and(|(_, _, opened)| *opened >= depth) {
                self.open.pop();
            }
        }
    }

    fn visit(&mut self, node: Node<'a>, role: Role) {
        match role {
            Role::Definition(first) => {
                let rules = &self.grammar.definitions[usize::from(first)..];
                for rule in rules.iter().filter(|rule| rule.node == rules[0].node) {
                    if self.define(node, rule) {
                        break;
                    }
                }
            }
            Role::Call(first) => {
                let callee = self.grammar.calls[usize::from(first)].callee;
                self.refer(node, callee);
            }
            Role::Import(first) => {
                let parse = self.grammar.imports[usize::from(first)].parse;
                let line = line_of(node.start_position().row);
                let imports = parse(self.source(node)).into_iter().map(|import| Import { line, ..import });
                self.out.imports.extend(imports);
            }
            Role::None | Role::Wrapper | Role::SoleWrapper => {}
        }
    }

    /// Adds the definition when the rule applies to the node.
    fn define(&mut self, node: Node<'a>, rule: &Definition) -> bool {
        if let Some((field, kinds)) = rule.only_if {
            match node.child_by_field_name(field) {
                Some(value) if kinds.is_empty() || kinds.contains(&value.kind()) => {}
                _ => return false,
            }
        }
        let parent = self.open.last().map(|(at, _, _)| *at);
        let parent_kind = parent.map(|at| self.out.symbols[at as usize].kind);
        if rule.place != Place::Anywhere && parent_kind.is_some_and(SymbolKind::is_callable) {
            return false;
        }
        let Some(found) = self.name(node, rule.name) else { return false };
        if rule.place == Place::Capitals && !is_capitals(&found.name) {
            return false;
        }

        let kind = match (rule.kind, parent_kind) {
            (SymbolKind::Function, _) if found.owner.is_some() => SymbolKind::Method,
            (SymbolKind::Function, Some(around)) if around.has_methods() => SymbolKind::Method,
            (kind, _) => kind,
        };
        let mut parts: Vec<&str> = self.open.iter().map(|(_, scope, _)| scope.as_str()).collect();
        parts.extend(found.owner.as_deref());
        parts.push(&found.name);
        let qualified = parts.join(".").replace("::", ".");
        let ordinal = self.ordinals.entry((kind, qualified.clone())).or_insert(0);
        let id = symbol_id(self.path, kind, &qualified, *ordinal);
        *ordinal += 1;

        let label = self.label(node, kind, &found);
        let skip = self.open.len().saturating_sub(MAX_BREADCRUMBS);
        let breadcrumbs =
            self.open[skip..].iter().map(|(at, _, _)| self.out.symbols[*at as usize].label.clone()).collect();
        let at = u32::try_from(self.out.symbols.len()).unwrap_or(u32::MAX);
        self.open.push((at, found.scope.unwrap_or_else(|| found.name.clone()), self.around.len()));
        self.out.symbols.push(Symbol {
            id,
            kind,
            name: found.name,
            qualified,
            label,
            breadcrumbs,
            span: self.span(node),
            parent,
        });
        true
    }

    /// The node's lines, with those of the wrappers right around it.
    fn span(&self, node: Node<'a>) -> LineSpan {
        let (mut first, mut last) = (node.start_position().row, last_row(node));
        for around in self.around.iter().rev() {
            match around.role {
                Role::Wrapper => {}
                Role::SoleWrapper if around.named_children == 1 => {}
                _ => break,
            }
            first = first.min(around.first_row);
            last = last.max(around.last_row);
        }
        LineSpan { start: line_of(first), end: line_of(last) }
    }

    fn label(&self, node: Node<'a>, kind: SymbolKind, found: &Found) -> String {
        let word = kind.as_str();
        let name = found.shown.as_deref().unwrap_or(&found.name);
        if !matches!(
            kind,
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Macro
        ) {
            return format!("{word} {name}");
        }
        let function =
            node.child_by_field_name("value").or_else(|| node.child_by_field_name("right")).unwrap_or(node);
        let parameters = function
            .child_by_field_name("parameters")
            .or_else(|| function.child_by_field_name("parameter"))
            .or_else(|| declared_parameters(function))
            .map(|parameters| squeeze(self.source(parameters), LABEL_PARAMETERS))
            .unwrap_or_default();
        let parameters = parameters.strip_prefix('(').unwrap_or(&parameters);
        let parameters = parameters.strip_suffix(')').unwrap_or(parameters).trim();
        let is_async = [node, function].iter().any(|node| {
            let head = self.source(*node);
            let head = head.get(..head.find('(').unwrap_or(head.len()).min(120)).unwrap_or_default();
            head.split_whitespace().any(|word| word == "async")
        });
        format!("{}{word} {name}({parameters})", if is_async { "async " } else { "" })
    }

    fn name(&self, node: Node<'a>, name: Name) -> Option<Found> {
        match name {
            Name::Field(field) => {
                let name = node.child_by_field_name(field)?;
                // `{a, b} = …` and the like are patterns, not names.
                (name.named_child_count() == 0).then(|| Found::plain(self.source(name)))?
            }
            Name::Text(field) => Found::plain(&squeeze(self.source(node.child_by_field_name(field)?), 80)),
            Name::Declarator => self.declared_name(node),
            Name::Impl => {
                let owner = squeeze(self.source(node.child_by_field_name("type")?), 80);
                let scope = owner.split('<').next().unwrap_or(&owner).trim().to_owned();
                let shown = match node.child_by_field_name("trait") {
                    Some(of) => format!("{} for {owner}", squeeze(self.source(of), 80)),
                    None => owner,
                };
                Some(Found { name: scope.clone(), owner: None, shown: Some(shown), scope: Some(scope) })
            }
            Name::Receiver => {
                let receiver = self.source(node.child_by_field_name("receiver")?);
                let owner = receiver.trim_matches(|c| c == '(' || c == ')').split_whitespace().last()?;
                let owner = owner.trim_start_matches('*').split('[').next().unwrap_or_default();
                let mut found = Found::plain(self.source(node.child_by_field_name("name")?))?;
                found.owner = (!owner.is_empty()).then(|| owner.to_owned());
                Some(found)
            }
        }
    }

    /// C and C++: `int *(*f(int a))(void)` is `f`; `void Server::run()` is `run` of `Server`.
    fn declared_name(&self, node: Node<'a>) -> Option<Found> {
        let mut at = node.child_by_field_name("declarator")?;
        while let Some(inner) = at.child_by_field_name("declarator").or_else(|| {
            (at.kind() == "reference_declarator" || at.kind() == "parenthesized_declarator")
                .then(|| at.named_child(0))
                .flatten()
        }) {
            at = inner;
        }
        let text = squeeze(self.source(at), 80);
        match text.rsplit_once("::") {
            Some((owner, name)) if !name.is_empty() => {
                let mut found = Found::plain(name)?;
                found.owner = (!owner.is_empty()).then(|| owner.to_owned());
                Some(found)
            }
            _ => Found::plain(&text),
        }
    }

    fn refer(&mut self, node: Node<'a>, callee: Callee) {
        let target = match callee {
            Callee::Field(field) | Callee::Type(field) => {
                node.child_by_field_name(field).and_then(|target| self.target(target))
            }
            Callee::FirstChild => node.named_child(0).and_then(|target| self.target(target)),
            Callee::Parts { object, name } => node.child_by_field_name(name).and_then(|name| {
                let qualifier = node.child_by_field_name(object).map(|object| self.qualifier(object));
                plain_name(self.source(name)).map(|name| (name, qualifier))
            }),
            Callee::Component(field) => node
                .child_by_field_name(field)
                .and_then(|target| self.target(target))
                .filter(|(name, _)| name.chars().next().is_some_and(char::is_uppercase)),
        };
        let Some((name, qualifier)) = target else { return };
        let line = line_of(node.start_position().row);
        if qualifier.is_none() && self.grammar.import_calls.contains(&name.as_str()) {
            if let Some(module) = first_string(self.source(node), &name) {
                self.out.imports.push(Import { local: String::new(), module, name: None, line });
            }
            return;
        }
        let from = self.open.last().map(|(at, _, _)| *at);
        let on_self = qualifier.as_deref().is_some_and(|object| self.grammar.self_names.contains(&object));
        self.out.references.push(Reference { from, name, qualifier, on_self, line });
    }

    /// The name a callee ends in and what stands in front of it.
    fn target(&self, node: Node<'a>) -> Option<(String, Option<String>)> {
        let mut node = node;
        // Wrappers nest a few deep at most; the limit holds for input made to hurt.
        for _ in 0..8 {
            let Some((_, field)) = self.grammar.unwrap.iter().find(|(kind, _)| *kind == node.kind()) else {
                break;
            };
            node = node.child_by_field_name(field)?;
        }
        if let Some(member) = self.grammar.members.iter().find(|member| member.node == node.kind()) {
            let name = node.child_by_field_name(member.name)?;
            let qualifier = node.child_by_field_name(member.object).map(|object| self.qualifier(object));
            // `a::f::<T>` keeps its wrapper inside the name.
            let (name, inner) = match self.grammar.unwrap.iter().any(|(kind, _)| *kind == name.kind()) {
                true => self.target(name)?,
                false => match self.grammar.members.iter().any(|member| member.node == name.kind()) {
                    true => self.target(name)?,
                    false => (plain_name(self.source(name))?, None),
                },
            };
            return Some((name, inner.or(qualifier)));
        }
        plain_name(self.source(node)).map(|name| (name, None))
    }

    fn qualifier(&self, node: Node<'a>) -> String {
        let text = self.source(node);
        if text.len() > QUALIFIER_LENGTH || text.contains('\n') { "…".to_owned() } else { text.to_owned() }
    }

    fn source(&self, node: Node<'a>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// A definition's name as the tree has it.
struct Found {
    name: String,
    /// The type it belongs to when that is written at the definition and not around it.
    owner: Option<String>,
    /// What the label shows when that is not the name.
    shown: Option<String>,
    /// What it adds to the qualified names inside of it, when that is not the name.
    scope: Option<String>,
}

impl Found {
    fn plain(name: &str) -> Option<Self> {
        let name = name.trim().trim_matches(|c| c == '"' || c == '\'');
        (!name.is_empty()).then(|| Self { name: name.to_owned(), owner: None, shown: None, scope: None })
    }
}

fn declared_parameters(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    loop {
        if let Some(parameters) = at.child_by_field_name("parameters") {
            return Some(parameters);
        }
        at = at.child_by_field_name("declarator").or_else(|| at.named_child(0))?;
    }
}

/// The called name without type arguments, when it is a name at all.
fn plain_name(text: &str) -> Option<String> {
    let name = text.split('<').next().unwrap_or(text).trim();
    let name = name.rsplit(['.', '\\', ':']).next().unwrap_or(name);
    let is_name = !name.is_empty()
        && name.len() <= 120
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '!' | '?' | '-' | '#' | '@' | '='))
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    // A dot command of the shell is a name too.
    (is_name || text == ".").then(|| if text == "." { text.to_owned() } else { name.to_owned() })
}

/// The first argument of a call when it is a literal: `require('x')`, `source lib.sh`.
fn first_string(call: &str, name: &str) -> Option<String> {
    let arguments = call.get(call.find(name)? + name.len()..)?;
    let arguments = arguments.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let word: String = match arguments.chars().next()? {
        quote @ ('"' | '\'' | '`') => arguments[1..].chars().take_while(|c| *c != quote).collect(),
        _ => arguments.chars().take_while(|c| !c.is_whitespace() && *c != ')' && *c != ';').collect(),
    };
    (!word.is_empty() && !word.contains('$')).then_some(word)
}

fn is_capitals(name: &str) -> bool {
    name.len() > 1
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// One line without runs of blanks, cut at a number of characters.
fn squeeze(text: &str, limit: usize) -> String {
    // Whatever is cut away need not be looked at: a name can be a megabyte long.
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > limit * 4 {
            break;
        }
    }
    match out.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &out[..at]),
        None => out,
    }
}

/// The last row with text of the node: a node that ends with a newline ends before the row it opens.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 { end.row.saturating_sub(1).max(node.start_position().row) } else { end.row }
}

fn line_of(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}
