//! Checks the text of a config file against the JSON Schema of [`super::Config`], and says where it is wrong.
//!
//! Serde alone stops at the first unknown key and knows no lines; this walk finds them all, with the line and the
//! nearest known key.

use std::path::Path;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest;

/// One thing that is wrong in a config file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// Lower case, names the key.
    pub message: String,
}

impl Problem {
    /// Returns the problem with its place, as an editor would open it: `config.toml:3: …`.
    pub fn at(&self, file: &Path) -> String {
        format!("{}:{}: {}", file.display(), self.line, self.message)
    }
}

/// Returns what is wrong in `text`, in the order of its lines; nothing when all is well.
pub(super) fn check(text: &str, schema: &Value) -> Vec<Problem> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut walk = Walk { text, definitions: schema.get("$defs"), problems: Vec::new() };
    for error in &errors {
        let start = error.span().map_or(0, |span| span.start);
        walk.report(start, format!("not valid TOML: {}", error.message().replace('\n', " ")));
    }
    // What follows a syntax error is guesswork, and a guess would only hide the first problem.
    if errors.is_empty() {
        walk.table(root.get_ref(), schema, "");
    }
    walk.problems.sort_by_key(|problem| problem.line);
    walk.problems
}

struct Walk<'a> {
    text: &'a str,
    definitions: Option<&'a Value>,
    problems: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn report(&mut self, offset: usize, message: String) {
        let line = self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
        self.problems.push(Problem { line, message });
    }

    fn table(&mut self, table: &DeTable<'_>, schema: &'a Value, prefix: &str) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(name) {
                let offset = table.keys().map(|key| key.span().start).min().unwrap_or(0);
                self.report(offset, format!("`{}` is missing", join(prefix, name)));
            }
        }
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let path = join(prefix, name);
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                self.value(value, schema, &path);
            } else {
                match schema.get("additionalProperties") {
                    Some(Value::Bool(false)) => {
                        let hint =
                            nearest(name, properties.into_iter().flat_map(Map::keys).map(String::as_str))
                                .map_or_else(String::new, |near| {
                                    format!(", did you mean `{}`?", join(prefix, near))
                                });
                        self.report(key.span().start, format!("unknown key `{path}`{hint}"));
                    }
                    Some(schema @ Value::Object(_)) => self.value(value, schema, &path),
                    _ => {}
                }
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &'a Value, path: &str) {
        let alternatives = self.alternatives(schema);
        // The alternative of the value's own kind is the one the user meant; its inner errors are the useful ones.
        let fitting = alternatives.iter().find(|schema| kind_fits(value.get_ref(), schema));
        let Some(schema) = fitting else {
            let wanted: Vec<String> =
                alternatives.iter().flat_map(|schema| wanted(schema)).filter(|word| word != "null").collect();
            let found = value.get_ref().type_str();
            self.report(
                value.span().start,
                format!("`{path}` must be {}, not {} {found}", wanted.join(" or "), article(found)),
            );
            return;
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                if let Some(schema) = self.variant(value, table, &alternatives, path) {
                    self.table(table, schema, path);
                }
            }
            DeValue::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    for (index, item) in items.iter().enumerate() {
                        self.value(item, schema, &format!("{path}[{index}]"));
                    }
                }
            }
            DeValue::String(text) => self.word(value.span().start, text, &alternatives, path),
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix()).ok();
                let limit = |name: &str| schema.get(name).and_then(Value::as_f64).map(|limit| limit as i64);
                let (low, high) = (limit("minimum"), limit("maximum"));
                let inside = number.is_some_and(|number| {
                    low.is_none_or(|low| number >= low) && high.is_none_or(|high| number <= high)
                });
                if !inside {
                    let range = match (low, high) {
                        (Some(low), Some(high)) => format!("between {low} and {high}"),
                        (Some(low), None) => format!("{low} or more"),
                        _ => "a smaller number".to_owned(),
                    };
                    self.report(value.span().start, format!("`{path}` must be {range}"));
                }
            }
            DeValue::Boolean(_) | DeValue::Float(_) | DeValue::Datetime(_) => {}
        }
    }

    /// Several tables to choose from (`provider = "static"` or `"openai"`): the one whose fixed words the user wrote.
    fn variant(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
        alternatives: &[&'a Value],
        path: &str,
    ) -> Option<&'a Value> {
        let tables: Vec<&Value> =
            alternatives.iter().copied().filter(|schema| is_type(schema, "object")).collect();
        let [first, _, ..] = tables.as_slice() else { return tables.first().copied() };
        let tag = fixed_word(first).map(|(tag, _)| tag)?;
        let known: Vec<&str> =
            tables.iter().filter_map(|schema| fixed_word(schema)).map(|(_, word)| word).collect();
        let given = table.get(tag);
        let word = given.and_then(|word| word.get_ref().as_str());
        if let Some(position) = known.iter().position(|known| Some(*known) == word) {
            return tables.get(position).copied();
        }
        let offset = given.map_or(value.span().start, |given| given.span().start);
        self.report(offset, one_of(&join(path, tag), word.unwrap_or_default(), &known));
        None
    }

    /// A word of a closed list.
    fn word(&mut self, offset: usize, text: &str, alternatives: &[&Value], path: &str) {
        let known: Vec<&str> = alternatives.iter().flat_map(|schema| words(schema)).collect();
        let free = alternatives.iter().any(|schema| is_type(schema, "string") && words(schema).is_empty());
        if free || known.contains(&text) {
            return;
        }
        self.report(offset, one_of(path, text, &known));
    }

    /// A schema with its references and its alternatives opened.
    fn alternatives(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let definition = name
                .strip_prefix("#/$defs/")
                .and_then(|name| self.definitions.and_then(|definitions| definitions.get(name)));
            return definition.map_or_else(Vec::new, |schema| self.alternatives(schema));
        }
        let several = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        match several {
            Some(schemas) => schemas.iter().flat_map(|schema| self.alternatives(schema)).collect(),
            None => vec![schema],
        }
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn one_of(path: &str, given: &str, known: &[&str]) -> String {
    if let [only] = known {
        return format!("`{path}` must be \"{only}\"");
    }
    let list = known.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let hint = nearest(given, known.iter().copied())
        .map_or_else(String::new, |near| format!(", did you mean \"{near}\"?"));
    format!("`{path}` must be one of {list}{hint}")
}

