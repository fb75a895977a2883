//! Calls inside of macros: their arguments are tokens, not a tree, but a name before brackets is a call there too.

use tree_sitter::Node;

use super::SymbolKind;
use super::text::line_of;
use super::walk::Walk;
use crate::symbols::{Binding, Reference, Use, chain};

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

/// Words of C before brackets that call nothing.
const NO_CALLS: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "defined",
    "do",
    "else",
    "case",
    "typeof",
    "alignof",
    "_Alignof",
    "_Generic",
    "__attribute__",
    "__typeof__",
    "void",
    "char",
    "int",
    "long",
    "unsigned",
    "const",
    "decltype",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "noexcept",
    "catch",
    "asm",
    "__asm__",
];

impl<'a> Walk<'a> {
    /// Reads the body of a macro of C, which the grammar leaves as text: a name before brackets is called.
    pub(super) fn macro_body(&mut self, body: Node<'a>) {
        let Some((at, _, _)) = self.open.last() else { return };
        let from = Some(*at);
        if self.out.symbols[*at as usize].kind != SymbolKind::Macro {
            return;
        }
        let parameters = self
            .around
            .last()
            .and_then(|around| around.node.child_by_field_name("parameters"))
            .map(|list| {
                self.source(list).trim_matches(['(', ')']).split(',').map(str::trim).collect::<Vec<_>>()
            })
            .unwrap_or_default();
        let text = self.source(body);
        let bytes = text.as_bytes();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut line = line_of(body.start_position().row);
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' => line += 1,
                quote @ (b'"' | b'\'') => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let end = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + 2 + end + 2);
                    line += u32::try_from(text[at..end].matches('\n').count()).unwrap_or_default();
                    at = end;
                    continue;
                }
                byte if is_word(byte) => {
                    let start = at;
                    while at < bytes.len() && is_word(bytes[at]) {
                        at += 1;
                    }
                    let name = &text[start..at];
                    let is_called = text[at..].trim_start_matches([' ', '\t']).starts_with('(');
                    let is_name =
                        !byte.is_ascii_digit() && !NO_CALLS.contains(&name) && !parameters.contains(&name);
                    let before = text[..start].trim_end();
                    // What a field holds is called, or the name is glued together.
                    let is_plain = !before.ends_with(['.', '#']) && !before.ends_with("->");
                    if is_called && is_name && is_plain {
                        let qualifier = before.strip_suffix("::").map(|path| {
                            let first =
                                path.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
                            chain::written(&path[first.map_or(0, |at| at + 1)..])
                                .unwrap_or_else(|| "…".to_owned())
                        });
                        self.out.facts.references.push(Reference {
                            from,
                            name: name.to_owned(),
                            qualifier,
                            on_self: false,
                            line,
                            used: Use::Call,
                        });
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
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

/// Longer macros are programs.
const MACRO_LENGTH: usize = 10_000;

impl<'a> Walk<'a> {
    /// A macro of Rust that ends in a variable gives what the variable was first made of.
    pub(super) fn expands_to(&mut self, node: Node<'a>, at: u32) {
        let text = self.source(node);
        if text.len() > MACRO_LENGTH {
            return;
        }
        let made = text.split('}').find_map(|arm| {
            let name = arm.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
            let before = arm.trim_end().strip_suffix(name)?.trim_end();
            if name.is_empty() || !(before.is_empty() || before.ends_with(';')) {
                return None;
            }
            ["let ", "let mut "].iter().find_map(|word| {
                let made = text.split_once(&format!("{word}{name} = "))?.1.split(';').next()?;
                chain::written(made).filter(|chain| chain.starts_with("crate."))
            })
        });
        if let Some(made) = made {
            let line = line_of(node.start_position().row);
            self.push_binding(Some(at), Binding::RETURNED.to_owned(), format!("={made}"), line);
        }
    }
}
