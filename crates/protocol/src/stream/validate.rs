//! Validation of envelopes from outside: the failing field is named, so that a bad source can be mended.

use serde_json::Value;

use super::{FinalizedItem, ItemType, StreamEvent, StreamEventEnvelope};

/// What is wrong with an event, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid stream event: {field}: {problem}")]
pub struct InvalidStreamEvent {
    /// Path of the field, e.g. `payload.callId`.
    pub field: String,
    /// What is wrong with it, as a half sentence.
    pub problem: String,
}

impl InvalidStreamEvent {
    fn at(field: &str, problem: impl Into<String>) -> Self {
        Self { field: field.to_owned(), problem: problem.into() }
    }
}

impl StreamEventEnvelope {
    /// Parses and validates an event of unknown quality.
    pub fn from_value(value: &Value) -> Result<Self, InvalidStreamEvent> {
        let Some(object) = value.as_object() else {
            return Err(InvalidStreamEvent::at("(root)", "expected an object"));
        };
        for field in ["eventId", "timestamp", "turnId", "sessionId", "type"] {
            expect_string(object.get(field), field)?;
        }
        let payload = match object.get("payload") {
            Some(Value::Object(payload)) => payload,
            Some(_) => return Err(InvalidStreamEvent::at("payload", "expected an object")),
            None => return Err(InvalidStreamEvent::at("payload", "missing")),
        };
        if payload.get("type") != object.get("type") {
            return Err(InvalidStreamEvent::at("type", "differs from payload.type"));
        }
        // Serde names no path, so the payload is read field by field first, by what its type requires.
        for field in required_strings(payload.get("type").and_then(Value::as_str).unwrap_or_default()) {
            expect_string(payload.get(*field), &format!("payload.{field}"))?;
        }
        let event: StreamEvent = serde_json::from_value(Value::Object(payload.clone()))
            .map_err(|error| InvalidStreamEvent::at(&payload_field(&error.to_string()), error.to_string()))?;
        let envelope: Self = serde_json::from_value(value.clone())
            .map_err(|error| InvalidStreamEvent::at("type", error.to_string()))?;
        debug_assert_eq!(envelope.payload, event);
        envelope.validate()?;
        Ok(envelope)
    }

    /// Checks what the types alone cannot say.
    pub fn validate(&self) -> Result<(), InvalidStreamEvent> {
        for (field, text) in [
            ("eventId", self.event_id.as_str()),
            ("turnId", self.turn_id.as_str()),
            ("sessionId", self.session_id.as_str()),
        ] {
            if text.is_empty() {
                return Err(InvalidStreamEvent::at(field, "is empty"));
            }
        }
        if !is_utc_timestamp(&self.timestamp) {
            return Err(InvalidStreamEvent::at(
                "timestamp",
                "expected ISO 8601 in UTC, e.g. 2026-01-31T12:00:00.000Z",
            ));
        }
        if self.event_type != self.payload.event_type() {
            return Err(InvalidStreamEvent::at("type", "differs from payload.type"));
        }
        match &self.payload {
            StreamEvent::ItemStart { item_id, item_type, name, call_id, .. } => {
                non_empty("payload.itemId", item_id.as_str())?;
                if *item_type == ItemType::FunctionCall {
                    non_empty("payload.name", name.as_deref().unwrap_or_default())?;
                    non_empty("payload.callId", call_id.as_ref().map(|id| id.as_str()).unwrap_or_default())?;
                }
                Ok(())
            }
            StreamEvent::ItemDone { item_id, final_item } => {
                non_empty("payload.itemId", item_id.as_str())?;
                match final_item {
                    FinalizedItem::FunctionCall { name, call_id, .. } => {
                        non_empty("payload.finalItem.name", name)?;
                        non_empty("payload.finalItem.callId", call_id.as_str())
                    }
                    FinalizedItem::FunctionCallOutput { call_id, .. } => {
                        non_empty("payload.finalItem.callId", call_id.as_str())
                    }
                    FinalizedItem::Message { .. } | FinalizedItem::Reasoning { .. } => Ok(()),
                }
            }
            StreamEvent::ItemDelta { item_id, .. } | StreamEvent::ItemCancelled { item_id, .. } => {
                non_empty("payload.itemId", item_id.as_str())
            }
            StreamEvent::ItemError { item_id, error } => {
                non_empty("payload.itemId", item_id.as_str())?;
                non_empty("payload.error.code", &error.code)
            }
            StreamEvent::ResponseError { error } => non_empty("payload.error.code", &error.code),
            StreamEvent::ResponseStart { .. } | StreamEvent::ResponseDone { .. } => Ok(()),
        }
    }
}

fn required_strings(event_type: &str) -> &'static [&'static str] {
    match event_type {
        "response_start" => &["modelId", "providerId"],
        "item_start" => &["itemId", "itemType"],
        "item_delta" => &["itemId", "deltaContent"],
        "item_done" | "item_error" | "item_cancelled" => &["itemId"],
        "response_done" => &["status"],
        _ => &[],
    }
}

fn expect_string(value: Option<&Value>, field: &str) -> Result<(), InvalidStreamEvent> {
    match value {
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(InvalidStreamEvent::at(field, "expected a string")),
        None => Err(InvalidStreamEvent::at(field, "missing")),
    }
}

fn non_empty(field: &str, text: &str) -> Result<(), InvalidStreamEvent> {
    if text.is_empty() { Err(InvalidStreamEvent::at(field, "is missing or empty")) } else { Ok(()) }
}

/// Finds the field that serde's message quotes; the payload as a whole when it quotes none.
fn payload_field(message: &str) -> String {
    let quoted = message.split('`').nth(1);
    match quoted {
        Some(field) if message.starts_with("missing field") => format!("payload.{field}"),
        _ => "payload".to_owned(),
    }
}

/// Accepts `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, which is what both CLIs and we write.
fn is_utc_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00T00:00:00";
    if bytes.len() < shape.len() + 1 || !text.is_ascii() {
        return false;
    }
    let head_fits = shape.iter().zip(bytes).all(|(&expected, &byte)| match expected {
        b'0' => byte.is_ascii_digit(),
        _ => byte == expected,
    });
    let tail = &text[shape.len()..];
    let fraction = tail.strip_suffix('Z').unwrap_or("x");
    let fraction_fits = fraction.is_empty()
        || fraction
            .strip_prefix('.')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    head_fits && fraction_fits
}
