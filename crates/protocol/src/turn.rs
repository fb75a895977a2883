//! Turn lifecycle. A failed turn is `turn_error`, never `turn_complete` with an error.

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TurnId};
use crate::stream::Usage;

/// What happens to a turn as a whole.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnEvent {
    /// The agent took the message.
    TurnStarted {
        /// The id that send answered with.
        turn_id: TurnId,
        /// The session that it runs in.
        session_id: SessionId,
        /// The model that answers.
        model_id: String,
        /// The agent's config key.
        provider_id: String,
    },
    /// The turn ended without a failure.
    TurnComplete {
        /// The turn that ended.
        turn_id: TurnId,
        /// The session that it ran in.
        session_id: SessionId,
        /// Whether the agent went through with it.
        status: TurnStatus,
        /// What it used, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        usage: Option<Usage>,
        /// From the message to the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        duration_ms: Option<u64>,
    },
    /// The turn failed.
    TurnError {
        /// The turn that failed.
        turn_id: TurnId,
        /// The session that it ran in.
        session_id: SessionId,
        /// The agent's code, or one of ours.
        error_code: String,
        /// A sentence for people.
        error_message: String,
    },
}

impl TurnEvent {
    /// Returns the turn that this event belongs to.
    pub fn turn_id(&self) -> &TurnId {
        match self {
            Self::TurnStarted { turn_id, .. }
            | Self::TurnComplete { turn_id, .. }
            | Self::TurnError { turn_id, .. } => turn_id,
        }
    }

    /// Tells whether this is the end of a turn that the agent went through.
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::TurnComplete { status: TurnStatus::Completed, .. })
    }

    /// Tells whether nothing of this turn may follow.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::TurnStarted { .. } => false,
            Self::TurnComplete { .. } | Self::TurnError { .. } => true,
        }
    }
}

/// How a turn ended that did not fail.
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
pub enum TurnStatus {
    /// The agent went through with it.
    Completed,
    /// The user stopped it.
    Cancelled,
}
