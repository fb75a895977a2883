//! Canonical stream events: the one vocabulary that every agent's output is translated into.
//!
//! These describe data in flight. What a completed item becomes downstream (`turnSequenceNumber`, `llmTurnNumber`,
//! the canonical `entryType`) is derived by whoever stores conversations for good, not here; the ids and the
//! source timestamps that such a derivation needs are all kept.

mod validate;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{CallId, EventId, ItemId, SessionId, TurnId};

pub use validate::InvalidStreamEvent;

/// One event with the ids that tie it to its session and turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamEventEnvelope {
    pub event_id: EventId,
    /// When the source produced it, ISO 8601 UTC.
    pub timestamp: String,
    pub turn_id: TurnId,
    pub session_id: SessionId,
    /// Equals the payload's own type; both are on the wire, so that a reader can route without the payload.
    #[serde(rename = "type")]
    pub event_type: StreamEventType,
    pub payload: StreamEvent,
    /// Fields we do not know are kept: the CLIs change often.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamEventType {
    ResponseStart,
    ItemStart,
    ItemDelta,
    ItemDone,
    ItemError,
    ItemCancelled,
    ResponseDone,
    ResponseError,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    ResponseStart {
        model_id: String,
        provider_id: String,
    },
    ItemStart {
        item_id: ItemId,
        item_type: ItemType,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initial_content: Option<String>,
        /// Required for a function call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Required for a function call and for its output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
        /// The call of the agent that this item belongs to, when a subagent made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<CallId>,
    },
    ItemDelta {
        item_id: ItemId,
        delta_content: String,
    },
    ItemDone {
        item_id: ItemId,
        final_item: FinalizedItem,
    },
    ItemError {
        item_id: ItemId,
        error: ErrorDetail,
    },
    ItemCancelled {
        item_id: ItemId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ResponseDone {
        status: ResponseStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorDetail>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    ResponseError {
        error: ErrorDetail,
    },
}

impl StreamEvent {
    /// Returns the discriminator that the envelope repeats.
    pub fn event_type(&self) -> StreamEventType {
        match self {
            Self::ResponseStart { .. } => StreamEventType::ResponseStart,
            Self::ItemStart { .. } => StreamEventType::ItemStart,
            Self::ItemDelta { .. } => StreamEventType::ItemDelta,
            Self::ItemDone { .. } => StreamEventType::ItemDone,
            Self::ItemError { .. } => StreamEventType::ItemError,
            Self::ItemCancelled { .. } => StreamEventType::ItemCancelled,
            Self::ResponseDone { .. } => StreamEventType::ResponseDone,
            Self::ResponseError { .. } => StreamEventType::ResponseError,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemType {
    Message,
    Reasoning,
    FunctionCall,
    FunctionCallOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    Completed,
    Cancelled,
    Error,
}

/// The finished item; authoritative over whatever the deltas added up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FinalizedItem {
    Message {
        content: String,
        origin: Origin,
    },
    Reasoning {
        content: String,
        provider_id: String,
    },
    FunctionCall {
        name: String,
        call_id: CallId,
        arguments: Map<String, Value>,
    },
    FunctionCallOutput {
        call_id: CallId,
        output: String,
        is_error: bool,
        /// What the page shows beside the text: diffs, an exit code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<crate::upsert::ToolDetail>,
    },
}

/// Who said it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    User,
    Agent,
    System,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ErrorDetail {
    pub code: String,
    pub message: String,
}

/// Tokens, and what the agent says they cost.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    #[ts(type = "number")]
    pub input_tokens: u64,
    #[ts(type = "number")]
    pub output_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub cache_read_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub cache_creation_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost_usd: Option<f64>,
    /// Tokens in the context window after this turn, and the window's size, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub context_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub context_window: Option<u64>,
}
