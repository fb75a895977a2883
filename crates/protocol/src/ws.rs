//! Frames of the WebSocket `/ws`, JSON text, one family.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::AgentStatus;
use crate::error::ErrorCode;
use crate::ids::{CliType, QuestionId, SessionId};
use crate::project::Project;
use crate::session::{
    AnswerParams, Question, QueueParams, QueuedMessage, SendParams, SessionOptions, SessionState,
    SessionSummary, SetModeParams, SetModelParams,
};
use crate::stream::Usage;
use crate::turn::TurnEvent;
use crate::upsert::Upsert;

/// Server to browser. `seq` counts per session; a reader that has seen `seq` has seen all before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum ServerFrame {
    #[serde(rename = "session:upsert")]
    Upsert {
        session_id: SessionId,
        #[ts(type = "number")]
        seq: u64,
        payload: Upsert,
    },
    #[serde(rename = "session:turn")]
    Turn {
        session_id: SessionId,
        #[ts(type = "number")]
        seq: u64,
        payload: TurnEvent,
    },
    /// The whole state up to `seq`: it replaces what the browser had.
    #[serde(rename = "session:history")]
    History {
        session_id: SessionId,
        #[ts(type = "number")]
        seq: u64,
        /// The last upsert of each item, in the order the items appeared.
        entries: Vec<Upsert>,
        /// The turn events, in order.
        turns: Vec<TurnEvent>,
        /// Set when the conversation is longer than one frame: more can be had before this place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        earlier: Option<u64>,
        /// What the turns before that place used, if they used anything; `contextTokens` is not told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        earlier_usage: Option<Usage>,
    },
    #[serde(rename = "session:state")]
    State {
        session_id: SessionId,
        state: SessionState,
        /// What the agent is doing or why it is dead, e.g. "API overloaded, retry 2 of 10 in 4 s".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        note: Option<String>,
    },
    #[serde(rename = "session:question")]
    Question { session_id: SessionId, question: Question },
    #[serde(rename = "session:question-closed")]
    QuestionClosed { session_id: SessionId, question_id: QuestionId },
    #[serde(rename = "session:queue")]
    Queue { session_id: SessionId, messages: Vec<QueuedMessage> },
    #[serde(rename = "session:title")]
    Title { session_id: SessionId, title: String },
    /// The session as lists show it now: it is new, was taken over, was archived or put back.
    #[serde(rename = "session:listed")]
    Listed { session: SessionSummary },
    #[serde(rename = "session:options")]
    Options { session_id: SessionId, options: SessionOptions },
    #[serde(rename = "project:list")]
    Projects { projects: Vec<Project> },
    #[serde(rename = "agent:status")]
    Agent { cli_type: CliType, status: AgentStatus },
    /// Answers a command that succeeded; `result` is the body that the HTTP route would answer.
    #[serde(rename = "ack")]
    Ack {
        request_id: String,
        #[ts(type = "unknown")]
        result: Value,
    },
    #[serde(rename = "error")]
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        request_id: Option<String>,
        /// The code that the HTTP route would answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        code: Option<ErrorCode>,
        message: String,
    },
}

/// Browser to server. Every command may carry a `requestId`, which its `ack` or `error` repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(rename_all = "camelCase")]
pub struct ClientFrame {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub request_id: Option<String>,
    #[serde(flatten)]
    pub command: ClientCommand,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ClientCommand {
    Subscribe {
        session_id: SessionId,
        /// The last seq this browser has; the server sends what is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        after_seq: Option<u64>,
    },
    Unsubscribe {
        session_id: SessionId,
    },
    Load {
        session_id: SessionId,
    },
    Send {
        session_id: SessionId,
        params: SendParams,
    },
    Cancel {
        session_id: SessionId,
    },
    Kill {
        session_id: SessionId,
    },
    Answer {
        session_id: SessionId,
        params: AnswerParams,
    },
    Queue {
        session_id: SessionId,
        change: QueueParams,
    },
    Model {
        session_id: SessionId,
        params: SetModelParams,
    },
    Mode {
        session_id: SessionId,
        params: SetModeParams,
    },
}
