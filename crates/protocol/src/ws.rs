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
    /// An item's new state.
    #[serde(rename = "session:upsert")]
    Upsert {
        /// The session it belongs to.
        session_id: SessionId,
        /// The place in the session's sequence.
        #[ts(type = "number")]
        seq: u64,
        /// The item's whole state so far.
        payload: Upsert,
    },
    /// A turn began or ended.
    #[serde(rename = "session:turn")]
    Turn {
        /// The session it belongs to.
        session_id: SessionId,
        /// The place in the session's sequence.
        #[ts(type = "number")]
        seq: u64,
        /// What happened to the turn.
        payload: TurnEvent,
    },
    /// The whole state up to `seq`: it replaces what the browser had.
    #[serde(rename = "session:history")]
    History {
        /// The session it belongs to.
        session_id: SessionId,
        /// The last place that is contained.
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
    /// The session's state changed.
    #[serde(rename = "session:state")]
    State {
        /// The session it belongs to.
        session_id: SessionId,
        /// What it is doing now.
        state: SessionState,
        /// What the agent is doing or why it is dead, e.g. "API overloaded, retry 2 of 10 in 4 s".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        note: Option<String>,
    },
    /// The agent waits for a person.
    #[serde(rename = "session:question")]
    Question {
        /// The session that waits.
        session_id: SessionId,
        /// What is asked.
        question: Question,
    },
    /// A question was answered, here or in another browser, or its turn ended.
    #[serde(rename = "session:question-closed")]
    QuestionClosed {
        /// The session that had asked.
        session_id: SessionId,
        /// The question that needs no answer any more.
        question_id: QuestionId,
    },
    /// The queue as it is now; it replaces what the browser had.
    #[serde(rename = "session:queue")]
    Queue {
        /// The session it belongs to.
        session_id: SessionId,
        /// In the order of delivery.
        messages: Vec<QueuedMessage>,
        /// Why the messages wait for a person and not for a turn; loading the session delivers them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        held: Option<String>,
    },
    /// The session has another title.
    #[serde(rename = "session:title")]
    Title {
        /// The session it belongs to.
        session_id: SessionId,
        /// The title that lists show.
        title: String,
    },
    /// The session as lists show it now: it is new, was taken over, was archived or put back.
    #[serde(rename = "session:listed")]
    Listed {
        /// Its row.
        session: SessionSummary,
    },
    /// The session was deleted for good: there is nothing more to show of it.
    #[serde(rename = "session:removed")]
    Removed {
        /// The session that is gone.
        session_id: SessionId,
    },
    /// What the composer offers changed.
    #[serde(rename = "session:options")]
    Options {
        /// The session it belongs to.
        session_id: SessionId,
        /// It replaces what the browser had.
        options: SessionOptions,
    },
    /// The projects as they are now; they replace what the browser had.
    #[serde(rename = "project:list")]
    Projects {
        /// By name, then by path.
        projects: Vec<Project>,
    },
    /// An agent was installed or removed.
    #[serde(rename = "agent:status")]
    Agent {
        /// The agent's config key.
        cli_type: CliType,
        /// Whether it can be used now.
        status: AgentStatus,
    },
    /// Answers a command that succeeded; `result` is the body that the HTTP route would answer.
    #[serde(rename = "ack")]
    Ack {
        /// The command's own.
        request_id: String,
        /// The body of the HTTP route's answer.
        #[ts(type = "unknown")]
        result: Value,
    },
    /// A command failed, or a frame could not be read.
    #[serde(rename = "error")]
    Error {
        /// The command's own; absent for a frame that could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        request_id: Option<String>,
        /// The code that the HTTP route would answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        code: Option<ErrorCode>,
        /// A sentence for people.
        message: String,
    },
}

/// Browser to server. Every command may carry a `requestId`, which its `ack` or `error` repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(rename_all = "camelCase")]
pub struct ClientFrame {
    /// Chosen by the browser; repeated in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub request_id: Option<String>,
    /// What the browser wants.
    #[serde(flatten)]
    pub command: ClientCommand,
}

/// What a browser can ask for; each does what the HTTP route of the same name does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ClientCommand {
    /// Sends this session's frames from now on, and first what is missing.
    Subscribe {
        /// The session to follow.
        session_id: SessionId,
        /// The last seq this browser has; the server sends what is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        after_seq: Option<u64>,
    },
    /// Ends a subscription.
    Unsubscribe {
        /// The session that is no longer followed.
        session_id: SessionId,
    },
    /// Starts the session's agent and reads its history.
    Load {
        /// The session to load.
        session_id: SessionId,
    },
    /// Sends a message, or queues it while a turn runs.
    Send {
        /// The session that gets it.
        session_id: SessionId,
        /// The body of the route.
        params: SendParams,
    },
    /// Stops the running turn; the agent stays.
    Cancel {
        /// The session whose turn is stopped.
        session_id: SessionId,
    },
    /// Ends the agent's process with everything below it.
    Kill {
        /// The session whose agent is ended.
        session_id: SessionId,
    },
    /// Answers a question.
    Answer {
        /// The session that asked.
        session_id: SessionId,
        /// The body of the route.
        params: AnswerParams,
    },
    /// Changes a message that waits.
    Queue {
        /// The session whose queue it is.
        session_id: SessionId,
        /// The body of the route.
        change: QueueParams,
    },
    /// Switches the model, from the next turn on.
    Model {
        /// The session to switch.
        session_id: SessionId,
        /// The body of the route.
        params: SetModelParams,
    },
    /// Switches the permission mode.
    Mode {
        /// The session to switch.
        session_id: SessionId,
        /// The body of the route.
        params: SetModeParams,
    },
}
