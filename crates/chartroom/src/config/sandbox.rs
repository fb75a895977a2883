//! `[sandbox]`: what agents and language servers are kept from, for all projects and for single ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// The sandbox of agents and language servers. Only this file sets it, never a project's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// For agents; `off` unless you say otherwise.
    pub agents: Option<SandboxWord>,
    /// For language servers; by default `workspace` for those known to work in it, where the system can.
    pub language_servers: Option<SandboxWord>,
    /// What enforces it: `landlock` (Linux, the default there), `bubblewrap`, or `sandbox-exec` (macOS, the default there).
    pub tool: Option<SandboxToolWord>,
    /// May be read although they hold secrets, and in `strict` although nobody needs them. Absolute, or from `~/`.
    pub allow_read: Option<Vec<String>>,
    /// May be written too.
    pub allow_write: Option<Vec<String>>,
    /// Where to: by default everywhere in `workspace`, and what an agent needs in `strict`.
    pub network: Option<NetworkConfig>,
    /// Settings for the projects at and below a path; what is not set there is as above.
    pub projects: BTreeMap<String, ProjectSandboxConfig>,
}

/// The same for the projects below one path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProjectSandboxConfig {
    /// For agents.
    pub agents: Option<SandboxWord>,
    /// For language servers.
    pub language_servers: Option<SandboxWord>,
    /// What enforces it.
    pub tool: Option<SandboxToolWord>,
    /// May be read too, instead of what is set for all.
    pub allow_read: Option<Vec<String>>,
    /// May be written too, instead of what is set for all.
    pub allow_write: Option<Vec<String>>,
    /// Where to.
    pub network: Option<NetworkConfig>,
}

/// How much a child is kept from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxWord {
    /// Nothing.
    Off,
    /// It writes only in the project, its own folders, caches and temporary folders, and reads no secrets.
    Workspace,
    /// It reads only the system, the project and its own folders too, and reaches only its model.
    Strict,
}

/// What enforces a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxToolWord {
    /// Linux's own.
    Landlock,
    /// `/usr/bin/bwrap`.
    Bubblewrap,
    /// macOS's own.
    SandboxExec,
}

/// Where a child may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NetworkConfig {
    /// A word for it.
    Word(NetworkWord),
    /// TCP to these ports, on any host.
    Ports(Vec<u16>),
}

/// Where to, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkWord {
    /// Everywhere.
    All,
    /// TCP to port 443 and to the ports of the model and the proxy that the environment names.
    Agent,
    /// Nowhere.
    None,
}

impl SandboxConfig {
    /// Returns the first path that is neither absolute nor from `~/`, by its key.
    pub(super) fn problem(&self) -> Option<String> {
        let of_projects = self.projects.values();
        let lists = [("allowRead", &self.allow_read), ("allowWrite", &self.allow_write)].into_iter().chain(
            of_projects.flat_map(|project| {
                [("allowRead", &project.allow_read), ("allowWrite", &project.allow_write)]
            }),
        );
        let paths = lists.flat_map(|(key, paths)| paths.iter().flatten().map(move |path| (key, path)));
        let mut all = paths.chain(self.projects.keys().map(|path| ("projects", path)));
        let (key, path) = all.find(|(_, path)| !path.starts_with('/') && !path.starts_with("~/"))?;
        Some(format!("the path `{path}` of sandbox.{key} must begin with / or ~/"))
    }
}
