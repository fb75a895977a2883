//! What names stand for: variables, parameters, fields and results, with their types as written or how they are made.
//!
//! Nothing is decided here. A binding is kept when the file uses its name in front of a call, so that a file's list is
//! about as long as its list of calls.

use std::collections::HashSet;

use tree_sitter::Node;

use super::grammar::Bind;
use super::text::{child, last_row, line_of, squeeze};
use super::walk::Walk;
use crate::symbols::{Binding, Reference, SymbolKind, Use};

/// A longer type says nothing that inference could use.
const TYPE_LENGTH: usize = 120;

impl<'a> Walk<'a> {
    /// Adds what a node binds.
    pub(super) fn bind(&mut self, node: Node<'a>, rule: &Bind) {
        // A parameter of a function without a name is seen inside of it alone.
        let function = match node.kind() {
            "arrow_function" | "match_arm" => Some(node),
            "closure_parameters" => self.around.last().map(|around| around.node),
            "required_parameter" | "optional_parameter" | "parameter_declaration" | "parameter" => {
                self.around.iter().rev().nth(1).map(|around| around.node)
            }
            _ => None,
        };
        self.until = function
            .filter(|node| {
                matches!(
                    node.kind(),
                    "arrow_function"
                        | "function_expression"
                        | "func_literal"
                        | "closure_expression"
                        | "match_arm"
                )
            })
            .map(|node| line_of(last_row(node)));
        self.bind_in(node, rule);
        self.until = None;
    }

    fn bind_in(&mut self, node: Node<'a>, rule: &Bind) {
        // What a type says of its parameters is nothing of the names around.
        let is_of_a_type = matches!(node.kind(), "required_parameter" | "optional_parameter")
            && self.around.iter().rev().nth(1).is_some_and(|around| {
                matches!(
                    around.node.kind(),
                    "function_type" | "call_signature" | "construct_signature" | "constructor_type"
                )
            });
        if is_of_a_type {
            return;
        }
        if node.kind() == "parameters" {
            let mut cursor = node.walk();
            let names: Vec<Node<'a>> =
                node.named_children(&mut cursor).filter(|name| name.kind() == "identifier").collect();
            names.into_iter().for_each(|name| self.bind_name(name, "=", node));
            return;
        }
        if rule.late && !self.waits_for_value(child(node, rule.name)) {
            return;
        }
        match node.kind() {
            "closure_parameters" => return self.closure(node),
            "match_arm" => return self.arm(node),
            _ => {}
        }
        let typed = rule.of.and_then(|field| child(node, field));
        let value = rule
            .value
            .and_then(|field| child(node, field))
            .or_else(|| (node.kind() == "as_pattern").then(|| node.named_child(0)).flatten());
        let name = child(node, rule.name)
            .or_else(|| (node.kind() == "typed_parameter").then(|| node.named_child(0)).flatten());
        let Some(name) = name else {
            self.embedded(node, typed);
            return;
        };
        let mut cursor = node.walk();
        // `a, b int`: the field comes several times.
        let repeated: Vec<Node<'a>> =
            node.children_by_field_name(rule.name, &mut cursor).filter(|name| name.is_named()).collect();
        let names = if repeated.len() > 1 { repeated } else { parts(name) };
        let values = value.map(parts).unwrap_or_default();
        for (at, name) in names.iter().enumerate() {
            let made = match values.as_slice() {
                // Of a key and a value the value is the element; Go's single name is the key.
                [one] if rule.element => {
                    let is_element =
                        at + 1 == names.len() && (names.len() > 1 || node.kind() != "range_clause");
                    is_element.then_some(*one)
                }
                values if values.len() == names.len() => Some(values[at]),
                [one] if at == 0 => Some(*one),
                _ => None,
            };
            let value = match (typed, made) {
                (Some(typed), _) => squeeze(self.source(typed), TYPE_LENGTH),
                (None, Some(made)) => match self.made_by(made) {
                    Some(chain) if rule.element => format!("={chain}[]"),
                    Some(chain) => format!("={chain}"),
                    None => "=".to_owned(),
                },
                (None, None) if self.grammar.types.callbacks => {
                    self.handed(node).unwrap_or_else(|| "=".to_owned())
                }
                // A name without a type still hides what has its name outside.
                (None, None) => "=".to_owned(),
            };
            self.bind_name(*name, &value, node);
        }
    }

