//! JSON Schemas of the tools' inputs, as MCP clients get them.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of a type, with everything inlined: many clients look at `type` and do not follow a `$ref` (the MCP
/// inspector then sends an object as a string).
pub fn json_schema<T: schemars::JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(schema) => schema,
        // "Anything": no type of ours is that.
        _ => Map::new(),
    }
}

/// The schema of a tool's arguments: an optional one is absent rather than null, so that its type is one word, which is
/// what clients that turn text into arguments look for.
pub fn input_schema<T: schemars::JsonSchema>() -> Map<String, Value> {
    let mut schema = json_schema::<T>();
    // Every session of an agent pays for these, and none of them says anything to it.
    for name in ["$schema", "title", "description"] {
        schema.remove(name);
    }
    schema.values_mut().for_each(without_null);
    schema.values_mut().for_each(fold_words);
    schema
}

/// A closed list of words as `enum`, with what each word means in the description. The generator writes a described
/// word as an alternative of its own, and a client that looks at `type` then finds none.
fn fold_words(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some((words, meanings)) =
                object.get("oneOf").and_then(Value::as_array).and_then(|all| words(all))
            {
                object.remove("oneOf");
                object.insert("type".into(), "string".into());
                object.insert("enum".into(), words.into());
                let own = object.get("description").and_then(Value::as_str);
                let lines: Vec<&str> = own.into_iter().chain(meanings.iter().map(String::as_str)).collect();
                if !lines.is_empty() {
                    let description = lines.join(" ");
                    object.insert("description".into(), description.into());
                }
            }
            object.values_mut().for_each(fold_words);
        }
        Value::Array(items) => items.iter_mut().for_each(fold_words),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words of alternatives that are all words, and a line for each that has a meaning.
fn words(alternatives: &[Value]) -> Option<(Vec<Value>, Vec<String>)> {
    let (mut words, mut meanings) = (Vec::new(), Vec::new());
    for alternative in alternatives {
        match (&alternative["const"], &alternative["enum"]) {
            (Value::String(word), _) => {
                words.push(word.as_str().into());
                meanings.extend(alternative["description"].as_str().map(|line| format!("{word}: {line}")));
            }
            (_, Value::Array(several)) => words.extend(several.iter().cloned()),
            _ => return None,
        }
    }
    Some((words, meanings))
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            // `anyOf: [what, null]`, the form for objects.
            if let Some(Value::Array(choices)) = object.get("anyOf")
                && let [Value::Object(what), null] = choices.as_slice()
                && null["type"] == "null"
            {
                let what = what.clone();
                object.remove("anyOf");
                object.extend(what);
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
