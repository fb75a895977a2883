//! Turn lifecycle. A failed turn is `turn_error`, never `turn_complete` with an error.

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TurnId};
use crate::stream::Usage;

#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnEvent {
    TurnStarted {
        turn_id: TurnId,
        session_id: SessionId,
        model_id: String,
        provider_id: String,
    },
    TurnComplete {
        turn_id: TurnId,
        session_id: SessionId,
        status: TurnStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        usage: Option<Usage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        duration_ms: Option<u64>,
    },
    TurnError {
        turn_id: TurnId,
        session_id: SessionId,
        error_code: String,
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
    Completed,
    Cancelled,
}