    /// Says whether a name was declared last without a type and a value: `let x;`.
    fn waits_for_value(&self, name: Option<Node<'a>>) -> bool {
        let Some(name) = name.filter(|name| name.kind() == "identifier").map(|name| self.source(name)) else {
            return false;
        };
        let scope = self.open.last().map(|(at, _, _)| *at);
        let bindings = self.out.facts.bindings.iter().rev().take_while(|known| known.scope == scope);
        bindings.take(64).find(|known| known.name == name).is_some_and(|known| known.value == "=")
    }

    /// Parameters of a Rust closure: what takes it says what they are.
    fn closure(&mut self, list: Node<'a>) {
        let taker = self.closure_taker();
        let mut cursor = list.walk();
        let names: Vec<Node<'a>> = list.named_children(&mut cursor).collect();
        for (place, name) in names.into_iter().enumerate() {
            let value = match &taker {
                Some((argument, chain)) => format!("~{argument}/{place}={chain}"),
                None => "=".to_owned(),
            };
            self.bind_name(name, &value, list);
        }
    }

    /// A pattern of a `match`: what is inside of the value.
    fn arm(&mut self, arm: Node<'a>) {
        let Some(pattern) = child(arm, "pattern").and_then(|pattern| pattern.named_child(0)) else { return };
        if pattern.kind() != "tuple_struct_pattern" {
            return;
        }
        let value = self.around.iter().rev().nth(1).and_then(|around| child(around.node, "value"));
        if let Some(chain) = value.and_then(|value| self.made_by(value)) {
            self.bind_name(pattern, &format!("={chain}"), arm);
        }
    }

    /// The chain that a value is made by.
    fn made_by(&self, value: Node<'a>) -> Option<String> {
        if value.byte_range().len() > 2000 {
            return None;
        }
        match value.kind() {
            // `x.(T)`, `x as T`: the type is written.
            "type_assertion_expression"
            | "as_expression"
            | "type_cast_expression"
            | "satisfies_expression" => {
                let of = value.child_by_field_name("type").or_else(|| {
                    u32::try_from(value.named_child_count())
                        .ok()
                        .and_then(|count| value.named_child(count.checked_sub(1)?))
                })?;
                self.chain(self.source(of)).map(|chain| chain + "()")
            }
            _ => self.chain(self.source(value)),
        }
    }

