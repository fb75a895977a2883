//! `[worktrees]`: how new worktrees are prepared, for all projects and for single ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// How new worktrees are prepared. Only this file can name a command, never a project's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WorktreesConfig {
    /// Files and folders that git does not bring along and that are copied, e.g. `.env`; below the top of the repository.
    pub copy: Vec<String>,
    /// A command that is run in a new worktree, word by word, e.g. `["npm", "ci"]`; its output is shown.
    pub setup: Vec<String>,
    /// Settings for the projects at and below a path; what is not set there is as above.
    pub projects: BTreeMap<String, ProjectWorktreesConfig>,
}

/// The same for the projects below one path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProjectWorktreesConfig {
    /// Copied instead of what is set for all.
    pub copy: Option<Vec<String>>,
    /// Run instead of what is set for all.
    pub setup: Option<Vec<String>>,
}
