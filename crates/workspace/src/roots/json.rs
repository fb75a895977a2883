//! JSON as tools for JavaScript write it: with comments and trailing commas.

use serde_json::Value;

/// Reads it; nothing when it is no JSON even so.
pub(super) fn parse(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).ok()
}

/// The text without comments, and without the commas before a closing bracket.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where a comma was written after which nothing but blanks came.
    let mut comma = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                comma = None;
                out.push(char);
                while let Some(char) = chars.next() {
                    out.push(char);
                    match char {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => {
                for char in chars.by_ref() {
                    if char == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                for char in chars.by_ref().skip(1) {
                    if before == '*' && char == '/' {
                        break;
                    }
                    before = char;
                }
            }
            ',' => {
                comma = Some(out.len());
                out.push(char);
            }
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(char);
            }
            char => {
                if !char.is_whitespace() {
                    comma = None;
                }
                out.push(char);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_no_trouble_and_strings_are_left_alone() {
        let text = "\u{feff}{ // one\n \"a\": [1, 2, /* , */ ], \"b\": \"//, ]\\\"/*\", }";
        assert_eq!(parse(text), Some(json!({ "a": [1, 2], "b": "//, ]\"/*" })));
        for broken in ["", "{", "/*", "\"", "[1,,2]", "{\"a\": /"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
