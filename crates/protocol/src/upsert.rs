//! Upserts: one item's whole state so far. The page replaces, it never appends.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{CallId, ItemId, SessionId, TurnId};
use crate::lsp::ToldDiagnostics;
use crate::stream::Origin;

/// The state of one item at one moment, with its full accumulated content.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Upsert {
    /// The turn that produced it.
    pub turn_id: TurnId,
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// The item whose state this replaces.
    pub item_id: ItemId,
    /// When the agent produced it, ISO 8601 UTC.
    pub source_timestamp: String,
    /// When the processor emitted it, ISO 8601 UTC.
    pub emitted_at: String,
    /// Where the item is in its life.
    pub status: UpsertStatus,
    /// With `error`: the agent's code, or one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error_code: Option<String>,
    /// With `error`: a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error_message: Option<String>,
    /// The call of the agent that this item belongs to, when a subagent made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent_call_id: Option<CallId>,
    /// The item's content so far.
    #[serde(flatten)]
    pub body: UpsertBody,
}

/// Where an item is in its life.
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
pub enum UpsertStatus {
    /// The first of it.
    Create,
    /// It has grown.
    Update,
    /// It is finished; nothing of it follows.
    Complete,
    /// It failed or broke off; nothing of it follows.
    Error,
}

/// What an item is.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum UpsertBody {
    /// Text that was said.
    Message {
        /// The text so far.
        content: String,
        /// Who said it.
        origin: Origin,
        /// How many images came with a user's message.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[ts(optional, as = "Option<u32>")]
        image_count: u32,
    },
    /// The model's thinking.
    Thinking {
        /// The text so far.
        content: String,
        /// The agent's config key.
        provider_id: String,
    },
    /// A tool call with its result.
    ToolCall {
        /// The tool by the agent's name for it.
        tool_name: String,
        /// Partial or empty at `create`; final at `complete`.
        #[ts(type = "Record<string, unknown>")]
        tool_arguments: Map<String, Value>,
        /// Joins the call with its result and with a question about it.
        call_id: CallId,
        /// The result as text, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tool_output: Option<String>,
        /// Whether the tool says that it failed, once there is a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tool_output_is_error: Option<bool>,
        /// What the page draws beside the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        detail: Option<ToolDetail>,
    },
}

pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What the page shows of a tool call beside its text; computed on the server, capped.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ToolDetail {
    /// Which card the page draws; absent means `other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<ToolKind>,
    /// A short human line of the agent's own, e.g. the description of a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// The changes of an edit, file by file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<FileDiff>>")]
    pub diffs: Vec<FileDiff>,
    /// The exit status of a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub exit_code: Option<i32>,
    /// How long the tool ran, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
    /// Set when the text was cut for the wire: its full length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub truncated_from: Option<u64>,
    /// What the agent was told about errors after this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diagnostics: Option<ToldDiagnostics>,
    /// What the agent's sandbox leaves out of what this call failed with, a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sandbox: Option<String>,
}

/// Which card the page draws for a tool.
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
pub enum ToolKind {
    /// A command with its output.
    Shell,
    /// A change of files, as diffs.
    Edit,
    /// A file that was read.
    Read,
    /// A search for files or text.
    Search,
    /// A page fetched or a web search.
    Web,
    /// A tool of an MCP server.
    Mcp,
    /// The agent's list of what it means to do.
    Todo,
    /// An agent that this one started; its items carry `parentCallId`.
    Subagent,
    /// Any other tool: its arguments and its text.
    Other,
}

/// One file's change as hunks. Lines carry no newline.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// As the agent named it.
    pub path: String,
    /// Lines added in the whole file, also those of hunks left out.
    pub added: u32,
    /// Lines removed in the whole file, also those of hunks left out.
    pub removed: u32,
    /// In the order of the file.
    pub hunks: Vec<DiffHunk>,
    /// True when hunks were left out because the change is larger than a person would read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub truncated: bool,
}

/// A run of changed lines with the lines around it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// The first line in the old file, 1-based.
    pub old_start: u32,
    /// The first line in the new file, 1-based.
    pub new_start: u32,
    /// Removed lines stand before the added ones that replace them.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    /// Whether it was added, removed or left alone.
    pub kind: DiffLineKind,
    /// The line in runs; `changed` runs are the intra-line marks.
    pub spans: Vec<DiffSpan>,
}

/// What happened to a line.
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
pub enum DiffLineKind {
    /// It is in both files.
    Context,
    /// It is in the new file only.
    Added,
    /// It is in the old file only.
    Removed,
}

/// A part of a line.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DiffSpan {
    /// The characters; all spans together are the line.
    pub text: String,
    /// It differs from the line that it replaces or that replaces it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub changed: bool,
}
