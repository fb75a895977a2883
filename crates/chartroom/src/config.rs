//! The user's own settings: `config.toml`, then the environment, then flags, the later one winning.
//!
//! Only this file can name commands to run; a project's files cannot. The JSON Schema of [`Config`] is what the
//! file is checked against (`check`), so a new key is known everywhere the day it is added here.

mod check;
mod load;
#[cfg(test)]
mod reference;
mod sandbox;
mod tries;
mod worktrees;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use chartroom_protocol::index::IndexConfig;
use chartroom_protocol::lsp::LspSetting;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(crate) use chartroom_search::nearest::nearest;
pub use check::Problem;
pub use load::{ConfigError, Overrides, default_path, load, problems};
pub use sandbox::{
    NetworkConfig, NetworkWord, ProjectSandboxConfig, SandboxConfig, SandboxToolWord, SandboxWord,
};
pub use tries::{ProjectTriesConfig, TriesConfig};
pub use worktrees::{ProjectWorktreesConfig, WorktreesConfig};

/// Everything the user may set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// Where the server listens.
    pub server: ServerConfig,
    /// Agents by the name the page shows for them. `claude-code` and `codex` are there without being named.
    pub agents: BTreeMap<String, AgentConfig>,
    /// How long agents are kept that nobody needs.
    pub sessions: SessionsConfig,
    /// What agents and language servers are kept from.
    pub sandbox: SandboxConfig,
    /// How new worktrees are prepared.
    pub worktrees: WorktreesConfig,
    /// How several tries of one message are compared.
    pub tries: TriesConfig,
    /// `false` switches the language service off; a table sets it up; absent means enabled.
    pub lsp: LspSetting,
    /// How code is indexed.
    pub index: IndexConfig,
}

/// Where the workbench listens.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Loopback by default; another address needs a token of yours.
    pub host: String,
    /// 0 takes a free port.
    pub port: u16,
    /// The bearer token; made anew at every start when absent.
    pub token: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { host: "127.0.0.1".to_owned(), port: 4747, token: None }
    }
}

/// How sessions are kept.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionsConfig {
    /// After so many minutes an agent that nobody needs is put to sleep; the next message wakes it. 0 lets it run.
    #[schemars(range(min = 0.0, max = 525600.0))]
    pub idle_minutes: f64,
    /// Record the working tree before and after each turn, outside of the repository, so that a turn can be looked at and
    /// undone.
    pub checkpoints: bool,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self { idle_minutes: 30.0, checkpoints: true }
    }
}

impl SessionsConfig {
    /// Returns after which time an agent sleeps, if it ever does.
    pub fn idle(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.idle_minutes * 60.0).ok().filter(|idle| !idle.is_zero())
    }
}

/// One agent's command.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConfig {
    /// Looked up on PATH, or an absolute path.
    #[serde(default)]
    pub command: Option<String>,
    /// Come before the provider's own arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Added to the agent's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How to talk to it. `acp` for any agent that speaks the Agent Client Protocol.
    #[serde(default)]
    pub protocol: Option<AgentProtocol>,
    /// How many started, unused processes to keep for each open project, so that its next session begins at once. By
    /// default one of Claude Code and of Codex where memory is plenty, none where it is short, and none of other agents.
    #[serde(default)]
    pub warm_processes: Option<usize>,
}

/// What an agent speaks on its pipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgentProtocol {
    /// Claude Code's own lines.
    StreamJson,
    /// The Agent Client Protocol.
    Acp,
}

/// An agent as it will be started: the user's words over what we know by ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The key in the config, e.g. `claude-code`.
    pub name: String,
    /// The program, by name or by its absolute path.
    pub command: String,
    /// Passed as they are, without a shell.
    pub args: Vec<String>,
    /// Added to the agent's environment.
    pub env: BTreeMap<String, String>,
    /// What it speaks.
    pub protocol: AgentProtocol,
    /// How many are kept started ahead of a session.
    pub warm_processes: Option<usize>,
}

impl Config {
    /// Returns the JSON Schema of the config file.
    pub fn schema() -> Value {
        schemars::schema_for!(Config).to_value()
    }

    /// Returns every agent, the two we know first, then the user's own by name.
    pub fn agent_commands(&self) -> Vec<AgentCommand> {
        let known = [
            ("claude-code", "claude", AgentProtocol::StreamJson),
            ("codex", "codex-acp", AgentProtocol::Acp),
        ];
        let mut commands: Vec<AgentCommand> = known
            .into_iter()
            .map(|(name, command, protocol)| agent_command(name, self.agents.get(name), command, protocol))
            .collect();
        for (name, agent) in &self.agents {
            if !known.iter().any(|(known, ..)| known == name) {
                commands.push(agent_command(name, Some(agent), name, AgentProtocol::Acp));
            }
        }
        commands
    }
}

fn agent_command(
    name: &str,
    agent: Option<&AgentConfig>,
    default_command: &str,
    default_protocol: AgentProtocol,
) -> AgentCommand {
    AgentCommand {
        name: name.to_owned(),
        command: agent.and_then(|agent| agent.command.clone()).unwrap_or_else(|| default_command.to_owned()),
        args: agent.map(|agent| agent.args.clone()).unwrap_or_default(),
        env: agent.map(|agent| agent.env.clone()).unwrap_or_default(),
        protocol: agent.and_then(|agent| agent.protocol).unwrap_or(default_protocol),
        warm_processes: agent.and_then(|agent| agent.warm_processes),
    }
}

/// Where the config file is, and what it held.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The config.
    pub config: Config,
    /// The file that was read; none when there is none.
    pub file: Option<PathBuf>,
}
