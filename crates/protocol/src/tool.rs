//! A tool as every client sees it, whichever room it lives in: what is told of it, and what it says.

use serde_json::{Map, Value};

/// What a client is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What a client calls it by.
    pub name: &'static str,
    /// What it is for, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// The JSON schema of its structured answer, where a tool has one.
    pub output_schema: Option<Map<String, Value>>,
    /// It changes nothing.
    pub read_only: bool,
}

impl ToolSpec {
    /// A tool that only reads.
    pub fn reading(name: &'static str, description: &'static str, schema: Map<String, Value>) -> Self {
        Self { name, description, schema, output_schema: None, read_only: true }
    }

    /// A tool that changes something.
    pub fn changing(name: &'static str, description: &'static str, schema: Map<String, Value>) -> Self {
        Self { read_only: false, ..Self::reading(name, description, schema) }
    }

    /// The same tool, whose answer is data too.
    pub fn answering(self, schema: Map<String, Value>) -> Self {
        Self { output_schema: Some(schema), ..self }
    }
}

impl ToolSpec {
    /// The schema of its arguments as it is sent: every session of an agent pays for it, so that what says nothing to a
    /// model is left out. What a call may hold is checked here in any case.
    pub fn sent_schema(&self) -> Map<String, Value> {
        let mut schema = Value::Object(self.schema.clone());
        shorten(&mut schema);
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }
}

fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            // A field of such a name has a schema, which is an object.
            object.retain(|name, value| match name.as_str() {
                "format" => !value.is_string(),
                "default" => !value.is_null() && *value != Value::Bool(false),
                "minLength" => *value != 1,
                "minimum" => *value != 0,
                "additionalProperties" => *value != Value::Bool(false),
                _ => true,
            });
            object.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What a tool says. "Nothing found" is an answer like any other: only a call that could not be answered is an error, so
/// that no client retries what retrying cannot change.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// What the model reads.
    pub text: String,
    /// The same as data, where a tool has it.
    pub structured: Option<Value>,
    /// The call could not be answered.
    pub is_error: bool,
}

impl ToolAnswer {
    /// Returns an answer of text alone.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: false }
    }

    /// Returns an answer that says why the call could not be answered.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_says_nothing_to_a_model_is_not_sent_and_a_field_of_that_name_is() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["line"],
            "properties": {
                "line": {"type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null},
                "format": {"type": "string", "minLength": 1, "description": "How."},
                "limit": {"type": "integer", "minimum": 1, "default": 20},
            },
        });
        let Value::Object(schema) = schema else { return };
        let sent = ToolSpec::reading("t", "d", schema).sent_schema();
        let expected = json!({
            "type": "object", "required": ["line"],
            "properties": {
                "line": {"type": "integer"},
                "format": {"type": "string", "description": "How."},
                "limit": {"type": "integer", "minimum": 1, "default": 20},
            },
        });
        assert_eq!(Value::Object(sent), expected);
    }
}
