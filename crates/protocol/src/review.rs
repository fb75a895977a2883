//! What a person notes beside the changes of a session: comments on lines, and which files were looked at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All notes of a session. Answer of `GET /api/session/{id}/review` and of everything that changes them.
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
pub struct Review {
    /// In the order in which they were begun.
    pub comments: Vec<Comment>,
    /// The files that were looked at, each with the id of the content that it had then.
    pub viewed: BTreeMap<String, String>,
}

/// A comment on some lines of a changed file. Body of `POST /api/session/{id}/review/comment`: one with the same id is
/// replaced.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Comment {
    /// Whoever writes it chooses it.
    pub comment_id: String,
    /// The file, below the top of the working tree.
    pub path: String,
    /// Whether the lines are those that were, or those that are.
    pub side: CommentSide,
    /// The first line, from 1.
    pub first_line: u32,
    /// The last one.
    pub last_line: u32,
    /// The lines as they were when it was written.
    pub quote: String,
    /// What is said about them.
    pub text: String,
    /// How far it has come.
    pub state: CommentState,
}

/// Which lines a comment is about.
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
#[serde(rename_all = "lowercase")]
pub enum CommentSide {
    /// Those that went.
    Before,
    /// Those that are there.
    After,
}

/// How far a comment has come.
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
#[serde(rename_all = "lowercase")]
pub enum CommentState {
    /// It waits to be sent.
    Open,
    /// The agent has it.
    Sent,
    /// A person says that it is done.
    Resolved,
}

/// Body of `POST /api/session/{id}/review/viewed`: a file was looked at.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ViewedParams {
    /// The file.
    pub path: String,
    /// The id of its content; absent when it counts as not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<String>,
}
