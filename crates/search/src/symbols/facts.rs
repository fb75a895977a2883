//! A file's references and imports, and how a store keeps them: one text, one fact a line.
//!
//! There are several hundred thousand in a large repository, so that a JSON object each would be most of the index.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Binding, Import, Reference, Use};

/// What is kept of a file for the graph. Serialised as its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Facts {
    /// Uses of definitions, in the order of the file; one of the same name from the same definition once per line.
    pub references: Vec<Reference>,
    /// What it takes from elsewhere or gives on.
    pub imports: Vec<Import>,
    /// What names stand for.
    pub bindings: Vec<Binding>,
    /// The package that the file says it belongs to, or that it describes when it is a manifest.
    pub package: Option<String>,
}

impl From<Facts> for String {
    fn from(facts: Facts) -> Self {
        facts.to_text()
    }
}

impl From<String> for Facts {
    fn from(text: String) -> Self {
        Self::from_text(&text)
    }
}

impl Facts {
    /// Writes the facts down.
    pub fn to_text(&self) -> String {
        encode(self)
    }

    /// Reads facts back; what is not a fact is left out.
    pub fn from_text(text: &str) -> Self {
        decode(text)
    }
}

fn encode(facts: &Facts) -> String {
    let mut text = String::with_capacity(facts.references.len() * 24);
    for reference in &facts.references {
        let kind = match reference.used {
            Use::Call if reference.on_self => 's',
            Use::Call => 'c',
            Use::Macro => 'm',
            Use::Base => 'b',
        };
        let from = reference.from.map(|at| at.to_string()).unwrap_or_default();
        let qualifier = clean(reference.qualifier.as_deref().unwrap_or_default());
        let name = clean(&reference.name);
        // Writing to a String cannot fail.
        let _ok = writeln!(text, "{kind}\t{}\t{from}\t{name}\t{qualifier}", reference.line).is_ok();
    }
    for import in &facts.imports {
        let (local, module) = (clean(&import.local), clean(&import.module));
        let name = clean(import.name.as_deref().unwrap_or_default());
        let _ok = writeln!(text, "i\t{}\t{local}\t{module}\t{name}", import.line).is_ok();
    }
    for binding in &facts.bindings {
        let scope = binding.scope.map(|at| at.to_string()).unwrap_or_default();
        let (name, value) = (clean(&binding.name), clean(&binding.value));
        let until = binding.until.map(|line| format!("\t{line}")).unwrap_or_default();
        let _ok = writeln!(text, "t\t{}\t{scope}\t{name}\t{value}{until}", binding.line).is_ok();
    }
    if let Some(package) = &facts.package {
        let _ok = writeln!(text, "p\t0\t{}\t\t", clean(package)).is_ok();
    }
    text
}

fn decode(text: &str) -> Facts {
    let mut facts = Facts::default();
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (Some(kind), Some(number), Some(a), Some(b), Some(c)) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Ok(line) = number.parse() else { continue };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        match kind {
            "s" | "c" | "m" | "b" => facts.references.push(Reference {
                from: a.parse().ok(),
                name: b.to_owned(),
                qualifier: some(c),
                on_self: kind == "s",
                line,
                used: match kind {
                    "m" => Use::Macro,
                    "b" => Use::Base,
                    _ => Use::Call,
                },
            }),
            "t" => facts.bindings.push(Binding {
                scope: a.parse().ok(),
                name: b.to_owned(),
                value: c.to_owned(),
                line,
                until: parts.next().and_then(|line| line.parse().ok()),
            }),
            "p" => facts.package = some(a),
            "i" => {
                facts.imports.push(Import { local: a.to_owned(), module: b.to_owned(), name: some(c), line })
            }
            _ => {}
        }
    }
    facts
}

/// Tabs and line ends would tear a fact apart.
fn clean(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\t', '\n', '\r']) { text.replace(['\t', '\n', '\r'], " ").into() } else { text.into() }
}