    fn bind_name(&mut self, name: Node<'a>, value: &str, node: Node<'a>) {
        let scope = self.open.last().map(|(at, _, _)| *at);
        let line = line_of(name.start_position().row);
        match name.kind() {
            "identifier"
            | "field_identifier"
            | "property_identifier"
            | "type_identifier"
            | "variable_name"
            | "simple_identifier"
            | "private_property_identifier"
            | "shorthand_property_identifier_pattern"
            | "constant" => {
                let name = self.source(name);
                let name = if self.grammar.types.callbacks { name } else { name.trim_start_matches('$') };
                let name = name.to_owned();
                let is_property = (0..node.child_count().min(4))
                    .filter_map(|at| node.child(at))
                    .any(|child| matches!(child.kind(), "accessibility_modifier" | "visibility_modifier"))
                    && matches!(node.kind(), "required_parameter" | "property_promotion_parameter");
                if is_property && let Some(class) = self.class_around() {
                    self.push_binding(Some(class), name.clone(), value.to_owned(), line);
                }
                self.push_binding(scope, name, value.to_owned(), line);
            }
            "mut_pattern"
            | "reference_pattern"
            | "ref_pattern"
            | "as_pattern_target"
            | "pointer_declarator"
            | "reference_declarator"
            | "rest_pattern"
            | "init_declarator"
            | "array_declarator"
            | "variable_declarator" => {
                let inner = name
                    .child_by_field_name("declarator")
                    .or_else(|| name.child_by_field_name("name"))
                    .or_else(|| {
                        name.named_child(u32::try_from(name.named_child_count()).ok()?.checked_sub(1)?)
                    });
                if let Some(inner) = inner {
                    let made = name.child_by_field_name("value").and_then(|made| self.made_by(made));
                    let value = match made {
                        Some(made) if matches!(value, "auto" | "var" | "=") => format!("={made}"),
                        _ => value.to_owned(),
                    };
                    self.bind_name(inner, &value, node);
                }
            }
            // Kotlin's `val a: T = …`, Swift's `let a: T = …`.
            "variable_declaration" | "pattern" => {
                let of = child(name, "#user_type").map(|of| squeeze(self.source(of), TYPE_LENGTH));
                if let Some(inner) = child(name, "#identifier").or_else(|| child(name, "#simple_identifier"))
                {
                    self.bind_name(inner, of.as_deref().unwrap_or(value), node);
                }
            }
            // `Some(x)`: what is inside of it.
            "tuple_struct_pattern" if name.named_child_count() == 2 && value.starts_with('=') => {
                if let Some(inner) = name.named_child(1) {
                    self.bind_name(inner, &format!("{value}.?"), node);
                }
            }
            // Of an index or a key and a value the value; of two things put together none.
            "tuple_pattern" if value.starts_with(['=', '~']) && !value.contains(".zip") => {
                let mut cursor = name.walk();
                let parts: Vec<Node<'a>> = name.named_children(&mut cursor).collect();
                for (place, part) in parts.iter().enumerate() {
                    self.bind_name(*part, if place + 1 == parts.len() { value } else { "=" }, node);
                }
            }
            // `[key, value]` of a loop.
            "array_pattern" if value.starts_with('=') && value.ends_with("[]") => {
                let mut cursor = name.walk();
                let parts: Vec<Node<'a>> = name.named_children(&mut cursor).collect();
                parts.into_iter().for_each(|part| self.bind_name(part, value, node));
            }
            // `self.x = …`: a field of the type around.
            "attribute" | "member_expression" | "instance_variable" => {
                let text = self.source(name);
                let field = match text.split_once('.') {
                    Some((object, field)) if self.grammar.self_names.contains(&object) => field,
                    None if text.starts_with('@') => text,
                    _ => return,
                };
                if !field.contains('.')
                    && let Some(class) = self.class_around()
                {
                    self.push_binding(Some(class), field.to_owned(), value.to_owned(), line);
                }
            }
            // `({a, b}: Options) => …`: fields of something that has no name of its own.
            "object_pattern" if value.len() > 1 && !value.starts_with('=') => {
                let at = name.start_position();
                let unnamed = format!("{{{}_{}", at.row + 1, at.column);
                self.push_binding(scope, unnamed.clone(), value.to_owned(), line);
                self.bind_name(name, &format!("={unnamed}"), node);
            }
            // `const {a, b: c} = value`.
            "object_pattern" if value.starts_with('=') && value.len() > 1 => {
                let mut cursor = name.walk();
                for part in name.named_children(&mut cursor) {
                    let (field, local) =
                        match (part.child_by_field_name("key"), part.child_by_field_name("value")) {
                            (Some(key), Some(local)) => (self.source(key), local),
                            _ => (self.source(part), part),
                        };
                    // `{ a = 1 }`: what it is when nobody gives one.
                    let (field, local) = match local.kind() {
                        "object_assignment_pattern" | "assignment_pattern" => {
                            match local.child_by_field_name("left") {
                                Some(left) if local == part => (self.source(left), left),
                                Some(left) => (field, left),
                                None => (field, local),
                            }
                        }
                        _ => (field, local),
                    };
                    if local.named_child_count() == 0 && !field.is_empty() {
                        let line = line_of(local.start_position().row);
                        let local = self.source(local).to_owned();
                        self.push_binding(scope, local, format!("{value}.{field}"), line);
                    }
                }
            }
            _ => {}
        }
    }

    /// The nearest type that the walk is inside of.
    fn class_around(&self) -> Option<u32> {
        let is_type = |at: &u32| self.out.symbols[*at as usize].kind.has_methods();
        self.open.iter().rev().map(|(at, _, _)| *at).find(is_type)
    }

    /// A field without a name: the type is embedded, its methods are this type's.
    fn embedded(&mut self, node: Node<'a>, typed: Option<Node<'a>>) {
        if let Some(of) = typed.or_else(|| node.named_child(0))
            && node.kind() == "field_declaration"
        {
            self.base(of);
        }
    }

    pub(super) fn push_binding(&mut self, scope: Option<u32>, name: String, value: String, line: u32) {
        if name != "_" && name.len() <= 80 {
            // What has no name is asked for from its own line.
            let until = self.until.filter(|_| !name.starts_with('{'));
            self.out.facts.bindings.push(Binding { scope, name, value, line, until });
        }
    }

    /// What a definition returns, when that is written.
    pub(super) fn returns(&mut self, node: Node<'a>, at: u32) {
        let function =
            node.child_by_field_name("value").or_else(|| node.child_by_field_name("right")).unwrap_or(node);
        let of = self.grammar.types.returns.iter().find_map(|field| child(function, field));
        let Some(of) = of else {
            // `() => x.y()` returns what it is made of.
            let body = child(function, "body")
                .filter(|body| function.kind() == "arrow_function" && body.kind() != "statement_block");
            if let Some(made) = body.and_then(|body| self.made_by(body)) {
                let line = line_of(function.start_position().row);
                self.push_binding(Some(at), Binding::RETURNED.to_owned(), format!("={made}"), line);
            }
            return;
        };
        let text = squeeze(self.source(of), TYPE_LENGTH);
        let line = line_of(of.start_position().row);
        if !text.is_empty() && text != "void" && text != "()" {
            self.push_binding(Some(at), Binding::RETURNED.to_owned(), text, line);
        }
    }

