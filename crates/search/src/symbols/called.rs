//! What is called, and calls that import.

use tree_sitter::Node;

use super::grammar::Callee;
use super::text::{child, first_string, line_of, plain_name};
use super::walk::Walk;
use crate::symbols::{Import, Reference, Use};

/// Text in front of a called name longer than this is not looked at: each call of a chain would read it again.
const QUALIFIER_LENGTH: usize = 2000;

impl<'a> Walk<'a> {
    pub(super) fn refer(&mut self, node: Node<'a>, callee: Callee) {
        if self.head == Some(node.id()) {
            return;
        }
        let target = match callee {
            Callee::Field(field) | Callee::Type(field) | Callee::Macro(field) => {
                child(node, field).and_then(|target| self.target(target))
            }
            Callee::Beside { operand, operators } => node
                .child_by_field_name("operator")
                .filter(|operator| operators.contains(&self.source(*operator)))
                .and_then(|_| self.target(node.child_by_field_name(operand)?)),
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
        self.out.facts.references.push(Reference { from, name, qualifier, on_self, line, used });
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
                    self.out.facts.imports.push(import(local, Some(key)));
                }
            }
            Some(pattern) => self.out.facts.imports.push(import(self.source(pattern), None)),
            None => self.out.facts.imports.push(import("", None)),
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
            node = child(node, field)?;
        }
        let row = node.start_position().row;
        if let Some(member) = self.grammar.members.iter().find(|member| member.node == node.kind()) {
            let name = child(node, member.name)?;
            let object = child(node, member.object);
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

    pub(super) fn qualifier(&self, node: Node<'a>) -> String {
        let text = self.source(node);
        if text.len() > QUALIFIER_LENGTH {
            return "…".to_owned();
        }
        self.chain(text).unwrap_or_else(|| "…".to_owned())
    }
}

/// What is called.
struct Target {
    name: String,
    qualifier: Option<String>,
    /// Where the name itself stands: a chain begins lines above it.
    row: usize,
}
