//! Bodies of the session API.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{CliType, ProjectId, QuestionId, QueuedId, SessionId, TurnId};
use crate::worktree::AddWorktreeParams;

/// What a session is doing, for lists and for the composer.
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
pub enum SessionState {
    /// Ready for a message. A session that is stored but has no process yet is open too: a send loads it.
    Open,
    /// Its agent is being started or its history read.
    Loading,
    /// A turn runs.
    Working,
    /// A permission or a question waits for a person.
    NeedsYou,
    /// It was killed or its agent broke; the state frame's note says why. A load or a message starts it again.
    Dead,
}

/// Body of `POST /api/session/create`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSessionParams {
    /// The agent to start.
    pub cli_type: CliType,
    /// The folder it works in, absolute; it must be trusted.
    pub project_dir: String,
    /// The agent's own name of a model; its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The agent's own id of a permission mode; its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<String>,
    /// Passed to the provider as it is, which takes what it knows, e.g. `maxThinkingTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub provider_options: Option<Map<String, Value>>,
    /// Work in a new worktree of the folder's repository instead, which is made first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub worktree: Option<AddWorktreeParams>,
}

/// Answer of create and load.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SessionResponse {
    /// The CLI's own id, which resumes it in a terminal too.
    pub session_id: SessionId,
    /// The agent that runs it.
    pub cli_type: CliType,
}

/// Answer of `GET /api/session/list`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SessionListResponse {
    /// Newest activity first.
    pub sessions: Vec<SessionSummary>,
}

/// A session as lists show it.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The CLI's own id.
    pub session_id: SessionId,
    /// The agent that runs it.
    pub cli_type: CliType,
    /// The project whose folder it works in.
    pub project_id: ProjectId,
    /// The beginning of the first message, until the user or the agent gives another.
    pub title: String,
    /// What it is doing now.
    pub state: SessionState,
    /// ISO 8601 UTC; the list is sorted by it, newest first.
    pub last_activity: String,
    /// True for a session that the user made outside Chartroom and has not opened here yet.
    pub discovered: bool,
    /// Put away by the user; lists show it only when asked.
    pub archived: bool,
}

/// Answer of `GET /api/session/{id}/status`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatusResponse {
    /// The CLI's own id.
    pub session_id: SessionId,
    /// The agent that runs it.
    pub cli_type: CliType,
    /// Whether the agent's process runs; a session without one starts it with the next message.
    pub is_alive: bool,
    /// What it is doing now.
    pub state: SessionState,
    /// The title that lists show.
    pub title: String,
    /// The model in use, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The permission mode in use, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<String>,
}

/// Body of `POST /api/session/{id}/send`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendParams {
    /// What the user says; it may be blank only beside images.
    pub message: String,
    /// Sent to the model with the message, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ImageData>>")]
    pub images: Vec<ImageData>,
}

/// One image of a message.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ImageData {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Base64, without a data: prefix.
    pub data: String,
}

/// Answer of send; the turn's output comes over the WebSocket.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SendResponse {
    /// The id that every output of this turn carries, also when the message waits in the queue first.
    pub turn_id: TurnId,
    /// True when another turn runs: the message is delivered after it.
    pub queued: bool,
}

/// Something the agent waits for a person to answer.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Names it in the answer.
    pub question_id: QuestionId,
    /// ISO 8601 UTC.
    pub asked_at: String,
    /// What is asked.
    #[serde(flatten)]
    pub body: QuestionBody,
}

/// A permission or a choice.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few at a time; a box would only make them harder to match"
)]
pub enum QuestionBody {
    /// May this tool run? Shown in full: the exact command or path, control characters escaped by the page.
    Permission {
        /// The tool by the agent's own name.
        tool_name: String,
        /// The arguments it would run with, unabridged: the page shows every one of them. A number that JavaScript
        /// cannot hold is here as its digits.
        #[ts(type = "Record<string, unknown>")]
        tool_arguments: Map<String, Value>,
        /// Names of arguments that are the agent's own bookkeeping, as ids and times are: the page folds them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        bookkeeping: Vec<String>,
        /// The tool call that waits, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        call_id: Option<crate::ids::CallId>,
        /// The agent's own line on why it asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        description: Option<String>,
        /// What "always" may grant, the narrowest first; nothing else is ever granted.
        #[serde(default)]
        grants: Vec<Grant>,
        /// What the page shows beside the arguments, e.g. the diff of an edit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        detail: Option<crate::upsert::ToolDetail>,
    },
    /// The agent asks something with options.
    Choice {
        /// Answered together.
        questions: Vec<ChoiceQuestion>,
    },
}