    /// The value of a return statement, for functions that do not say what they return.
    pub(super) fn returned(&mut self, node: Node<'a>) {
        let Some((at, _, _)) = self.open.last() else { return };
        let at = *at;
        if !self.out.symbols[at as usize].kind.is_callable() {
            return;
        }
        let Some(value) = node.named_child(0) else { return };
        if let Some(chain) = self.made_by(value) {
            let line = line_of(node.start_position().row);
            self.push_binding(Some(at), Binding::RETURNED.to_owned(), format!("={chain}"), line);
        }
    }

    /// Everything that a clause names is a base of the type around.
    pub(super) fn bases(&mut self, clause: Node<'a>) {
        let mut cursor = clause.walk();
        let children: Vec<Node<'a>> = clause.named_children(&mut cursor).collect();
        for (place, child) in children.iter().copied().enumerate() {
            let of = match place.checked_sub(1).map(|before| children[before]) {
                Some(base) if child.kind() == "type_arguments" => Some((base, child)),
                _ => child.child_by_field_name("name").zip(child.child_by_field_name("type_arguments")),
            };
            if let Some((base, arguments)) = of {
                self.arguments_of(base, arguments);
            }
            match child.kind() {
                "type_list" | "extends_clause" | "implements_clause" => self.bases(child),
                "keyword_argument" | "type_arguments" | "arguments" | "lifetime" | "access_specifier" => {}
                _ => self.base(child),
            }
        }
    }

    /// One base of the type around.
    pub(super) fn base(&mut self, node: Node<'a>) {
        let Some((from, _, _)) = self.open.last() else { return };
        let from = Some(*from);
        let text = self.source(node);
        let text = text.split(['<', '[', '(', '{']).next().unwrap_or(text).trim().trim_start_matches('*');
        let Some(path) = self.chain(text) else { return };
        let (qualifier, name) = match path.rsplit_once('.') {
            Some((qualifier, name)) => (Some(qualifier.to_owned()), name.to_owned()),
            None => (None, path),
        };
        let line = line_of(node.start_position().row);
        self.out.facts.references.push(Reference {
            from,
            name,
            qualifier,
            on_self: false,
            line,
            used: Use::Base,
        });
    }

    /// Leaves the bindings that something in the file can ask for.
    pub(super) fn keep_used_bindings(&mut self) {
        let mut heads: HashSet<String> = HashSet::new();
        let head = |chain: &str| chain.split(['.', '(', '[', ':']).next().unwrap_or_default().to_owned();
        for reference in &self.out.facts.references {
            match &reference.qualifier {
                Some(chain) => heads.insert(head(chain)),
                None => heads.insert(reference.name.clone()),
            };
        }
        for binding in &self.out.facts.bindings {
            if let Some(chain) = binding.value.strip_prefix('=') {
                heads.insert(head(chain));
            } else if let Some((_, chain)) =
                binding.value.strip_prefix('~').and_then(|handed| handed.split_once('='))
            {
                heads.insert(head(chain));
            }
        }
        let symbols = &self.out.symbols;
        let mut returned: HashSet<u32> = HashSet::new();
        self.out.facts.bindings.retain(|binding| {
            let kind = binding.scope.map(|at| symbols[at as usize].kind);
            if binding.name == Binding::RETURNED {
                // What is written comes first; else the first return statement counts.
                return binding.scope.is_some_and(|at| returned.insert(at));
            }
            // What a definition takes and stands for is asked from outside.
            if binding.name.starts_with(['#', '<']) || binding.name == Binding::ALIASED {
                return true;
            }
            match kind {
                // Others can ask for fields and for what stands at the top of the file.
                None => binding.value != "=",
                Some(kind) if kind.has_methods() || kind == SymbolKind::Type => binding.value != "=",
                Some(_) if binding.value.starts_with("extends ") => true,
                Some(_) => heads.contains(&binding.name),
            }
        });
    }
}

/// The parts of a list, or the node itself.
fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    if !matches!(node.kind(), "expression_list" | "pattern_list" | "tuple_pattern" | "left_assignment_list") {
        return vec![node];
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}
