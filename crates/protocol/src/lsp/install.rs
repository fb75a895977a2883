//! Installing a language server on the user's word: `/api/lsp/install` and `chartroom lsp install`.

use serde::{Deserialize, Serialize};

/// A server that is built in, and how it comes onto this machine.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Installable {
    /// The server's id.
    pub id: String,
    /// What it knows, for people.
    pub language: String,
    /// Whether it was installed into the data folder.
    pub installed: bool,
    /// The package manager of this machine that would bring it; none when it has to be installed by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub manager: Option<String>,
    /// Commands with which a person installs it, or an address.
    pub hints: Vec<String>,
}

/// Every built-in server, by id.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct InstallListResponse {
    /// By id.
    pub servers: Vec<Installable>,
}

/// Which server is to be installed. Only an id can be named: what is run for it is ours.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallParams {
    /// The server's id.
    pub id: String,
}

/// A server that was installed and has answered once.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct InstallResponse {
    /// The server's id.
    pub id: String,
    /// The package manager that brought it.
    pub manager: String,
    /// The program, in the data folder.
    pub path: String,
}
