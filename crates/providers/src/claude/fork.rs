//! Where a conversation is to part: the answer of Claude's before a message, as its session file names it.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::TurnId;
use chartroom_sessions::ProviderError;
use chartroom_workspace::regular;
use serde::Deserialize;

/// What is known before a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing: the message is the first one.
    Nothing,
    /// All up to this line.
    UpTo(String),
}

/// What is read of a line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    uuid: String,
    parent_uuid: Option<String>,
    #[serde(rename = "type")]
    kind: String,
}

/// Finds what was known before a turn. A turn that was begun here has its id in the file, as the name of the user's line.
pub(super) fn before(file: &Path, turn_id: &TurnId) -> Result<Known, ProviderError> {
    let unreadable = |error: std::io::Error| {
        ProviderError::protocol(format!("the session file {} cannot be read: {error}", file.display()))
    };
    let opened = regular::open(file).map_err(|error| unreadable(std::io::Error::other(error)))?;
    let mut lines: HashMap<String, (Option<String>, bool)> = HashMap::new();
    for line in BufReader::new(opened).split(b'\n') {
        // What is no line of the conversation has no name.
        let Ok(line) = serde_json::from_slice::<Line>(&line.map_err(unreadable)?) else { continue };
        lines.insert(line.uuid, (line.parent_uuid, line.kind == "assistant"));
    }
    let Some((mut parent, _)) = lines.get(turn_id.as_str()).cloned() else {
        let message = "Claude has no such message any more: the conversation cannot be taken up before it";
        return Err(ProviderError::new(ErrorCode::NotFound, message));
    };
    // Between the answer and the message stand notes of Claude's own. No name comes twice on the way.
    for _ in 0..lines.len() {
        let Some(name) = parent else { return Ok(Known::Nothing) };
        match lines.get(&name) {
            Some((_, true)) => return Ok(Known::UpTo(name)),
            Some((above, false)) => parent = above.clone(),
            None => return Ok(Known::Nothing),
        }
    }
    Ok(Known::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"type":"summary","summary":"no name"}
{"type":"user","uuid":"one","parentUuid":null}
{"type":"assistant","uuid":"a1","parentUuid":"one"}
{"type":"assistant","uuid":"a2","parentUuid":"a1"}
{"type":"system","uuid":"s","parentUuid":"a2"}
{"type":"user","uuid":"two","parentUuid":"s"}
not json
{"type":"user","uuid":"round","parentUuid":"round"}
{"type":"user","uuid":"cut","parentUuid":"gone"}
"#;

    #[test]
    fn a_conversation_parts_after_the_answer_before_the_message() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s.jsonl");
        std::fs::write(&file, FILE).expect("a file");
        let before = |turn: &str| before(&file, &TurnId::from(turn));
        assert_eq!(before("two").expect("it is there"), Known::UpTo("a2".to_owned()));
        for first in ["one", "round", "cut"] {
            assert_eq!(before(first).expect("it is there"), Known::Nothing, "{first}");
        }
        assert_eq!(before("three").expect_err("it is not there").code, ErrorCode::NotFound);
    }
}
