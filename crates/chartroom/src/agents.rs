//! Which agents are on this machine.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use chartroom_protocol::agent::{Agent, AgentStatus};
use chartroom_protocol::ids::CliType;

use crate::config::{AgentCommand, Config};

/// Returns every agent of the config, found or missing, with the command that installs it.
pub fn list(config: &Config) -> Vec<Agent> {
    list_on(config, std::env::var_os("PATH").as_deref())
}

fn list_on(config: &Config, path: Option<&OsStr>) -> Vec<Agent> {
    config
        .agent_commands()
        .into_iter()
        .map(|agent| {
            let found = find(&agent.command, path);
            Agent {
                cli_type: CliType::new(&agent.name),
                name: display_name(&agent),
                status: if found.is_some() { AgentStatus::Found } else { AgentStatus::Missing },
                path: found.map(|path| path.display().to_string()),
                install: install_command(&agent),
            }
        })
        .collect()
}

/// Returns the program that `command` names. PATH entries that are empty or relative are not looked at: they would
/// make the current folder, which may be a hostile project, a place for programs.
pub(crate) fn find(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let command = Path::new(command);
    if command.components().count() > 1 {
        return (command.is_absolute() && is_executable(command)).then(|| command.to_owned());
    }
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|program| is_executable(program))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn program(folder: &Path, name: &str, mode: u32) {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn an_agent_on_path_is_found_and_another_is_missing_with_its_install_command() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "claude", 0o755);
        program(folder.path(), "codex-acp", 0o644);
        let agents = list_on(&Config::default(), Some(folder.path().as_os_str()));
        let expected = [
            Agent {
                cli_type: CliType::new("claude-code"),
                name: "Claude Code".to_owned(),
                status: AgentStatus::Found,
                path: Some(folder.path().join("claude").display().to_string()),
                install: "npm install -g @anthropic-ai/claude-code".to_owned(),
            },
            Agent {
                cli_type: CliType::new("codex"),
                name: "Codex".to_owned(),
                status: AgentStatus::Missing,
                path: None,
                install: "npm install -g @zed-industries/codex-acp".to_owned(),
            },
        ];
        assert_eq!(agents, expected);
    }

    #[test]
    fn relative_and_empty_path_entries_are_not_looked_at() {
        for path in ["", ".", ":", "./bin", "::."] {
            assert_eq!(find("Cargo.toml", Some(OsStr::new(path))), None, "{path}");
            assert_eq!(find("sh", Some(OsStr::new(path))), None, "{path}");
        }
        assert_eq!(find("./sh", Some(OsStr::new("/bin"))), None);
        assert_eq!(find("/bin/sh", None), Some(PathBuf::from("/bin/sh")));
    }
}
