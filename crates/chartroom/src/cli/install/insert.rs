//! Puts a member into the text of a JSON file without touching another byte of it.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Serializer, Value};

/// Adds `key: value` to the object at `path`, or without a key `value` to the list there; what is missing on the way is
/// made. Nothing when the text is not shaped like that.
pub(super) fn insert(text: &str, path: &[&str], key: Option<&str>, value: Value) -> Option<String> {
    let mut at = skip_blank(text, 0);
    for (depth, name) in path.iter().enumerate() {
        let object = container(text, at).filter(|_| text[at..].starts_with('{'))?;
        match object.members.iter().find(|member| member.is_called(text, name)) {
            Some(member) => at = member.value,
            None => {
                let leaf = match key {
                    Some(key) => Value::Object(Map::from_iter([(key.to_owned(), value)])),
                    None => Value::Array(vec![value]),
                };
                let made = path[depth + 1..]
                    .iter()
                    .rev()
                    .fold(leaf, |inner, name| Value::Object(Map::from_iter([((*name).to_owned(), inner)])));
                return insert_here(text, at, Some(name), &made);
            }
        }
    }
    let opening = if key.is_some() { '{' } else { '[' };
    if text[at..].starts_with(opening) { insert_here(text, at, key, &value) } else { None }
}

fn insert_here(text: &str, at: usize, key: Option<&str>, value: &Value) -> Option<String> {
    let Container { members, close } = container(text, at)?;
    let unit = unit_of(text);
    let (place, before, after) = match members.last() {
        Some(last) => {
            let head = &text[..last.start];
            let blank = &head[head.trim_end().len()..];
            (last.end, format!(",{blank}"), String::new())
        }
        None if text.contains('\n') => {
            let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let base =
                &text[line..][..text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len()];
            let closing = if text[at..close].contains('\n') { String::new() } else { format!("\n{base}") };
            (at + 1, format!("\n{base}{unit}"), closing)
        }
        None => (at + 1, String::new(), String::new()),
    };
    let indent = before.rsplit_once('\n').map(|(_, indent)| indent);
    let spaced = indent.is_some() || text.contains("\": ");
    let name = match key {
        Some(key) => format!("{}:{}", serde_json::to_string(key).ok()?, if spaced { " " } else { "" }),
        None => String::new(),
    };
    let value = match indent {
        Some(indent) => pretty(value, &unit)?.replace('\n', &format!("\n{indent}")),
        None => value.to_string(),
    };
    Some(format!("{}{before}{name}{value}{after}{}", &text[..place], &text[place..]))
}

/// Writes a value over several lines, with this much for a step to the right.
pub(super) fn pretty(value: &Value, unit: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter)).ok()?;
    String::from_utf8(bytes).ok()
}

/// What the file itself uses for a step to the right.
pub(super) fn unit_of(text: &str) -> String {
    let first = text.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default();
    let blank = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    if blank.is_empty() { "  ".to_owned() } else { blank.to_owned() }
}

struct Container {
    members: Vec<Member>,
    close: usize,
}

/// A member of an object or a list, by its places in the text.
struct Member {
    start: usize,
    value: usize,
    end: usize,
}

impl Member {
    fn is_called(&self, text: &str, name: &str) -> bool {
        let key = text[self.start..self.value].trim_end().trim_end_matches(':').trim_end();
        serde_json::from_str::<String>(key).is_ok_and(|key| key == name)
    }
}

/// Reads the object or the list that begins at `at`.
fn container(text: &str, at: usize) -> Option<Container> {
    let is_object = text[at..].starts_with('{');
    let closing = if is_object { '}' } else { ']' };
    let mut members = Vec::new();
    let mut next = skip_blank(text, at + 1);
    while !text[next..].starts_with(closing) {
        let start = next;
        let value = if is_object {
            let colon = skip_blank(text, skip_value(text, start)?);
            skip_blank(text, colon + 1)
        } else {
            start
        };
        let end = skip_value(text, value)?;
        members.push(Member { start, value, end });
        next = skip_blank(text, end);
        if text[next..].starts_with(',') {
            next = skip_blank(text, next + 1);
        }
    }
    Some(Container { members, close: next })
}

fn skip_blank(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

/// The end of the value that begins at `at`; the text is JSON already.
fn skip_value(text: &str, at: usize) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(at + values.byte_offset())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: &str, expected: &str) {
        let after = insert(before, &["servers"], Some("ours"), json!({ "command": "c" })).unwrap();
        assert_eq!(after, expected);
        let mut value: Value = serde_json::from_str(before).unwrap();
        value["servers"]["ours"] = json!({ "command": "c" });
        assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), value);
    }

    #[test]
    fn a_member_is_written_as_the_file_is() {
        check("{}", r#"{"servers":{"ours":{"command":"c"}}}"#);
        check(r#"{"a":1}"#, r#"{"a":1,"servers":{"ours":{"command":"c"}}}"#);
        check(
            "{\n    \"a\": [1,  2],\n    \"servers\": {}\n}",
            "{\n    \"a\": [1,  2],\n    \"servers\": {\n        \"ours\": {\n            \"command\": \"c\"\n        }\n    }\n}",
        );
        check(
            "{\n\t\"servers\": {\n\t\t\"x\": {} } }\n",
            "{\n\t\"servers\": {\n\t\t\"x\": {},\n\t\t\"ours\": {\n\t\t\t\"command\": \"c\"\n\t\t} } }\n",
        );
    }

    #[test]
    fn what_is_shaped_otherwise_is_not_touched() {
        for text in ["[]", "1", r#"{"servers": 1}"#, r#"{"servers": []}"#] {
            assert_eq!(insert(text, &["servers"], Some("ours"), json!({})), None, "{text}");
        }
    }
}
