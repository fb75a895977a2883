//! One walk over a file's tree: what it defines, what it calls, what it imports.
//!
//! The walk holds its own stack, so that a file with a hundred thousand nested brackets costs memory, not the process.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

use super::grammar::{Aside, Compiled, Definition, Grammar, Name, Place, Role};
use super::text::{child, is_capitals, keyword_head, last_row, line_of};
use super::{Language, Symbol, SymbolKind, symbol_id};
use crate::symbols::{Facts, Import, chain};

/// How long one file may take to parse before it is split by lines instead.
pub const PARSE_BUDGET: Duration = Duration::from_secs(3);

const MAX_BREADCRUMBS: usize = 2;

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// In the order of the file; a parent comes before its children.
    pub symbols: Vec<Symbol>,
    /// What it says about other things, in the order of the file.
    pub facts: Facts,
}

/// Reads one file. `None` when the language has no grammar or the file did not parse within the budget.
pub fn extract(language: Language, path: &str, text: &str, budget: Duration) -> Option<Extracted> {
    let (grammar, compiled) = language.grammar()?;
    let scripts = language.is_page().then(|| super::embedded::scripts(text));
    let text = scripts.as_deref().unwrap_or(text);
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
        head: None,
        until: None,
    };
    walk.run(&mut tree.walk());
    walk.keep_used_bindings();
    // `f(f())` says one thing of its line.
    walk.out.facts.references.dedup();
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
pub(super) struct Around<'a> {
    /// Kept here since asking a node for its parent walks down from the root.
    pub(super) node: Node<'a>,
    pub(super) role: Role,
    pub(super) first_row: usize,
    pub(super) last_row: usize,
    pub(super) named_children: usize,
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
    pub(super) around: Vec<Around<'a>>,
    /// Tokens before this byte are those of an attribute.
    pub(super) tokens_from: usize,
    /// The node with a definition's name that looks like a call.
    pub(super) head: Option<usize>,
    /// The last line of what is bound now, when that is not its definition's.
    pub(super) until: Option<u32>,
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
                    node,
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
                let mut same = rules.iter().filter(|rule| rule.node == rules[0].node);
                if !same.any(|rule| self.define(node, rule)) {
                    // Where definitions are calls, most calls are none.
                    let calls = self.grammar.calls.iter().filter(|call| call.node == rules[0].node);
                    calls.for_each(|call| self.refer(node, call.callee));
                }
            }
            Role::Call(first) => {
                let calls = &self.grammar.calls[usize::from(first)..];
                for call in calls.iter().filter(|call| call.node == calls[0].node) {
                    self.refer(node, call.callee);
                }
            }
            Role::Import(first) => {
                let parse = self.grammar.imports[usize::from(first)].parse;
                let line = line_of(node.start_position().row);
                let imports = parse(self.source(node)).into_iter().map(|import| Import { line, ..import });
                self.out.facts.imports.extend(imports);
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
                if self.out.facts.package.is_none() {
                    self.out.facts.package = name.and_then(|name| chain::written(self.source(name)));
                }
            }
            Aside::Export => self.export(node),
            Aside::Tokens if node.kind() == "attribute_item" || node.kind() == "inner_attribute_item" => {
                self.tokens_from = node.end_byte();
            }
            Aside::Tokens if node.kind() == "preproc_arg" => self.macro_body(node),
            Aside::Tokens => self.tokens(node),
            Aside::Signature => {
                if let Some((at, _, _)) = self.open.last() {
                    let at = *at;
                    self.returns(node, at);
                    self.takes(node, at);
                }
            }
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
        self.out.facts.imports.extend((rule.parse)(text).into_iter().map(|import| Import { line, ..import }));
    }

    /// Adds the definition when the rule applies to the node.
    fn define(&mut self, node: Node<'a>, rule: &Definition) -> bool {
        if let Some((field, kinds)) = rule.only_if {
            match child(node, field) {
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
        let label = self.label(node, kind, &found);
        let span = self.span(node);
        if matches!(rule.name, Name::Keyword(_)) {
            self.head = keyword_head(node).map(|head| head.id());
        }
        if rule.clauses
            && let Some(at) = self.clause_before(parent, kind, &qualified)
        {
            let known = &mut self.out.symbols[at as usize];
            known.span.end = known.span.end.max(span.end);
            // The line with the type names no parameters.
            if known.label.ends_with("()") {
                known.label = label;
            }
            self.open.push((at, found.name, self.around.len()));
            return true;
        }
        let ordinal = self.ordinals.entry((kind, qualified.clone())).or_insert(0);
        let id = symbol_id(self.path, kind, &qualified, *ordinal);
        *ordinal += 1;

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
            span,
            parent,
        });
        if node.kind() == "macro_definition" {
            self.expands_to(node, at);
        }
        if kind.is_callable() {
            self.returns(node, at);
            self.takes(node, at);
            self.compiled_when(node, at);
            self.member_of(node, at);
        } else {
            self.type_alias(node, at);
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

    /// The definition right before, when it is of the same thing.
    fn clause_before(&self, parent: Option<u32>, kind: SymbolKind, qualified: &str) -> Option<u32> {
        // What lies between are definitions inside of it.
        let at = self.out.symbols.iter().rposition(|symbol| symbol.parent == parent)?;
        let before = &self.out.symbols[at];
        (before.kind == kind && before.qualified == qualified).then(|| u32::try_from(at).ok()).flatten()
    }

    /// An expression as a chain.
    pub(super) fn chain(&self, text: &str) -> Option<String> {
        chain::written_with(text, self.grammar.types.callbacks)
    }

    pub(super) fn source(&self, node: Node<'a>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}
