//! What fills an agent's context window, as the agent itself counts it.

use serde::{Deserialize, Serialize};

/// Answer of `GET /api/session/{id}/context`. That an agent cannot tell is no failure, so it is said as a value.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ContextResponse {
    /// The agent told.
    Known {
        /// Its own figures.
        context: ContextUse,
    },
    /// The agent runs and has no way to tell.
    NotTold,
    /// No agent runs, and none is started for the question: a message or a load does that.
    NotRunning,
}

/// How much of the context window is in use, and by what.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    /// What is in use. The agent may have it from the model's own count of the last request, while the categories
    /// are its estimates: they need not add up to it.
    pub total_tokens: u64,
    /// What fits.
    pub max_tokens: u64,
    /// What is kept free on purpose, so that the agent can sum up the conversation when it gets too long.
    pub reserved_tokens: u64,
    /// What is in use, in the agent's own order. Neither free nor reserved space is a category, nor is what would be
    /// loaded only when needed.
    pub categories: Vec<ContextCategory>,
}

/// One part of what is in use.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ContextCategory {
    /// The agent's own word, e.g. "System prompt" or "Messages".
    pub name: String,
    /// The agent's estimate.
    pub tokens: u64,
}
