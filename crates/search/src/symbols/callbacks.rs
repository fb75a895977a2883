//! Functions that are passed on: from where their parameters have their types, and what functions and types take.
//!
//! `app.get('/', (c) => …)` says nothing of `c`: what takes the function does, often in another file. So the place is
//! written down, and followed when somebody asks. `~1/0=app.get` is the first parameter of the function that is the second
//! argument of `app.get`; `~0/setup/0=define` is that of `setup` in an object that is the first argument; `~0:Handler`
//! is the first parameter of a function of a type that is written; `()` is what a function returns, `[]` an element. Behind
//! another colon stands what the call is given for type parameters, or what its value must be: `~0/0=define:Maker<A>`.

use tree_sitter::Node;

use super::text::{child, line_of, squeeze};
use super::walk::Walk;
use crate::symbols::Binding;

/// Types of functions and aliases are longer than others.
const TYPE_LENGTH: usize = 400;

/// How many nodes around a function are looked at.
const FURTHEST: usize = 24;

/// Types of the language and its library: no function of ours, and no object with one.
const OF_THE_LANGUAGE: &[&str] = &[
    "Array",
    "ArrayBuffer",
    "Date",
    "Error",
    "Exclude",
    "Extract",
    "Map",
    "Number",
    "Object",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "Uint8Array",
    "WeakMap",
    "WeakSet",
];

impl<'a> Walk<'a> {
    /// From where a parameter without a type has its own. `node` is the parameter, or the function when it has just one
    /// name.
    pub(super) fn handed(&self, node: Node<'a>) -> Option<String> {
        let mut around = self.around.iter().rev().map(|around| around.node).take(FURTHEST);
        let (index, function) = if node.kind() == "arrow_function" {
            (0, node)
        } else {
            let list = around.next().filter(|list| list.kind() == "formal_parameters")?;
            (place_in(list, node)?, around.next()?)
        };
        let mut path = vec![index.to_string()];
        if function.kind() == "method_definition" {
            path.push(self.key(function)?);
        } else if !is_expression(function) {
            return None;
        }
        self.origin(around, path, function)
    }

    /// From where a function in an object has its type: what the object is.
    pub(super) fn member_of(&mut self, node: Node<'a>, at: u32) {
        if !self.grammar.types.callbacks {
            return;
        }
        let from = match node.kind() {
            "pair" | "method_definition" => {
                let around = self.around.iter().rev().map(|around| around.node).take(FURTHEST);
                let in_object = self.around.last().is_some_and(|around| around.node.kind() == "object");
                in_object.then(|| self.origin(around, Vec::new(), node)).flatten()
            }
            // `it.inner.run = …`: what `it.inner` is.
            "assignment_expression" => child(node, "left/object")
                .and_then(|object| self.chain(self.source(object)))
                .filter(|object| !self.grammar.self_names.contains(&object.as_str()))
                .map(|object| format!("={object}")),
            _ => None,
        };
        if let Some(from) = from {
            let line = line_of(node.start_position().row);
            self.push_binding(Some(at), Binding::MEMBER_OF.to_owned(), from, line);
        }
    }

    /// From where something inside of expressions has its type. The path is read from its end.
    fn origin(
        &self,
        mut around: impl Iterator<Item = Node<'a>>,
        mut path: Vec<String>,
        from: Node<'a>,
    ) -> Option<String> {
        let mut inner = from;
        while let Some(outer) = around.next() {
            match outer.kind() {
                "parenthesized_expression" | "ternary_expression" | "binary_expression" | "object" => {}
                "pair" => path.push(self.key(outer)?),
                "array" => path.push("[]".to_owned()),
                "arguments" => {
                    let place = place_in(outer, inner)?;
                    path.push(place.to_string());
                    let call = around.next()?;
                    let callee = child(call, "function").or_else(|| child(call, "constructor"))?;
                    let chain = self.chain(self.source(callee))?;
                    let given = self.given_to(call, around.next());
                    return Some(format!("~{}={chain}{given}", joined(path)));
                }
                "variable_declarator"
                | "public_field_definition"
                | "required_parameter"
                | "optional_parameter" => return self.as_typed(child(outer, "type")?, path),
                "as_expression" | "satisfies_expression" => {
                    return self.as_typed(outer.named_child(1)?, path);
                }
                "arrow_function" => match child(outer, "return_type") {
                    Some(of) => return self.as_typed(of, path),
                    None => path.push("()".to_owned()),
                },
                "return_statement" => {
                    let maker = around.find(|node| {
                        is_expression(*node)
                            || matches!(node.kind(), "function_declaration" | "method_definition")
                    })?;
                    match child(maker, "return_type") {
                        Some(of) => return self.as_typed(of, path),
                        None if is_expression(maker) => {
                            path.push("()".to_owned());
                            inner = maker;
                            continue;
                        }
                        None => return None,
                    }
                }
                _ => return None,
            }
            inner = outer;
        }
        None
    }

    /// What a call says of the type parameters of what it calls: its own arguments, or the type that its value must have.
    fn given_to(&self, call: Node<'a>, outer: Option<Node<'a>>) -> String {
        let own = child(call, "type_arguments").map(|of| squeeze(self.source(of), TYPE_LENGTH));
        let wanted = || {
            let of = outer.filter(|outer| outer.kind() == "variable_declarator")?;
            let text = squeeze(self.source(child(of, "type")?), TYPE_LENGTH);
            let text = text.trim_start_matches(':').trim().to_owned();
            text.contains('<').then_some(text)
        };
        own.or_else(wanted).map(|given| format!(":{given}")).unwrap_or_default()
    }

