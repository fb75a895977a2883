//! How much an answer says.

use serde::{Deserialize, Serialize};

/// Short text, or every field.
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
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Text.
    #[default]
    Brief,
    /// Every field as data.
    Full,
}
