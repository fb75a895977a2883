//! What was done to the files or the branch of a folder and can be undone.

use serde::{Deserialize, Serialize};

use crate::changes::Restored;

/// What can be undone, the newest first. Answer of `GET /api/session/{id}/undo`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct UndoListResponse {
    /// Each once: what is undone is no longer among them.
    pub acts: Vec<UndoableAct>,
}

/// Something that was done and can be undone.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct UndoableAct {
    /// Its id.
    pub act: String,
    /// When, in milliseconds since 1970.
    #[ts(type = "number")]
    pub at: u64,
    /// What was done, in words.
    pub what: String,
    /// The session that went back to before a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rewound: Option<String>,
    /// The session that was archived with it, and comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub archived: Option<String>,
    /// The session that goes on instead of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub made: Option<String>,
}

/// Body of `POST /api/session/{id}/undo`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoParams {
    /// The act.
    pub act: String,
}

/// What came of an undo.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct UndoResponse {
    /// Whether it was undone. If not, nothing has changed.
    pub done: bool,
    /// What was undone.
    pub undone: UndoableAct,
    /// Why not, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// What came of the files. Those that were changed since are `conflicts`, and as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files: Option<Restored>,
}
