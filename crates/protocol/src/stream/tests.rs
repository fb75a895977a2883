//! The canonical event format, as the seed's section 1 asks for it.

use serde_json::{Value, json};

use super::*;

/// An envelope around a payload, as a source would write it.
fn envelope(payload: Value) -> Value {
    json!({
        "eventId": "e1",
        "timestamp": "2026-01-31T12:00:00.000Z",
        "turnId": "t1",
        "sessionId": "s1",
        "type": payload["type"],
        "payload": payload,
    })
}

#[track_caller]
fn accepts(payload: Value) -> StreamEventEnvelope {
    let value = envelope(payload);
    let event = StreamEventEnvelope::from_value(&value).unwrap();
    assert_eq!(serde_json::to_value(&event).unwrap(), value, "nothing is lost on the way through");
    event
}

#[track_caller]
fn rejects(value: Value, field: &str) {
    let error = StreamEventEnvelope::from_value(&value).unwrap_err();
    assert_eq!(error.field, field, "{error}");
    assert!(error.to_string().starts_with(&format!("invalid stream event: {field}: ")), "{error}");
}

// TC-1.1a
#[test]
fn text_streams_from_start_to_done() {
    accepts(json!({ "type": "item_start", "itemId": "i", "itemType": "message", "initialContent": "He" }));
    let event = accepts(json!({ "type": "item_delta", "itemId": "i", "deltaContent": "llo" }));
    assert_eq!(event.event_type, StreamEventType::ItemDelta);
    let done = json!({ "type": "message", "content": "Hello", "origin": "agent" });
    accepts(json!({ "type": "item_done", "itemId": "i", "finalItem": done }));
}

// TC-1.1b
#[test]
fn tool_call_lifecycle() {
    let start = accepts(
        json!({ "type": "item_start", "itemId": "i", "itemType": "function_call", "name": "read", "callId": "c" }),
    );
    assert!(matches!(
        &start.payload,
        StreamEvent::ItemStart { name: Some(name), call_id: Some(call_id), .. }
            if name == "read" && call_id.as_str() == "c"
    ));
    accepts(json!({ "type": "item_delta", "itemId": "i", "deltaContent": "{\"path\":" }));
    let call =
        json!({ "type": "function_call", "name": "read", "callId": "c", "arguments": { "path": "a" } });
    accepts(json!({ "type": "item_done", "itemId": "i", "finalItem": call }));
    let output = json!({ "type": "function_call_output", "callId": "c", "output": "text", "isError": false });
    accepts(json!({ "type": "item_done", "itemId": "o", "finalItem": output }));
}

// TC-1.1c
#[test]
fn thinking_has_its_own_item_type() {
    accepts(json!({ "type": "item_start", "itemId": "i", "itemType": "reasoning" }));
    let done = json!({ "type": "reasoning", "content": "hm", "providerId": "p" });
    accepts(json!({ "type": "item_done", "itemId": "i", "finalItem": done }));
}

