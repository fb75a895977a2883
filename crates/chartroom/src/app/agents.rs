//! The agents as providers, and the question that is asked before one starts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::agent::Agent;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::CliType;
use chartroom_providers::acp::{AcpConfig, AcpProvider};
use chartroom_providers::agent_tools::AgentToolsFor;
use chartroom_providers::claude::{ClaudeConfig, ClaudeProvider};
use chartroom_providers::launch;
use chartroom_sessions::{FolderCheck, Provider, ProviderError, Registry};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate};

use super::agent_tools::AGENT_MARK;
use crate::agents::{display_name, install_command};
use crate::config::{AgentCommand, AgentProtocol, Config};

/// Returns a provider for every agent of the config.
pub(super) fn registry(config: &Config, gate: &SpawnGate, agent_tools: AgentToolsFor) -> Registry {
    let mut registry = Registry::default();
    for agent in config.agent_commands() {
        registry.register(provider(&agent, config.sessions.idle(), gate.clone(), agent_tools.clone()));
    }
    registry
}

fn provider(
    agent: &AgentCommand,
    idle: Option<Duration>,
    gate: SpawnGate,
    agent_tools: AgentToolsFor,
) -> Arc<dyn Provider> {
    let command = launch_command(agent);
    let agent_tools = Some(agent_tools);
    match agent.protocol {
        AgentProtocol::StreamJson => {
            let warm_processes = agent.warm_processes;
            let config = ClaudeConfig {
                command,
                warm_processes,
                warm_idle: idle,
                agent_tools,
                ..ClaudeConfig::default()
            };
            Arc::new(ClaudeProvider::new(gate, config))
        }
        AgentProtocol::Acp => {
            let kind =
                if agent.name == "codex" { AcpConfig::codex() } else { AcpConfig::agent(command.clone()) };
            let warm_processes = agent.warm_processes.or(kind.warm_processes);
            let config = AcpConfig { command, agent_tools, warm_processes, warm_idle: idle, ..kind };
            Arc::new(AcpProvider::new(gate, config))
        }
    }
}

/// Returns every agent of the config, found or missing, with the command that installs it.
pub(crate) fn list(config: &Config) -> Vec<Agent> {
    config.agent_commands().iter().map(|agent| launch_command(agent).agent()).collect()
}

/// The user's words for an agent, as the providers take them.
fn launch_command(agent: &AgentCommand) -> launch::AgentCommand {
    launch::AgentCommand {
        cli_type: CliType::from(agent.name.as_str()),
        name: display_name(agent),
        program_name: agent.command.clone(),
        program: Some(PathBuf::from(&agent.command)),
        args: agent.args.iter().map(OsString::from).collect(),
        env: [(AGENT_MARK.into(), "1".into())]
            .into_iter()
            .chain(agent.env.iter().map(|(name, value)| (name.into(), value.into())))
            .collect(),
        install: install_command(agent),
    }
}

/// An agent starts only in a folder that exists and is trusted; the refusal names the command that mends it.
pub(super) fn folder_check(gate: &SpawnGate) -> FolderCheck {
    let gate = gate.clone();
    Arc::new(move |folder: &Path| {
        let root = CanonicalRoot::open(folder).map_err(|error| {
            ProviderError::new(ErrorCode::InvalidPath, error.to_string()).with_cause(error)
        })?;
        if gate.is_trusted(&root) {
            return Ok(());
        }
        let what = "an agent would run its hooks and servers".to_owned();
        let error = GateError::Untrusted { root, what };
        Err(ProviderError::new(ErrorCode::WorkspaceUntrusted, error.to_string()).with_cause(error))
    })
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::agent::AgentStatus;

    use super::*;

    #[test]
    fn the_users_words_reach_the_launch() {
        let text = "[agents.gemini]\ncommand = \"gemini\"\nargs = [\"--acp\"]\nenv = { A = \"1\" }\n";
        let config: Config = toml::from_str(text).unwrap();
        let commands = config.agent_commands();
        let gemini = launch_command(&commands[2]);
        assert_eq!(
            (gemini.cli_type.as_str(), gemini.program_name.as_str(), gemini.args, gemini.env.len()),
            ("gemini", "gemini", vec![OsString::from("--acp")], 2)
        );
    }

    #[test]
    fn an_agent_that_is_missing_is_listed_with_its_install_command() {
        let text =
            "[agents.claude-code]\ncommand = \"/bin/sh\"\n[agents.codex]\nenv = { PATH = \"/nowhere\" }\n";
        let agents = list(&toml::from_str(text).unwrap());
        let agent = |cli_type, name: &str, path: Option<&str>, install: &str| Agent {
            cli_type: CliType::new(cli_type),
            name: name.to_owned(),
            status: if path.is_some() { AgentStatus::Found } else { AgentStatus::Missing },
            path: path.map(str::to_owned),
            install: install.to_owned(),
        };
        let put = "put `/bin/sh` on PATH, or correct agents.claude-code.command in the config";
        let expected = [
            agent("claude-code", "Claude Code", Some("/bin/sh"), put),
            agent("codex", "Codex", None, "npm install -g @zed-industries/codex-acp"),
        ];
        assert_eq!(agents, expected);
    }
}
