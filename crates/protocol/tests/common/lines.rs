//! Messages as they stand on the wire.
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]

use serde::Serialize;
use serde::de::DeserializeOwned;

/// One line of JSON per message, each of which reads back as what it was.
#[track_caller]
pub fn lines<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(messages: &[T]) -> String {
    let mut text = String::new();
    for message in messages {
        let line = serde_json::to_string(message).expect("a wire type");
        let back: T = serde_json::from_str(&line).expect("what we wrote");
        assert_eq!(back, *message);
        text.push_str(&line);
        text.push('\n');
    }
    text
}
