//! Calls inside of macros: their arguments are tokens, not a tree, but a name before brackets is a call there too.

use tree_sitter::Node;

use super::SymbolKind;
use super::text::line_of;
use super::walk::Walk;
use crate::symbols::{Reference, Use, chain};

impl<'a> Walk<'a> {
    /// Reads one level of tokens; the levels inside are visited by themselves.
    pub(super) fn tokens(&mut self, tree: Node<'a>) {
        let in_definition = self
            .open
            .last()
            .is_some_and(|(at, _, _)| self.out.symbols[*at as usize].kind == SymbolKind::Macro);
        if in_definition || tree.start_byte() < self.tokens_from {
            return;
        }
        let mut cursor = tree.walk();
        let tokens: Vec<Node<'a>> = tree.children(&mut cursor).collect();
        for (at, token) in tokens.iter().enumerate() {
            if token.kind() != "identifier" {
                continue;
            }
            let follows = |step: usize| tokens.get(at + step).map(|token| self.source(*token));
            let is_brackets = |text: Option<&str>| text.is_some_and(|text| text.starts_with(['(', '[', '{']));
            let used = match follows(1) {
                Some(text) if text.starts_with('(') => Use::Call,
                Some("!") if is_brackets(follows(2)) => Use::Macro,
                _ => continue,
            };
            if at > 0 && self.source(tokens[at - 1]) == "fn" {
                continue;
            }
            let first = chain_start(self, &tokens, at);
            let qualifier = (first < at).then(|| {
                let text = self.text.get(tokens[first].start_byte()..token.start_byte()).unwrap_or_default();
                chain::written(text).unwrap_or_else(|| "…".to_owned())
            });
            let from = self.open.last().map(|(at, _, _)| *at);
            let on_self =
                qualifier.as_deref().is_some_and(|object| self.grammar.self_names.contains(&object));
            self.out.facts.references.push(Reference {
                from,
                name: self.source(*token).to_owned(),
                qualifier,
                on_self,
                line: line_of(token.start_position().row),
                used,
            });
        }
    }
}

/// Where the chain begins that ends before the token at `at`.
fn chain_start(walk: &Walk<'_>, tokens: &[Node<'_>], at: usize) -> usize {
    let mut first = at;
    while first >= 2 && matches!(walk.source(tokens[first - 1]), "." | "::") {
        let mut before = first - 2;
        // Over brackets to the name that is called.
        while before > 0 && tokens[before].kind() == "token_tree" {
            before -= 1;
        }
        if !matches!(tokens[before].kind(), "identifier" | "self" | "crate" | "super" | "primitive_type") {
            break;
        }
        first = before;
    }
    first
}
