//! Frames as text. The journal keeps payloads as JSON already; they are put into their frame without a second
//! serialization, which is most of the cost of a long message.

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::ws::ServerFrame;

use super::Frame;
use crate::store::HistoryPage;

pub(crate) fn upsert_frame(session_id: &SessionId, seq: u64, payload: &str) -> Frame {
    journaled("session:upsert", session_id, seq, payload)
}

pub(crate) fn turn_frame(session_id: &SessionId, seq: u64, payload: &str) -> Frame {
    journaled("session:turn", session_id, seq, payload)
}

fn journaled(kind: &str, session_id: &SessionId, seq: u64, payload: &str) -> Frame {
    let session_id = json(session_id);
    let json = format!(r#"{{"type":"{kind}","sessionId":{session_id},"seq":{seq},"payload":{payload}}}"#);
    Frame { seq: Some(seq), json: json.into() }
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

fn json(value: &impl serde::Serialize) -> String {
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
        for (frame, expected) in [
            (
                upsert_frame(&session_id, 7, &json(&upsert)),
                ServerFrame::Upsert { session_id: session_id.clone(), seq: 7, payload: upsert },
            ),
            (
                turn_frame(&session_id, 8, &json(&turn)),
                ServerFrame::Turn { session_id: session_id.clone(), seq: 8, payload: turn },
            ),
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
