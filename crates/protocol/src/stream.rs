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
    /// Unique per event.
    pub event_id: EventId,
    /// When the source produced it, ISO 8601 UTC.
    pub timestamp: String,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// Equals the payload's own type; both are on the wire, so that a reader can route without the payload.
    #[serde(rename = "type")]
    pub event_type: StreamEventType,
    /// What happened.
    pub payload: StreamEvent,
    /// Fields we do not know are kept: the CLIs change often.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The discriminators of [`StreamEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamEventType {
    /// See [`StreamEvent::ResponseStart`].
    ResponseStart,
    /// See [`StreamEvent::ItemStart`].
    ItemStart,
    /// See [`StreamEvent::ItemDelta`].
    ItemDelta,
    /// See [`StreamEvent::ItemDone`].
    ItemDone,
    /// See [`StreamEvent::ItemError`].
    ItemError,
    /// See [`StreamEvent::ItemCancelled`].
    ItemCancelled,
    /// See [`StreamEvent::ResponseDone`].
    ResponseDone,
    /// See [`StreamEvent::ResponseError`].
    ResponseError,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    /// The agent began to answer.
    ResponseStart {
        /// The model that answers, by the agent's name for it.
        model_id: String,
        /// The agent's config key.
        provider_id: String,
    },
    /// An item begins; its content follows in deltas.
    ItemStart {
        /// Names the item in its later events.
        item_id: ItemId,
        /// What the item will be.
        item_type: ItemType,
        /// What is there before the first delta.
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
    /// An item grows.
    ItemDelta {
        /// The item that grows.
        item_id: ItemId,
        /// What is appended.
        delta_content: String,
    },
    /// An item is finished.
    ItemDone {
        /// The item that is finished.
        item_id: ItemId,
        /// Its whole content.
        final_item: FinalizedItem,
    },
    /// An item failed; what it has so far is kept.
    ItemError {
        /// The item that failed.
        item_id: ItemId,
        /// Why it failed.
        error: ErrorDetail,
    },
    /// An item was stopped before it was finished.
    ItemCancelled {
        /// The item that was stopped.
        item_id: ItemId,
        /// The agent's own word on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The agent's answer ended.
    ResponseDone {
        /// How it ended.
        status: ResponseStatus,
        /// The model's own stop reason, e.g. `end_turn`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish_reason: Option<String>,
        /// Required when the status is `error`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorDetail>,
        /// What the turn used, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The answer broke off.
    ResponseError {
        /// Why it broke off.
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

/// What kind of item a stream carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemType {
    /// Text of the user, the agent or the system.
    Message,
    /// The model's thinking.
    Reasoning,
    /// A tool call.
    FunctionCall,
    /// A tool's result; it completes its call and is no item of its own on the page.
    FunctionCallOutput,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    /// The agent went through with it.
    Completed,
    /// The user stopped it.
    Cancelled,
    /// It failed; `error` says why.
    Error,
}

/// The finished item; authoritative over whatever the deltas added up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FinalizedItem {
    /// Text that was said.
    Message {
        /// The whole text.
        content: String,
        /// Who said it.
        origin: Origin,
    },
    /// The model's thinking.
    Reasoning {
        /// The whole text; empty where the model hides it.
        content: String,
        /// The agent's config key.
        provider_id: String,
    },
    /// A tool call, before its result.
    FunctionCall {
        /// The tool by the agent's name for it.
        name: String,
        /// Joins the call with its output.
        call_id: CallId,
        /// The arguments, parsed.
        arguments: Map<String, Value>,
    },
    /// A tool's result.
    FunctionCallOutput {
        /// The call that it answers.
        call_id: CallId,
        /// The result as text.
        output: String,
        /// Whether the tool says that it failed.
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
    /// The person.
    User,
    /// The model.
    Agent,
    /// The agent program itself, e.g. about a failed request.
    System,
}

/// A failure as an agent tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ErrorDetail {
    /// The agent's code, else one of [`ErrorCode`](crate::error::ErrorCode) as a string.
    pub code: String,
    /// A sentence for people.
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
    /// Tokens that the model read, without those from the cache.
    #[ts(type = "number")]
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    #[ts(type = "number")]
    pub output_tokens: u64,
    /// Tokens read from the prompt cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens written to the prompt cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub cache_creation_input_tokens: Option<u64>,
    /// The agent's own figure, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost_usd: Option<f64>,
    /// Tokens in the context window after this turn, and the window's size, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub context_tokens: Option<u64>,
    /// The size of the context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub context_window: Option<u64>,
}
