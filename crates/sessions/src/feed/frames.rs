//! Frames as text. A payload is serialized once, into the frame in which readers get it; the journal keeps that part of
//! it. What comes from the journal is put into its frame as it is: serializing is most of the cost of a long message.

use std::fmt::Write as _;

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody};
use chartroom_protocol::ws::ServerFrame;
use serde::Serialize;

use super::Frame;
use super::escape::write_string;
use super::item_json::{self, HEADS};
use crate::store::{HistoryPage, JournalRow, Payload};

const UPSERT: &str = "session:upsert";
const TURN: &str = "session:turn";

/// Returns the frame of an item's state, and its payload for the journal.
pub(crate) fn upsert_frame(session_id: &SessionId, seq: u64, upsert: &Upsert) -> (Frame, Payload) {
    let n_bytes = match &upsert.body {
        UpsertBody::Message { content, .. } | UpsertBody::Thinking { content, .. } => content.len(),
        UpsertBody::ToolCall { tool_output, .. } => tool_output.as_ref().map_or(0, String::len),
    };
    // Line breaks and quotes take two bytes.
    journaled(UPSERT, session_id, seq, n_bytes + n_bytes / 8, |text| item_json::write(text, upsert))
}

/// Returns the frame of a turn's begin or end, and its payload for the journal.
pub(crate) fn turn_frame(session_id: &SessionId, seq: u64, event: &TurnEvent) -> (Frame, Payload) {
    journaled(TURN, session_id, seq, 0, |text| text.push_str(&json(event)))
}

/// Returns the frame of a row of the journal.
pub(crate) fn row_frame(session_id: &SessionId, row: &JournalRow) -> Frame {
    let kind = if row.is_turn { TURN } else { UPSERT };
    journaled(kind, session_id, row.seq, row.json.len(), |text| text.push_str(&row.json)).0
}

fn journaled(
    kind: &str,
    session_id: &SessionId,
    seq: u64,
    n_bytes: usize,
    write_payload: impl FnOnce(&mut String),
) -> (Frame, Payload) {
    let mut text = String::with_capacity(HEADS + n_bytes);
    text.push_str(r#"{"type":""#);
    text.push_str(kind);
    text.push_str(r#"","sessionId":"#);
    write_string(&mut text, session_id.as_str());
    write!(text, r#","seq":{seq},"payload":"#).expect("a String takes every write");
    let begin = text.len();
    write_payload(&mut text);
    let end = text.len();
    text.push('}');
    let json: std::sync::Arc<str> = text.into();
    (Frame { seq: Some(seq), json: json.clone() }, Payload::within(json, begin..end))
}

pub(crate) fn history_frame(session_id: &SessionId, page: &HistoryPage) -> Frame {
    let session_id = json(session_id);
    let (seq, entries, turns) = (page.seq, page.entries.join(","), page.turns.join(","));
    let earlier = page.earlier.map(|place| format!(r#","earlier":{place}"#)).unwrap_or_default();
    let usage = page.earlier_usage.as_ref();
    let usage = usage.map(|usage| format!(r#","earlierUsage":{}"#, json(usage))).unwrap_or_default();
    let json = format!(
        r#"{{"type":"session:history","sessionId":{session_id},"seq":{seq},"entries":[{entries}],"turns":[{turns}]{earlier}{usage}}}"#
    );
    Frame { seq: Some(seq), json: json.into() }
}

/// A frame that is not in the journal: how things stand now.
pub(super) fn live(frame: &ServerFrame) -> Frame {
    Frame { seq: None, json: json(frame).into() }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our wire types have string keys only, so they always serialize")
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::ids::{ItemId, SessionId, TurnId};
    use chartroom_protocol::stream::{Origin, Usage};
    use chartroom_protocol::turn::{TurnEvent, TurnStatus};
    use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
    use chartroom_protocol::ws::ServerFrame;

    use super::*;

    #[test]
    fn frames_put_together_as_text_are_what_serde_would_write() {
        let session_id = SessionId::new("a \"quoted\" id");
        let upsert = Upsert {
            turn_id: TurnId::new("t"),
            session_id: session_id.clone(),
            item_id: ItemId::new("i"),
            source_timestamp: "1970-01-01T00:00:00.000Z".to_owned(),
            emitted_at: "1970-01-01T00:00:00.000Z".to_owned(),
            status: UpsertStatus::Create,
            error_code: None,
            error_message: None,
            parent_call_id: None,
            body: UpsertBody::Message {
                content: "\u{1}\"\\ä".to_owned(),
                origin: Origin::Agent,
                image_count: 0,
            },
        };
        let turn = TurnEvent::TurnComplete {
            turn_id: TurnId::new("t"),
            session_id: session_id.clone(),
            status: TurnStatus::Completed,
            usage: None,
            duration_ms: Some(3),
        };
        let usage = Usage { input_tokens: 5, output_tokens: 6, cost_usd: Some(0.1), ..Usage::default() };
        let page = HistoryPage {
            seq: 9,
            entries: vec![json(&upsert), json(&upsert)],
            turns: vec![json(&turn)],
            earlier: Some(4),
            earlier_usage: Some(usage),
        };
        let entries = vec![upsert.clone(), upsert.clone()];
        let turns = vec![turn.clone()];
        let (upsert_row, turn_row) = (json(&upsert), json(&turn));
        let (upsert_frame, upsert_payload) = upsert_frame(&session_id, 7, &upsert);
        let (turn_frame, turn_payload) = turn_frame(&session_id, 8, &turn);
        assert_eq!((&*upsert_payload, &*turn_payload), (&*upsert_row, &*turn_row));
        let row = |seq, is_turn, json| row_frame(&session_id, &JournalRow { seq, is_turn, json });
        assert_eq!(row(7, false, upsert_row), upsert_frame);
        assert_eq!(row(8, true, turn_row), turn_frame);
        for (frame, expected) in [
            (upsert_frame, ServerFrame::Upsert { session_id: session_id.clone(), seq: 7, payload: upsert }),
            (turn_frame, ServerFrame::Turn { session_id: session_id.clone(), seq: 8, payload: turn }),
            (
                history_frame(&session_id, &page),
                ServerFrame::History {
                    session_id: session_id.clone(),
                    seq: 9,
                    entries,
                    turns,
                    earlier: Some(4),
                    earlier_usage: Some(usage),
                },
            ),
        ] {
            assert_eq!(&*frame.json, json(&expected));
        }
    }
}
