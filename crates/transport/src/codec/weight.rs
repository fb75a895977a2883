//! What a JSON text takes once it is parsed, judged before it is.
//!
//! Two bytes (`0,`) become a value of tens of bytes, and eight (`{"a":0},`) a table of hundreds: 32 MB of them would take
//! gigabytes. Strings take what they are long, so that a large file or an image in a message is not meant here.

use serde_json::Value;

/// A text below this is not judged: whatever it holds, it cannot take much.
const SMALL: usize = 1024 * 1024;
/// A message that would take more is left out, as one that is too long.
const MAX_PARSED: usize = 128 * 1024 * 1024;

/// What a list takes beside its values: the first allocation has room for four.
const LIST: usize = 4 * VALUE;
/// What an object takes beside its keys and values: a table, and entries with room for some.
const OBJECT: usize = 6 * VALUE;
const VALUE: usize = size_of::<Value>();

/// Whether a text, once parsed, would take more than a message may.
pub(super) fn is_too_heavy(text: &[u8]) -> bool {
    text.len() > SMALL && text.len() + values(text) > MAX_PARSED
}

/// The bytes that the values of a text take, without those of its strings. Guessed from the marks outside of strings.
fn values(text: &[u8]) -> usize {
    let mut bytes = 0;
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => {
                while let Some(byte) = rest.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(rest.next()),
                        _ => {}
                    }
                }
            }
            b'[' => bytes += LIST,
            b'{' => bytes += OBJECT,
            b',' => bytes += VALUE,
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Received, parse};

    fn is_left_out(text: String) -> bool {
        let length = text.len() as u64;
        parse(Frame::Message(text.into())) == Received::Oversized { length }
    }

    fn list_of(item: &str, n_bytes: usize) -> String {
        format!("[{}0]", item.repeat(n_bytes / item.len()))
    }

    #[test]
    fn a_message_whose_values_would_take_far_more_than_its_bytes_is_left_out() {
        for item in ["0,", "[],", "[0],", "{\"a\":0},", "\"\\\"\","] {
            assert!(is_left_out(list_of(item, 16_000_000)), "{item}");
            assert!(!is_left_out(list_of(item, 300_000)), "{item}");
        }
    }

    #[test]
    fn a_large_text_in_a_message_is_none_of_them() {
        let text = format!("[\"{}\"]", "{[,\\\"".repeat(6_000_000));
        assert!(!is_left_out(text));
    }
}
