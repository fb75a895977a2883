//! JSON Schemas of the tools' inputs and answers, as MCP clients get them.

use serde_json::Value;

/// The schema of a type, with everything it needs inside.
pub fn json_schema<T: schemars::JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}
