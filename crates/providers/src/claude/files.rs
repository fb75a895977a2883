//! Where Claude Code keeps its sessions.

use std::path::{Path, PathBuf};

use chartroom_protocol::ids::SessionId;

use crate::launch::AgentCommand;

/// Returns Claude's own folder as the process will see it: `CLAUDE_CONFIG_DIR`, or `~/.claude`.
pub(super) fn config_dir(command: &AgentCommand) -> PathBuf {
    if let Some(dir) = command.variable("CLAUDE_CONFIG_DIR") {
        return PathBuf::from(dir);
    }
    PathBuf::from(command.variable("HOME").unwrap_or_default()).join(".claude")
}

/// Returns the folder of a project's session files.
pub(super) fn project_folder(config_dir: &Path, project_dir: &Path) -> PathBuf {
    config_dir.join("projects").join(slug(project_dir))
}

/// Returns the file of a session, if there is one. An id that is no plain name has none.
pub(super) fn session_file(config_dir: &Path, project_dir: &Path, session_id: &SessionId) -> Option<PathBuf> {
    let id = session_id.as_str();
    let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let file = project_folder(config_dir, project_dir).join(format!("{id}.jsonl"));
    (plain && file.is_file()).then_some(file)
}

/// Every character of the path that is not a letter or digit becomes "-".
fn slug(project_dir: &Path) -> String {
    let path = project_dir.to_string_lossy();
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_is_not_alphanumeric_becomes_a_dash() {
        assert_eq!(slug(Path::new("/home/user/project")), "-home-user-project");
        assert_eq!(slug(Path::new("/home/a.b/my_app 2")), "-home-a-b-my-app-2");
    }

    #[test]
    fn an_id_that_is_a_path_has_no_file() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let project = Path::new("/p");
        std::fs::create_dir_all(project_folder(home.path(), project)).expect("a folder");
        std::fs::write(home.path().join("projects/secret.jsonl"), "").expect("a file");
        assert_eq!(session_file(home.path(), project, &SessionId::from("../secret")), None);
        assert_eq!(session_file(home.path(), project, &SessionId::from("")), None);
    }
}
