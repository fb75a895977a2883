//! One walk over a file's tree: what it defines, what it calls, what it imports.
//!
//! The walk holds its own stack, so that a file with a hundred thousand nested brackets costs memory, not the process.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

use super::grammar::{Aside, Callee, Compiled, Definition, Grammar, Name, Place, Role};
use super::text::{first_string, is_capitals, last_row, line_of, plain_name, squeeze};
use super::{Language, LineSpan, Symbol, SymbolKind, symbol_id};
use crate::symbols::{Binding, Import, Reference, Use, chain};

/// How long one file may take to parse before it is split by lines instead.
pub const PARSE_BUDGET: Duration = Duration::from_secs(3);

/// Parameters longer than this are cut in labels.
const LABEL_PARAMETERS: usize = 120;
/// Text in front of a called name longer than this is not looked at: each call of a chain would read it again.
const QUALIFIER_LENGTH: usize = 2000;
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
    /// What names stand for, in the order of the file.
    pub bindings: Vec<Binding>,
    /// The package that the file says it belongs to.
    pub package: Option<String>,
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
        tokens_from: 0,
    };
    walk.run(&mut tree.walk());
    walk.keep_used_bindings();
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

pub(super) struct Walk<'a> {
    pub(super) grammar: &'static Grammar,
    compiled: &'static Compiled,
    pub(super) text: &'a str,
    path: &'a str,
    pub(super) out: Extracted,
    /// Definitions the walk is inside of: place in `out.symbols`, scope name, depth of the node.
    pub(super) open: Vec<(u32, String, usize)>,
    ordinals: HashMap<(SymbolKind, String), u32>,
    around: Vec<Around>,
    /// Tokens before this byte are those of an attribute.
    pub(super) tokens_from: usize,
}

