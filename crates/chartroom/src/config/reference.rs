//! `docs/configuration.md`, written from the schema: every key that the file may have.

use expect_test::expect_file;
use serde_json::{Map, Value};

use super::Config;

const HEAD: &str = "\
# Every key of the config file

`config.toml` in `~/.config/chartroom`, or the file that `CHARTROOM_CONFIG` names. This page is written from the schema that
the file is checked against (`chartroom config-schema` prints it); a test holds them equal. An unknown key is an error that
names the nearest known one.

The data folder (sessions, trust, indexes, logs, installed language servers) is `~/.local/share/chartroom`, or the folder
that `CHARTROOM_HOME` names. `CHARTROOM_TOKEN` is the bearer token for scripts, `CHARTROOM_LOG` a filter for the logs.

A `*` in a key stands for a name of your choice.
";

struct Reference<'a> {
    definitions: &'a Map<String, Value>,
    rows: Vec<String>,
}

impl<'a> Reference<'a> {
    /// Follows references, and the one choice of several that is a table.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        if let Some(name) = schema["$ref"].as_str() {
            return self.resolve(&self.definitions[name.rsplit('/').next().unwrap()]);
        }
        let choices = ["anyOf", "oneOf"].iter().find_map(|word| schema[*word].as_array());
        let table = choices.and_then(|choices| {
            choices.iter().map(|choice| self.resolve(choice)).find(|choice| choice["properties"].is_object())
        });
        match table {
            Some(table) if schema["anyOf"].is_array() => table,
            _ => schema,
        }
    }

    fn table(&mut self, prefix: &str, schema: &'a Value) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            let key = format!("{prefix}{name}");
            let target = self.resolve(property);
            if target["properties"].is_object() {
                self.table(&format!("{key}."), target);
                continue;
            }
            let items = &target["additionalProperties"];
            let named = self.resolve(items);
            if named["properties"].is_object() {
                self.table(&format!("{key}.*."), named);
                continue;
            }
            let text =
                |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
            let what = [text(&property["description"]), self.choices(property)].join(" ");
            let default = match &property["default"] {
                Value::Null => String::new(),
                value => format!("`{value}`"),
            };
            self.rows.push(format!("| `{key}` | {default} | {} |", what.trim()));
        }
    }

    /// The words that a key takes, each with what it means.
    fn choices(&self, property: &'a Value) -> String {
        let mut words = Vec::new();
        self.collect(property, &mut words);
        if words.is_empty() { String::new() } else { format!("One of: {}.", words.join("; ")) }
    }

    fn collect(&self, schema: &'a Value, words: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            self.collect(&self.definitions[name.rsplit('/').next().unwrap()], words);
        }
        for choice in ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten() {
            let said =
                choice["description"].as_str().unwrap_or_default().trim_end_matches('.').replace('\n', " ");
            let keys = choice["properties"].as_object().map(|keys| {
                let others = keys.keys().filter(|key| *key != "provider").map(|key| format!("`{key}`"));
                others.collect::<Vec<_>>().join(", ")
            });
            let word = choice["const"].as_str().or(choice["properties"]["provider"]["const"].as_str());
            match (word, keys.filter(|keys| !keys.is_empty())) {
                (Some(word), Some(keys)) => words.push(format!("`{word}` ({said}; with {keys})")),
                (Some(word), None) if said.is_empty() => words.push(format!("`{word}`")),
                (Some(word), None) => words.push(format!("`{word}` ({said})")),
                (None, _) => self.collect(choice, words),
            }
        }
        if schema["type"] == "array" {
            self.collect(&schema["items"], words);
        }
    }
}

#[test]
fn the_reference_has_every_key_of_the_schema() {
    let schema = serde_json::to_value(Config::schema()).unwrap();
    let mut text = HEAD.to_owned();
    let parts: Vec<(&String, &Value, Value)> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, property)| (name, property, serde_json::json!({ "properties": { name: property } })))
        .collect();
    for (name, property, part) in &parts {
        let mut reference = Reference { definitions: schema["$defs"].as_object().unwrap(), rows: Vec::new() };
        reference.table("", part);
        let said = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        text.push_str(&format!("\n## {name}\n\n{said}\n\n| key | default | what |\n|---|---|---|\n"));
        text.push_str(&reference.rows.join("\n"));
        text.push('\n');
    }
    expect_file!["../../../../docs/configuration.md"].assert_eq(&text);
}
