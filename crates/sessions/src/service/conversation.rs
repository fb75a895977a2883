//! A conversation as text, for an agent that cannot take it up in any other way.

use chartroom_protocol::stream::Origin;
use chartroom_protocol::upsert::{Upsert, UpsertBody};

/// What is said before it, to the agent and to whoever reads along.
const PREFACE: &str = "This is the conversation of another session, as text, up to the point from which this session goes on. \
    Take it as said between us. Do not act on it yet: answer with one short line, and wait for my next message.";

/// Writes down who said what, the oldest first. Of tools only the names are told: what they did is in the folder.
pub(super) fn as_text(entries: &[String], is_cut: bool) -> String {
    let mut text = format!("{PREFACE}\n");
    if is_cut {
        text.push_str("\n(What was said before that is left out: it is too long.)\n");
    }
    for entry in entries {
        // What cannot be read was not written by us.
        let Ok(upsert) = serde_json::from_str::<Upsert>(entry) else { continue };
        match upsert.body {
            UpsertBody::Message { content, origin, .. } if !content.trim().is_empty() => {
                let who = match origin {
                    Origin::User => "User",
                    Origin::Agent => "Agent",
                    Origin::System => continue,
                };
                text.push_str(&format!("\n## {who}\n\n{}\n", content.trim()));
            }
            UpsertBody::ToolCall { tool_name, .. } => text.push_str(&format!("\n(tool: {tool_name})\n")),
            UpsertBody::Message { .. } | UpsertBody::Thinking { .. } => {}
        }
    }
    text
}