impl<'a> Walk<'a> {
    fn run(&mut self, cursor: &mut TreeCursor<'a>) {
        loop {
            let node = cursor.node();
            let (role, aside) =
                if node.is_named() { self.compiled.role(node.kind_id()) } else { (Role::None, Aside::None) };
            self.look_aside(node, aside);
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

    /// Takes what a node says besides its role. Comes first: a definition's own name is bound outside of it.
    fn look_aside(&mut self, node: Node<'a>, aside: Aside) {
        match aside {
            Aside::None => {}
            Aside::Bind(at) => self.bind(node, &self.grammar.types.binds[usize::from(at)]),
            Aside::Bases => self.bases(node),
            Aside::Returned => self.returned(node),
            Aside::Package => {
                let name = node.child_by_field_name("name").or_else(|| node.named_child(0));
                if self.out.package.is_none() {
                    self.out.package = name.and_then(|name| chain::written(self.source(name)));
                }
            }
            Aside::Export => self.export(node),
            Aside::Tokens if node.kind() == "attribute_item" || node.kind() == "inner_attribute_item" => {
                self.tokens_from = node.end_byte();
            }
            Aside::Tokens => self.tokens(node),
        }
    }

    fn export(&mut self, node: Node<'a>) {
        let Some(rule) = &self.grammar.types.exports else { return };
        // Of a whole class only the head is of interest.
        let text = self.source(node);
        let end = if node.child_by_field_name("declaration").is_some() {
            text.find(['{', '(', '=', ';']).unwrap_or(text.len())
        } else {
            text.len().min(20_000)
        };
        let line = line_of(node.start_position().row);
        let text = text.get(..end).unwrap_or_default();
        self.out.imports.extend((rule.parse)(text).into_iter().map(|import| Import { line, ..import }));
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
        match rule.place {
            Place::Capitals if !is_capitals(&found.name) => return false,
            Place::Exported if !self.is_exported() => return false,
            _ => {}
        }
        // Where a macro confuses the grammar, statements look like definitions.
        if rule.kind.is_callable()
            && matches!(found.name.as_str(), "if" | "while" | "switch" | "else" | "for" | "return")
        {
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
        if kind.is_callable() {
            self.returns(node, at);
        } else {
            for field in self.grammar.types.base_fields {
                match node.child_by_field_name(field) {
                    Some(clause) if matches!(clause.kind(), "argument_list" | "trait_bounds") => {
                        self.bases(clause)
                    }
                    Some(base) => self.base(base),
                    None => {}
                }
            }
        }
        true
    }

    /// Says whether the declaration that the walk is in is given to others.
    fn is_exported(&self) -> bool {
        let around = self.around.len().checked_sub(2).and_then(|at| self.around.get(at));
        around.is_some_and(|around| around.role == Role::Wrapper)
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
        // A method is shown with its type: several of a file can have its name.
        let owner = match (kind, &found.owner) {
            (SymbolKind::Method | SymbolKind::Constructor, Some(owner)) => Some(owner.as_str()),
            (SymbolKind::Method | SymbolKind::Constructor, None) => self
                .open
                .last()
                .filter(|(at, _, _)| self.out.symbols[*at as usize].kind.has_methods())
                .map(|(_, scope, _)| scope.as_str()),
            _ => None,
        };
        let shown = owner.map(|owner| format!("{}.{name}", owner.rsplit("::").next().unwrap_or(owner)));
        let name = shown.as_deref().unwrap_or(name);
        if !matches!(
            kind,
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Macro
        ) {
            return format!("{word} {name}");
        }
        if node.kind() == "preproc_def" {
            return format!("{word} {name}");
        }
        // A macro's value is not what has its parameters.
        let function = match kind {
            SymbolKind::Macro => node,
            _ => ["value", "right", "rhs"]
                .iter()
                .find_map(|field| node.child_by_field_name(field))
                .unwrap_or(node),
        };
        let parameters = function
            .child_by_field_name("parameters")
            .or_else(|| function.child_by_field_name("parameter"))
            .or_else(|| declared_parameters(function))
            .or_else(|| {
                let mut cursor = function.walk();
                function.named_children(&mut cursor).find(|child| child.kind() == "parameters")
            })
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
            Name::Path(field) => {
                let text = squeeze(self.source(node.child_by_field_name(field)?), 80);
                let (owner, name) = match text.rsplit_once(['.', ':']) {
                    Some((owner, name)) => (Some(owner.replace(':', ".")), name),
                    None => (None, text.as_str()),
                };
                Some(Found { owner, ..Found::plain(name)? })
            }
            Name::Holding(kinds) => {
                let mut cursor = node.walk();
                let held = kinds.is_empty()
                    || node.named_children(&mut cursor).any(|child| kinds.contains(&child.kind()));
                let name = node.named_child(0).filter(|name| held && name.kind() == "identifier")?;
                Found::plain(self.source(name))
            }
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
            Callee::Field(field) | Callee::Type(field) | Callee::Macro(field) => {
                node.child_by_field_name(field).and_then(|target| self.target(target))
            }
            Callee::FirstChild => node.named_child(0).and_then(|target| self.target(target)),
            Callee::Parts { object, name } => node.child_by_field_name(name).and_then(|name| {
                let qualifier = node.child_by_field_name(object).map(|object| self.qualifier(object));
                plain_name(self.source(name)).map(|text| Target {
                    name: text,
                    qualifier,
                    row: name.start_position().row,
                })
            }),
            Callee::Component(field) => node
                .child_by_field_name(field)
                .and_then(|target| self.target(target))
                .filter(|target| target.name.chars().next().is_some_and(char::is_uppercase)),
        };
        let Some(Target { name, qualifier, row }) = target else { return };
        let line = line_of(row);
        if qualifier.is_none() && self.grammar.import_calls.contains(&name.as_str()) {
            if let Some(module) = first_string(self.source(node), &name) {
                self.import_call(node, module, line);
            }
            return;
        }
        let from = self.open.last().map(|(at, _, _)| *at);
        let on_self = qualifier.as_deref().is_some_and(|object| self.grammar.self_names.contains(&object));
        let used = if matches!(callee, Callee::Macro(_)) { Use::Macro } else { Use::Call };
        self.out.references.push(Reference { from, name, qualifier, on_self, line, used });
    }

    /// `const a = require('m')` and `const {a, b: c} = require('m')`.
    fn import_call(&mut self, call: Node<'a>, module: String, line: u32) {
        let pattern = call
            .parent()
            .filter(|parent| parent.kind() == "variable_declarator")
            .and_then(|parent| parent.child_by_field_name("name"));
        let import = |local: &str, name: Option<&str>| Import {
            local: local.to_owned(),
            module: module.clone(),
            name: name.map(str::to_owned),
            line,
        };
        match pattern {
            Some(pattern) if pattern.kind() == "object_pattern" => {
                let mut cursor = pattern.walk();
                for part in pattern.named_children(&mut cursor) {
                    let key = part
                        .child_by_field_name("key")
                        .map_or_else(|| self.source(part), |key| self.source(key));
                    let local = part.child_by_field_name("value").map_or(key, |value| self.source(value));
                    self.out.imports.push(import(local, Some(key)));
                }
            }
            Some(pattern) => self.out.imports.push(import(self.source(pattern), None)),
            None => self.out.imports.push(import("", None)),
        }
    }

    /// The name a callee ends in and what stands in front of it.
    fn target(&self, node: Node<'a>) -> Option<Target> {
        let mut node = node;
        // Wrappers nest a few deep at most; the limit holds for input made to hurt.
        for _ in 0..8 {
            let Some((_, field)) = self.grammar.unwrap.iter().find(|(kind, _)| *kind == node.kind()) else {
                break;
            };
            node = node.child_by_field_name(field)?;
        }
        let row = node.start_position().row;
        if let Some(member) = self.grammar.members.iter().find(|member| member.node == node.kind()) {
            let name = node.child_by_field_name(member.name)?;
            let object = node.child_by_field_name(member.object);
            // `a::f::<T>` keeps its wrapper inside the name.
            let is_wrapped = self.grammar.unwrap.iter().any(|(kind, _)| *kind == name.kind())
                || self.grammar.members.iter().any(|member| member.node == name.kind());
            let mut target = match is_wrapped {
                true => self.target(name)?,
                false => {
                    let row = name.start_position().row;
                    Target { name: plain_name(self.source(name))?, qualifier: None, row }
                }
            };
            if let Some(object) = object {
                let outer = self.qualifier(object);
                target.qualifier = Some(match target.qualifier {
                    Some(inner) => format!("{outer}.{inner}"),
                    None => outer,
                });
            }
            return Some(target);
        }
        plain_name(self.source(node)).map(|name| Target { name, qualifier: None, row })
    }

    fn qualifier(&self, node: Node<'a>) -> String {
        let text = self.source(node);
        if text.len() > QUALIFIER_LENGTH {
            return "…".to_owned();
        }
        chain::written(text).unwrap_or_else(|| "…".to_owned())
    }

    pub(super) fn source(&self, node: Node<'a>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// What is called.
struct Target {
    name: String,
    qualifier: Option<String>,
    /// Where the name itself stands: a chain begins lines above it.
    row: usize,
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
