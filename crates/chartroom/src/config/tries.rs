//! `[tries]`: how several tries of one message are compared, for all projects and for single ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// How several tries of one message are compared. Only this file can name a command, never a project's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TriesConfig {
    /// A command that tests what a try has made, word by word, e.g. `["npm", "test"]`; it runs in the try's worktree, in the
    /// sandbox of its agent.
    pub test: Vec<String>,
    /// Settings for the projects at and below a path; what is not set there is as above.
    pub projects: BTreeMap<String, ProjectTriesConfig>,
}

/// The same for the projects below one path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProjectTriesConfig {
    /// Run instead of what is set for all.
    pub test: Option<Vec<String>>,
}
