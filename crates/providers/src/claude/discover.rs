//! Conversations that the user had with Claude outside Chartroom.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::DiscoveredSession;
use serde_json::Value;

use super::files::project_folder;
use super::history::prompt_text;
use crate::json::{optional_text, text};

/// The first message is near the beginning; a file that hides it deeper has no title worth reading on for.
const MAX_READ: u64 = 4 * 1024 * 1024;
/// Of a first message this much is kept; a title needs less.
const MAX_FIRST_MESSAGE: usize = 500;

/// Finds the sessions of a project. A file that cannot be read is passed over.
pub(super) fn sessions(config_dir: &Path, project_dir: &Path) -> Vec<DiscoveredSession> {
    let Ok(entries) = std::fs::read_dir(project_folder(config_dir, project_dir)) else { return Vec::new() };
    let mut sessions: Vec<DiscoveredSession> =
        entries.flatten().filter_map(|entry| session(&entry.path(), project_dir)).collect();
    sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    sessions
}

fn session(file: &Path, project_dir: &Path) -> Option<DiscoveredSession> {
    if file.extension()? != "jsonl" {
        return None;
    }
    let session_id = SessionId::from(file.file_stem()?.to_str()?);
    let modified = file.metadata().ok()?.modified().ok()?;
    let modified = jiff::Timestamp::try_from(modified).ok()?;
    let reader = BufReader::new(std::fs::File::open(file).ok()?.take(MAX_READ));
    for line in reader.lines() {
        let Ok(line) = serde_json::from_str::<Value>(&line.ok()?) else { continue };
        // Two projects can have one folder: /a/b and /a-b. The line tells which it is.
        if let Some(cwd) = optional_text(&line, "/cwd")
            && Path::new(cwd) != project_dir
        {
            return None;
        }
        if text(&line, "/type") != "user" {
            continue;
        }
        if let Some(first_message) = prompt_text(&line) {
            return Some(DiscoveredSession {
                session_id,
                first_message: first_message.chars().take(MAX_FIRST_MESSAGE).collect(),
                last_activity: format!("{modified:.3}"),
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(cwd: &str, message: &str) -> String {
        let content = serde_json::json!([{"type": "text", "text": message}]);
        serde_json::json!({"type": "user", "cwd": cwd, "uuid": "u", "message": {"role": "user", "content": content}})
            .to_string()
            + "\n"
    }

    #[test]
    fn a_projects_sessions_are_found_by_their_first_message() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = project_folder(home.path(), Path::new("/home/u/app"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, content: &str| std::fs::write(folder.join(name), content).expect("a file");
        let queue = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n";
        write(
            "aaaa-1.jsonl",
            &format!(
                "{queue}not json\n{}{}",
                user("/home/u/app", "fix the build"),
                user("/home/u/app", "later")
            ),
        );
        // The same folder name, another project.
        write("bbbb-2.jsonl", &user("/home/u-app", "elsewhere"));
        write("cccc-3.jsonl", queue);
        write("notes.txt", &user("/home/u/app", "no session"));
        let found = sessions(home.path(), Path::new("/home/u/app"));
        let found: Vec<_> = found.iter().map(|s| (s.session_id.as_str(), s.first_message.as_str())).collect();
        assert_eq!(found, [("aaaa-1", "fix the build")]);
    }

    #[test]
    fn a_project_without_a_folder_has_none() {
        assert_eq!(sessions(Path::new("/nowhere"), Path::new("/p")), []);
    }
}
