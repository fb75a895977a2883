//! What a definition is called, how it is shown, and which lines are its own.

use tree_sitter::Node;

use super::grammar::{Name, Role};
use super::text::{child, keyword_head, last_row, line_of, squeeze};
use super::walk::{Around, Walk};
use super::{LineSpan, SymbolKind};
use crate::symbols::Binding;

/// Parameters longer than this are cut in labels.
const LABEL_PARAMETERS: usize = 120;

impl<'a> Walk<'a> {
    /// Says whether the declaration that the walk is in is given to others.
    pub(super) fn is_exported(&self) -> bool {
        let around = self.around.len().checked_sub(2).and_then(|at| self.around.get(at));
        around.is_some_and(|around| around.role == Role::Wrapper)
    }

    /// The node's lines, with those of the wrappers right around it.
    pub(super) fn span(&self, node: Node<'a>) -> LineSpan {
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

    /// Writes down that a function is not in every configuration, or seen by its file alone.
    pub(super) fn compiled_when(&mut self, node: Node<'a>, at: u32) {
        let conditions = self.grammar.types.conditions;
        if conditions.is_empty() {
            return;
        }
        let line = line_of(node.start_position().row);
        let is_condition =
            |around: &Around<'a>| conditions.contains(&around.node.kind()) && !self.is_guard(around.node);
        if self.around.iter().any(is_condition) {
            self.push_binding(Some(at), Binding::CONDITION.to_owned(), "=".to_owned(), line);
        }
        if child(node, "#storage_class_specifier").is_some_and(|of| self.source(of) == "static") {
            self.push_binding(Some(at), Binding::OF_FILE.to_owned(), "=".to_owned(), line);
        }
    }

    /// `#ifndef A`, `#define A`: a header that is read once.
    fn is_guard(&self, condition: Node<'a>) -> bool {
        let name = condition.child_by_field_name("name").map(|name| self.source(name));
        let first = condition.named_child(1).filter(|first| first.kind() == "preproc_def");
        name.is_some()
            && first.and_then(|first| first.child_by_field_name("name")).map(|name| self.source(name)) == name
    }

    pub(super) fn label(&self, node: Node<'a>, kind: SymbolKind, found: &Found) -> String {
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
        let parameters = squeeze(self.parameters(function), LABEL_PARAMETERS);
        let parameters = parameters.strip_prefix('(').unwrap_or(&parameters);
        let parameters = parameters.strip_suffix(')').unwrap_or(parameters).trim();
        let is_async = [node, function].iter().any(|node| {
            let head = self.source(*node);
            let head = head.get(..head.find('(').unwrap_or(head.len()).min(120)).unwrap_or_default();
            head.split_whitespace().any(|word| word == "async")
        });
        format!("{}{word} {name}({parameters})", if is_async { "async " } else { "" })
    }

    /// The text of what a function takes, mostly in brackets.
    fn parameters(&self, function: Node<'a>) -> &'a str {
        const PATHS: [&str; 9] = [
            "parameters",
            "parameter",
            "#parameters",
            "#function_value_parameters",
            "#function_arguments",
            "signature/parameters",
            "signature/>/parameters",
            "#function_signature/parameters",
            "#constructor_signature/parameters",
        ];
        let listed = PATHS[..2]
            .iter()
            .find_map(|path| child(function, path))
            .or_else(|| declared_parameters(function))
            .or_else(|| PATHS[2..].iter().find_map(|path| child(function, path)))
            .or_else(|| {
                let is_call = function.kind() == "call";
                is_call.then(|| keyword_head(function).and_then(|head| child(head, "#arguments"))).flatten()
            })
            .or_else(|| function.child_by_field_name("patterns"));
        if let Some(listed) = listed {
            return self.source(listed);
        }
        // Without brackets of their own: from the first to the last.
        let mut cursor = function.walk();
        let mut each = function.named_children(&mut cursor).filter(|child| child.kind() == "parameter");
        let Some(first) = each.next() else { return "" };
        let last = each.last().unwrap_or(first);
        self.text.get(first.start_byte()..last.end_byte()).unwrap_or_default()
    }

    pub(super) fn name(&self, node: Node<'a>, name: Name) -> Option<Found> {
        match name {
            Name::Field(field) => {
                let name = child(node, field)?;
                // `{a, b} = …` and the like are patterns, not names.
                (name.named_child_count() == 0).then(|| Found::plain(self.source(name)))?
            }
            Name::Text(field) => Found::plain(&squeeze(self.source(child(node, field)?), 80)),
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
            Name::Keyword(words) => {
                let word = node.child_by_field_name("target")?;
                if !words.contains(&self.source(word)) {
                    return None;
                }
                let head = keyword_head(node)?;
                let name = head.child_by_field_name("target").unwrap_or(head);
                matches!(name.kind(), "identifier" | "alias").then(|| Found::plain(self.source(name)))?
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
}

/// A definition's name as the tree has it.
pub(super) struct Found {
    pub(super) name: String,
    /// The type it belongs to when that is written at the definition and not around it.
    pub(super) owner: Option<String>,
    /// What the label shows when that is not the name.
    pub(super) shown: Option<String>,
    /// What it adds to the qualified names inside of it, when that is not the name.
    pub(super) scope: Option<String>,
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
