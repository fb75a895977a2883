//! Reading JSON that others wrote: a missing or odd field is an empty value, never a failure.

use serde_json::{Map, Value};

/// Returns what stands at a JSON pointer without escapes. Every line of an agent is asked a dozen of these, and the
/// library's own allocates twice for each step of them.
fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(list) => step.parse::<usize>().ok().and_then(|index| list.get(index)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Returns the string at a JSON pointer, or "".
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    at(value, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the string at a JSON pointer if it is there and not empty.
pub(crate) fn optional_text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns the number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    at(value, pointer).and_then(Value::as_u64)
}

/// Returns the array at a JSON pointer, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
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

/// Makes a value exact for a page: JavaScript rounds whole numbers above 2^53, so those become their digits.
pub(crate) fn exact_for_the_page(value: Value) -> Value {
    const SAFE: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let is_safe = match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => number <= SAFE,
                (None, Some(number)) => number.unsigned_abs() <= SAFE,
                (None, None) => true,
            };
            if is_safe { Value::Number(number) } else { Value::String(number.to_string()) }
        }
        Value::Array(values) => values.into_iter().map(exact_for_the_page).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, exact_for_the_page(value))).collect()
        }
        other => other,
    }
}

/// Returns arguments for a question: all of them, whatever shape they have. What is no object stands under `name`.
pub(crate) fn arguments_for_the_page(name: &str, arguments: Option<&Value>) -> Map<String, Value> {
    match arguments.cloned().map(exact_for_the_page) {
        Some(Value::Object(object)) => object,
        Some(Value::Null) | None => Map::new(),
        Some(other) => Map::from_iter([(name.to_owned(), other)]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::at;

    #[test]
    fn a_pointer_leads_where_the_librarys_leads() {
        let value = json!({"a": {"b": [1, {"c": "d"}]}, "": 2, "e": null});
        for pointer in ["", "/a", "/a/b", "/a/b/0", "/a/b/1/c", "/a/b/2", "/a/x", "/e", "/e/f", "/", "/a/b/x"]
        {
            assert_eq!(at(&value, pointer), value.pointer(pointer), "{pointer:?}");
        }
    }
}