// TC-1.1d
#[test]
fn a_turn_has_a_start_and_an_end() {
    let start = accepts(json!({ "type": "response_start", "modelId": "m", "providerId": "p" }));
    assert_eq!(start.turn_id.as_str(), "t1");
    let usage = json!({ "inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3 });
    accepts(
        json!({ "type": "response_done", "status": "completed", "finishReason": "stop", "usage": usage }),
    );
    accepts(json!({ "type": "response_done", "status": "cancelled" }));
    let error = json!({ "code": "API_ERROR", "message": "overloaded" });
    accepts(json!({ "type": "response_done", "status": "error", "error": error }));
}

// TC-1.1e
#[test]
fn error_events_carry_a_code_and_a_message() {
    let error = json!({ "code": "X", "message": "failed" });
    accepts(json!({ "type": "item_error", "itemId": "i", "error": error }));
    accepts(json!({ "type": "response_error", "error": error }));
    accepts(json!({ "type": "item_cancelled", "itemId": "i", "reason": "stopped" }));
}

// TC-1.1f
#[test]
fn malformed_events_are_rejected_with_the_failing_field() {
    let delta = || envelope(json!({ "type": "item_delta", "itemId": "i", "deltaContent": "x" }));
    let without = |field: &str| {
        let mut value = delta();
        value.as_object_mut().unwrap().remove(field);
        value
    };
    for field in ["eventId", "timestamp", "turnId", "sessionId", "type", "payload"] {
        rejects(without(field), field);
    }
    let with = |field: &str, wrong: Value| {
        let mut value = delta();
        value[field] = wrong;
        value
    };
    rejects(with("turnId", json!(7)), "turnId");
    rejects(with("turnId", json!("")), "turnId");
    rejects(with("type", json!("item_start")), "type");
    for wrong in ["yesterday", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00+01:00"] {
        rejects(with("timestamp", json!(wrong)), "timestamp");
    }
    rejects(json!([]), "(root)");
    for (payload, field) in [
        (json!({ "type": "item_delta", "deltaContent": "x" }), "payload.itemId"),
        (json!({ "type": "item_delta", "itemId": "i" }), "payload.deltaContent"),
        (json!({ "type": "item_delta", "itemId": "i", "deltaContent": 7 }), "payload.deltaContent"),
        (json!({ "type": "response_start", "providerId": "p" }), "payload.modelId"),
        (
            json!({ "type": "item_start", "itemId": "i", "itemType": "function_call", "callId": "c" }),
            "payload.name",
        ),
        (
            json!({ "type": "item_start", "itemId": "i", "itemType": "function_call", "name": "", "callId": "c" }),
            "payload.name",
        ),
        (
            json!({ "type": "item_start", "itemId": "i", "itemType": "function_call", "name": "n" }),
            "payload.callId",
        ),
    ] {
        rejects(envelope(payload), field);
    }
    rejects(envelope(json!({ "type": "nonsense" })), "payload");
}

// TC-1.2a, TC-1.2b, TC-1.2c
#[test]
fn events_carry_the_ids_that_tie_them_together() {
    let call = json!({ "type": "function_call", "name": "n", "callId": "c", "arguments": {} });
    let output = json!({ "type": "function_call_output", "callId": "c", "output": "", "isError": false });
    let events = [
        accepts(json!({ "type": "response_start", "modelId": "m", "providerId": "p" })),
        accepts(
            json!({ "type": "item_start", "itemId": "i", "itemType": "function_call", "name": "n", "callId": "c" }),
        ),
        accepts(json!({ "type": "item_delta", "itemId": "i", "deltaContent": "{}" })),
        accepts(json!({ "type": "item_done", "itemId": "i", "finalItem": call })),
        accepts(json!({ "type": "item_done", "itemId": "o", "finalItem": output })),
        accepts(json!({ "type": "response_done", "status": "completed" })),
    ];
    assert!(events.iter().all(|event| event.turn_id.as_str() == "t1"), "one turn");
    let mut items = Vec::new();
    let mut calls = Vec::new();
    for event in &events {
        match &event.payload {
            StreamEvent::ItemStart { item_id, call_id, .. } => {
                items.push(item_id.as_str());
                calls.extend(call_id.as_ref().map(CallId::as_str));
            }
            StreamEvent::ItemDelta { item_id, .. } => items.push(item_id.as_str()),
            StreamEvent::ItemDone { item_id, final_item } => {
                items.push(item_id.as_str());
                match final_item {
                    FinalizedItem::FunctionCall { call_id, .. }
                    | FinalizedItem::FunctionCallOutput { call_id, .. } => calls.push(call_id.as_str()),
                    FinalizedItem::Message { .. } | FinalizedItem::Reasoning { .. } => {}
                }
            }
            _ => {}
        }
    }
    assert_eq!(items, ["i", "i", "i", "o"]);
    assert_eq!(calls, ["c", "c", "c"]);
}

// TC-1.3a
#[test]
fn contracts_keep_provenance_and_order() {
    let event = serde_json::to_value(schemars::schema_for!(StreamEventEnvelope)).unwrap();
    for field in ["eventId", "timestamp", "turnId", "sessionId", "type", "payload"] {
        assert!(event["properties"].get(field).is_some(), "{field}");
    }
    let upsert = serde_json::to_value(schemars::schema_for!(crate::upsert::Upsert)).unwrap();
    let required: Vec<_> = upsert["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for field in ["turnId", "sessionId", "itemId", "sourceTimestamp", "emittedAt", "status"] {
        assert!(required.contains(&field), "{field} in {required:?}");
    }
}

// TC-1.3b
#[test]
fn what_is_derived_later_is_said_where_the_contract_is() {
    let contract = include_str!("../stream.rs");
    let documentation: String = contract.lines().take_while(|line| line.starts_with("//!")).collect();
    for derived in ["turnSequenceNumber", "llmTurnNumber", "entryType"] {
        assert!(documentation.contains(derived), "{derived}");
        assert!(
            !serde_json::to_string(&schemars::schema_for!(StreamEventEnvelope)).unwrap().contains(derived)
        );
    }
}

#[test]
fn unknown_fields_of_an_envelope_are_kept() {
    let mut value = envelope(json!({ "type": "response_start", "modelId": "m", "providerId": "p" }));
    value["fromTheFuture"] = json!({ "a": 1 });
    let event = StreamEventEnvelope::from_value(&value).unwrap();
    assert_eq!(serde_json::to_value(&event).unwrap(), value);
}
