//! Reading JSON that others wrote: a missing or odd field is an empty value, never a failure.

use serde_json::{Map, Value};

/// Returns the string at a JSON pointer, or "".
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the string at a JSON pointer if it is there and not empty.
pub(crate) fn optional_text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns the number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns the array at a JSON pointer, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the object, or an empty one.
pub(crate) fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Parses accumulated JSON text into an object; what does not parse is kept as text under `raw`.
pub(crate) fn object_from(json: &str) -> Map<String, Value> {
    if json.trim().is_empty() {
        return Map::new();
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(object)) => object,
        _ => Map::from_iter([("raw".to_owned(), Value::from(json))]),
    }
}
