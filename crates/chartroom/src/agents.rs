//! What people call the agents, and how they get them.

use crate::config::AgentCommand;

pub(crate) fn display_name(agent: &AgentCommand) -> String {
    match agent.name.as_str() {
        "claude-code" => "Claude Code".to_owned(),
        "codex" => "Codex".to_owned(),
        name => name.to_owned(),
    }
}

pub(crate) fn install_command(agent: &AgentCommand) -> String {
    match (agent.name.as_str(), agent.command.as_str()) {
        ("claude-code", "claude") => "npm install -g @anthropic-ai/claude-code".to_owned(),
        ("codex", "codex-acp") => "npm install -g @zed-industries/codex-acp".to_owned(),
        (name, command) => format!("put `{command}` on PATH, or correct agents.{name}.command in the config"),
    }
}
