//! Terminals: opening and listing them, and the frames of a terminal's own socket.
//!
//! What a terminal prints and what is typed into it are binary frames, as they are; everything else is JSON text.

use serde::{Deserialize, Serialize};

use crate::ids::{ProjectId, SessionId};

/// Body of `POST /api/terminal`: a shell in a trusted folder.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenTerminalParams {
    /// The project in whose folder it begins.
    pub project_id: ProjectId,
    /// A session of the project: the shell begins in its folder, which may be a worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session_id: Option<SessionId>,
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// One terminal.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TerminalInfo {
    /// Names it.
    pub terminal_id: String,
    /// The shell's name, e.g. `bash`.
    pub shell: String,
    /// The folder it began in.
    pub folder: String,
    /// How its shell ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ended: Option<String>,
}

/// Answer of `GET /api/terminal`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TerminalListResponse {
    /// Those of the folder, by id.
    pub terminals: Vec<TerminalInfo>,
}

/// Server to browser, on a terminal's socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TerminalFrame {
    /// The first frame.
    Attached {
        /// So many bytes come first that were printed before: a question in them has been answered.
        #[ts(type = "number")]
        replayed: u64,
    },
    /// What is missing here was forgotten before it could be sent: the screen begins anew.
    Skipped,
    /// So many bytes that were typed are left out, because nothing reads them.
    Refused {
        /// How many.
        #[ts(type = "number")]
        bytes: u64,
    },
    /// The shell has ended; everything that it printed was sent before.
    Ended {
        /// How, in words: `exited with status 0`.
        how: String,
        /// Whether it ended by itself with status 0.
        success: bool,
    },
}

/// Browser to server, on a terminal's socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TerminalCommand {
    /// So many bytes were drawn since the socket was opened. Without it no more than 256 KiB are sent.
    Read {
        /// How many, in all.
        #[ts(type = "number")]
        bytes: u64,
    },
    /// The terminal has another size, for everybody who looks at it.
    Resize {
        /// Characters in a row.
        columns: u16,
        /// Rows.
        rows: u16,
    },
}
