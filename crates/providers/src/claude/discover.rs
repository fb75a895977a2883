//! Conversations that the user had with Claude outside Chartroom.

use std::path::Path;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::DiscoveredSession;

use super::files::project_folder;
use super::history::prompt_text;
use crate::json::{optional_text, text};
use crate::session_file::{Head, MAX_FILES, title};

/// Finds the sessions of a project. A file that cannot be read is passed over.
pub(super) fn sessions(config_dir: &Path, project_dir: &Path) -> Vec<DiscoveredSession> {
    let Ok(entries) = std::fs::read_dir(project_folder(config_dir, project_dir)) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    let mut sessions: Vec<DiscoveredSession> =
        files.iter().take(MAX_FILES).filter_map(|(_, file)| session(file, project_dir)).collect();
    sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    sessions
}

fn session(file: &Path, project_dir: &Path) -> Option<DiscoveredSession> {
    let session_id = SessionId::from(file.file_stem()?.to_str()?);
    of_head(&Head::read(file)?, session_id, project_dir)
}

/// What the head of a session file says; nothing if it is another project's, or if nobody has said anything.
pub(super) fn of_head(head: &Head, session_id: SessionId, project_dir: &Path) -> Option<DiscoveredSession> {
    for line in head.lines() {
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
            let (first_message, last_activity) = (title(&first_message), head.last_activity.clone());
            return Some(DiscoveredSession { session_id, first_message, last_activity });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::odd_files;

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
    fn odd_files_beside_them_neither_hang_the_list_nor_cost_the_others() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = project_folder(home.path(), Path::new("/p"));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("good.jsonl"), user("/p", "good")).expect("a file");
        let torn = [b"\xff\xfe torn\n".as_slice(), user("/p", "after a torn line").as_bytes()].concat();
        std::fs::write(folder.join("torn.jsonl"), torn).expect("a file");
        odd_files::plant(&folder);
        let found = odd_files::in_time(move || sessions(home.path(), Path::new("/p")));
        let found: Vec<_> = found.iter().map(|s| (s.session_id.as_str(), s.first_message.as_str())).collect();
        assert_eq!(found, [("good", "good"), ("torn", "after a torn line")]);
    }

    #[test]
    fn a_project_without_a_folder_has_none() {
        assert_eq!(sessions(Path::new("/nowhere"), Path::new("/p")), []);
    }
}