/// The property that tells one table from its alternatives, and its word.
fn fixed_word(schema: &Value) -> Option<(&str, &str)> {
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, schema)| Some((name.as_str(), schema.get("const")?.as_str()?)))
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// The words a string may be: `enum`, or one `const`.
fn words(schema: &Value) -> Vec<&str> {
    let several = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    several.chain(schema.get("const")).filter_map(Value::as_str).collect()
}

fn kind_fits(value: &DeValue<'_>, schema: &Value) -> bool {
    if schema.get("type").is_none() && schema.get("const").is_none() && schema.get("enum").is_none() {
        return true;
    }
    match value {
        DeValue::String(_) => is_type(schema, "string") || !words(schema).is_empty(),
        DeValue::Integer(_) => is_type(schema, "integer") || is_type(schema, "number"),
        DeValue::Float(_) => is_type(schema, "number"),
        DeValue::Boolean(value) => {
            is_type(schema, "boolean") || schema.get("const").and_then(Value::as_bool) == Some(*value)
        }
        DeValue::Array(_) => is_type(schema, "array"),
        DeValue::Table(_) => is_type(schema, "object"),
        DeValue::Datetime(_) => false,
    }
}

/// The kinds a schema takes, in TOML's words with an article.
fn wanted(schema: &Value) -> Vec<String> {
    let name = |word: &str| match word {
        "string" => "a string".to_owned(),
        "integer" => "an integer".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "an array".to_owned(),
        "object" => "a table".to_owned(),
        other => other.to_owned(),
    };
    if let Some(only @ Value::Bool(_)) = schema.get("const") {
        return vec![only.to_string()];
    }
    match schema.get("type") {
        Some(Value::String(one)) => vec![name(one)],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(name).collect(),
        _ => vec!["a string".to_owned()],
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::config::Config;

    #[track_caller]
    fn check_text(text: &str, expected: Expect) {
        let problems = check(text, &Config::schema());
        let lines: Vec<String> =
            problems.iter().map(|problem| problem.at(Path::new("config.toml"))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn every_key_of_the_manual_is_known() {
        check_text(include_str!("manual.toml"), expect![[""]]);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        check_text(
            "[server]\nhost = \"127.0.0.1\"\nprot = 4747\n\n[sever]\n",
            expect![[r#"
                config.toml:3: unknown key `server.prot`, did you mean `server.port`?
                config.toml:5: unknown key `sever`, did you mean `server`?"#]],
        );
        check_text(
            "[lsp]\ndiagnostic_timeout = 1\n[lsp.servers.gopls]\nenable = false\n",
            expect![[r#"
                config.toml:2: unknown key `lsp.diagnostic_timeout`, did you mean `lsp.diagnosticTimeout`?
                config.toml:4: unknown key `lsp.servers.gopls.enable`, did you mean `lsp.servers.gopls.enabled`?"#]],
        );
        check_text("zzzzzzzz = 1\n", expect!["config.toml:1: unknown key `zzzzzzzz`"]);
    }

    #[test]
    fn a_wrong_type_is_named_with_its_line() {
        check_text(
            "[server]\nport = \"4747\"\nhost = 1\n",
            expect![[r#"
                config.toml:2: `server.port` must be an integer, not a string
                config.toml:3: `server.host` must be a string, not an integer"#]],
        );
        check_text(
            "lsp = 3\n[agents.gemini]\nargs = [1]\n",
            expect![[r#"
                config.toml:1: `lsp` must be false or a table, not an integer
                config.toml:3: `agents.gemini.args[0]` must be a string, not an integer"#]],
        );
        check_text(
            "[server]\nport = 70000\n",
            expect!["config.toml:2: `server.port` must be between 0 and 65535"],
        );
    }

    #[test]
    fn a_word_outside_its_list_is_named_with_the_list() {
        check_text(
            "[agents.gemini]\nprotocol = \"apc\"\n[index]\nembedding = { provider = \"sttic\" }\n[lsp]\nincludeSeverities = [\"eror\"]\n",
            expect![[r#"
                config.toml:2: `agents.gemini.protocol` must be one of "stream-json", "acp", did you mean "acp"?
                config.toml:4: `index.embedding.provider` must be one of "static", "openai", "none", did you mean "static"?
                config.toml:6: `lsp.includeSeverities[0]` must be one of "error", "warning", "info", "hint", did you mean "error"?"#]],
        );
    }

    #[test]
    fn the_sandbox_is_off_workspace_or_strict_and_its_network_a_word_or_ports() {
        check_text(
            "[sandbox]\nagents = \"stict\"\nnetwork = \"agnt\"\n[sandbox.projects.\"/x\"]\nnetwork = [70000]\nmode = 1\n",
            expect![[r#"
                config.toml:2: `sandbox.agents` must be one of "off", "workspace", "strict", did you mean "strict"?
                config.toml:3: `sandbox.network` must be one of "all", "agent", "none", did you mean "agent"?
                config.toml:5: `sandbox.projects./x.network[0]` must be between 0 and 65535
                config.toml:6: unknown key `sandbox.projects./x.mode`"#]],
        );
    }

    #[test]
    fn each_variant_of_a_table_has_keys_of_its_own() {
        check_text(
            "[index.embedding]\nprovider = \"openai\"\nmodel = \"m\"\ndimension = 3\nbaseURL = \"x\"\n",
            expect![[r#"
                config.toml:2: `index.embedding.baseUrl` is missing
                config.toml:5: unknown key `index.embedding.baseURL`, did you mean `index.embedding.baseUrl`?"#]],
        );
        check_text(
            "[index]\nstore = { provider = \"milvus\", tokenenv = \"x\" }\n",
            expect![[r#"
                config.toml:2: `index.store.address` is missing
                config.toml:2: unknown key `index.store.tokenenv`, did you mean `index.store.tokenEnv`?"#]],
        );
    }

    #[test]
    fn broken_toml_is_named_with_its_line() {
        check_text(
            "[server]\nport = \n",
            expect!["config.toml:2: not valid TOML: string values must be quoted, expected literal string"],
        );
    }
}