    /// What takes the closure that the walk is in, as which argument.
    pub(super) fn closure_taker(&self) -> Option<(usize, String)> {
        let mut around = self.around.iter().rev().map(|around| around.node);
        let closure = around.next()?;
        let list = around.next().filter(|list| list.kind() == "arguments")?;
        let callee = child(around.next()?, "function")?;
        Some((place_in(list, closure)?, self.qualifier(callee)))
    }

    fn as_typed(&self, of: Node<'a>, path: Vec<String>) -> Option<String> {
        let text = squeeze(self.source(of), TYPE_LENGTH);
        let text = text.trim_start_matches(':').trim();
        (!text.is_empty()).then(|| format!("~{}:{text}", joined(path)))
    }

    /// The name of a pair or a method in an object.
    fn key(&self, node: Node<'a>) -> Option<String> {
        let key = child(node, "key").or_else(|| child(node, "name"))?;
        let text = self.source(key).trim_matches(['"', '\'']);
        let is_plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        is_plain.then(|| text.to_owned())
    }

    /// What a function's parameters take, where that can be a function or have one inside.
    pub(super) fn takes(&mut self, node: Node<'a>, at: u32) {
        if !self.grammar.types.callbacks {
            return;
        }
        let function = child(node, "value").or_else(|| child(node, "right")).unwrap_or(node);
        let Some(list) = child(function, "parameters") else { return };
        let mut cursor = list.walk();
        let mut takes_any = false;
        for (place, parameter) in parameters(list, &mut cursor).enumerate() {
            let Some(of) = child(parameter, "type") else { continue };
            let Some(written) = of.named_child(0).filter(|written| can_be_called(*written)) else { continue };
            let text = squeeze(self.source(written), TYPE_LENGTH);
            let head = text.split(['<', '[', '.']).next().unwrap_or_default();
            // One letter is a parameter of the function's own.
            if OF_THE_LANGUAGE.contains(&head) || text.len() < 2 {
                continue;
            }
            let is_rest = child(parameter, "pattern").is_some_and(|name| name.kind() == "rest_pattern");
            let name = if is_rest { format!("#{place}+") } else { format!("#{place}") };
            let line = line_of(parameter.start_position().row);
            self.push_binding(Some(at), name, text, line);
            takes_any = true;
        }
        if takes_any {
            self.type_parameters(function, at);
        }
    }

    /// What a base is given for its parameters.
    pub(super) fn arguments_of(&mut self, base: Node<'a>, arguments: Node<'a>) {
        let Some((at, _, _)) = self.open.last().filter(|_| self.grammar.types.callbacks) else { return };
        let at = *at;
        let name = self.source(base).rsplit('.').next().unwrap_or_default().to_owned();
        let text = squeeze(self.source(arguments), TYPE_LENGTH);
        let text = text.trim_start_matches('<').to_owned();
        let line = line_of(arguments.start_position().row);
        self.push_binding(Some(at), format!("<{name}"), text, line);
    }

    /// The parameters of a generic type, and what an alias stands for.
    pub(super) fn type_alias(&mut self, node: Node<'a>, at: u32) {
        if !self.grammar.types.callbacks {
            return;
        }
        self.type_parameters(node, at);
        if node.kind() != "type_alias_declaration" {
            return;
        }
        let Some(value) = child(node, "value").filter(|value| can_be_called(*value)) else { return };
        let text = squeeze(self.source(value), TYPE_LENGTH);
        let line = line_of(value.start_position().row);
        self.push_binding(Some(at), Binding::ALIASED.to_owned(), text, line);
    }
}

impl<'a> Walk<'a> {
    fn type_parameters(&mut self, node: Node<'a>, at: u32) {
        let Some(list) = child(node, "type_parameters") else { return };
        let mut cursor = list.walk();
        let names: Vec<&str> = list
            .named_children(&mut cursor)
            .filter_map(|parameter| child(parameter, "name"))
            .map(|name| self.source(name))
            .collect();
        let (line, names) = (line_of(list.start_position().row), names.join(","));
        self.push_binding(Some(at), Binding::PARAMETERS.to_owned(), names, line);
    }
}

/// The parameters of a list; `this` is none.
fn parameters<'t>(
    list: Node<'t>,
    cursor: &mut tree_sitter::TreeCursor<'t>,
) -> impl Iterator<Item = Node<'t>> + use<'t> {
    let all: Vec<Node<'t>> = list.named_children(cursor).collect();
    all.into_iter().filter(|node| {
        let is_this = child(*node, "pattern").is_some_and(|name| name.kind() == "this");
        node.kind() != "comment" && !is_this
    })
}

/// Which one of a list a node is.
fn place_in(list: Node<'_>, node: Node<'_>) -> Option<usize> {
    let mut cursor = list.walk();
    // Long lists are data, not arguments.
    parameters(list, &mut cursor).take(12).position(|other| other.id() == node.id())
}

fn joined(mut path: Vec<String>) -> String {
    path.reverse();
    path.join("/")
}

fn is_expression(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// Types that can be a function's, or those of an object with functions.
fn can_be_called(written: Node<'_>) -> bool {
    matches!(
        written.kind(),
        "function_type"
            | "parenthesized_type"
            | "union_type"
            | "intersection_type"
            | "generic_type"
            | "type_identifier"
            | "nested_type_identifier"
            | "array_type"
            | "readonly_type"
    )
}