/// Something that a person may allow from now on, in words that say all of it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Names it in the answer.
    pub grant_id: String,
    /// What will run unasked, e.g. "`npm test` with any arguments".
    pub what: String,
    /// Where it holds, and for how long.
    pub scope: GrantScope,
    /// Whether it lets more through than what is asked about now.
    pub is_wider: bool,
}

/// Where a grant holds.
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
pub enum GrantScope {
    /// In this session, as long as its agent runs.
    Session,
    /// In this project, for this person.
    Project,
    /// In this project, for everybody who works on it.
    SharedProject,
    /// In all projects of this person.
    Everywhere,
    /// Only the agent's own words tell.
    AsTheAgentSays,
}

/// One question of a choice.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceQuestion {
    /// The sentence; it is also the key of its answer.
    pub question: String,
    /// One or two words for a tab.
    #[serde(default)]
    pub header: String,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// In the agent's order; the user may also write an answer of their own.
    pub options: Vec<ChoiceOption>,
}

/// One answer that the agent offers.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceOption {
    /// The answer, as it is sent back.
    pub label: String,
    /// What choosing it means.
    #[serde(default)]
    pub description: String,
}

/// Body of `POST /api/session/{id}/answer`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerParams {
    /// The question that is answered.
    pub question_id: QuestionId,
    /// The user's decision; for a choice, `deny` declines to answer.
    pub decision: Decision,
    /// With `deny`: what the agent should do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
    /// With `allow_always`: which of the question's grants; without it the narrowest. One that was not offered grants
    /// nothing, and the tool runs this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub grant_id: Option<String>,
    /// For a choice: question text to chosen label (several joined by ", ").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub answers: Option<std::collections::BTreeMap<String, String>>,
}

/// What a person decides about a question.
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
pub enum Decision {
    /// This once.
    Allow,
    /// Now, and from now on what one of the question's grants says.
    AllowAlways,
    /// The tool does not run; the turn goes on.
    Deny,
}

/// A message that waits for the running turn to end.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct QueuedMessage {
    /// Names it in changes of the queue.
    pub queued_id: QueuedId,
    /// The id that its turn will have.
    pub turn_id: TurnId,
    /// The text as it stands now, edits included.
    pub message: String,
    /// How many images go with it; the images themselves stay on the server.
    pub image_count: u32,
    /// ISO 8601 UTC.
    pub queued_at: String,
}

/// Answer of `/api/session/{id}/queue`, after a change too.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct QueueResponse {
    /// What still waits, in the order of delivery.
    pub messages: Vec<QueuedMessage>,
}

/// What to do with one queued message, or with all of them.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "action", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum QueueParams {
    /// Replaces the text.
    Edit {
        /// The message to change.
        queued_id: QueuedId,
        /// The new text.
        message: String,
    },
    /// Takes the message out; it is never delivered.
    Remove {
        /// The message to take out.
        queued_id: QueuedId,
    },
    /// Interrupts the running turn and delivers this message next.
    SendNow {
        /// The message to deliver first.
        queued_id: QueuedId,
    },
    /// Keeps what waits back until `continue`, also over a restart; a message that is sent meanwhile goes first and lets
    /// the rest go on. Does nothing when nothing waits.
    Hold,
    /// Lets what was kept back go on.
    Continue,
}

/// Body of `POST /api/session/{id}/model`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetModelParams {
    /// One of the ids in `SessionOptions::models`.
    pub model: String,
}

/// Body of `POST /api/session/{id}/mode`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetModeParams {
    /// One of the ids in `SessionOptions::modes`.
    pub mode: String,
}

/// Body of `POST /api/session/{id}/title`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetTitleParams {
    /// 1 to 200 characters; white space is collapsed.
    pub title: String,
}

/// What the composer offers for one session: models, modes, slash commands.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SessionOptions {
    /// The models that the agent offers, in its order.
    pub models: Vec<NamedOption>,
    /// The permission modes that the agent offers, in its order.
    pub modes: Vec<NamedOption>,
    /// Slash commands, without the slash.
    pub commands: Vec<NamedOption>,
    /// The id of the model in use, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The id of the mode in use, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<String>,
}

/// A choice with its words for people.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NamedOption {
    /// What is sent to the agent.
    pub id: String,
    /// What people read.
    pub name: String,
    /// One line of the agent's own; it may be empty.
    #[serde(default)]
    pub description: String,
}

/// Body of `POST /api/session/{id}/archive`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArchiveParams {
    /// False puts it back into the list.
    pub archived: bool,
}

/// Done, and there is nothing to say about it.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
pub struct DoneResponse {}
