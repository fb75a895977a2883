//! JSON Schemas of the tools' inputs and answers, as MCP clients get them.

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
    schema.values_mut().for_each(without_null);
    schema
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
