//! Codex's rollout files: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, one conversation each.

use std::path::{Path, PathBuf};

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::DiscoveredSession;

use crate::json::{list, optional_text, text};
use crate::session_file::{Head, MAX_FILES, title};

/// Year, month, day.
const DEPTH: usize = 3;

/// Finds the conversations of a project. A file that cannot be read is passed over.
pub(super) fn sessions(codex_home: &Path, project_dir: &Path) -> Vec<DiscoveredSession> {
    let mut files = Vec::new();
    collect(&codex_home.join("sessions"), DEPTH, &mut files);
    // The names begin with the time: the last ones are the newest.
    files.sort();
    files.iter().rev().take(MAX_FILES).filter_map(|file| session(file, project_dir)).collect()
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            collect(&path, depth - 1, files);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
}

fn session(file: &Path, project_dir: &Path) -> Option<DiscoveredSession> {
    of_head(&Head::read(file)?, project_dir)
}

/// What the head of a rollout says; nothing if it is another project's, or if nobody has said anything.
pub(super) fn of_head(head: &Head, project_dir: &Path) -> Option<DiscoveredSession> {
    let mut session_id = None;
    for line in head.lines() {
        let said = match text(&line, "/type") {
            "session_meta" => {
                if Path::new(text(&line, "/payload/cwd")) != project_dir {
                    return None;
                }
                session_id = optional_text(&line, "/payload/id").map(SessionId::from);
                continue;
            }
            "event_msg" if text(&line, "/payload/type") == "user_message" => {
                text(&line, "/payload/message").to_owned()
            }
            // Files of other versions have the message as an item only; what Codex adds itself is in tags.
            "response_item" if text(&line, "/payload/role") == "user" => {
                let parts = list(&line, "/payload/content").iter();
                let said = parts.map(|part| text(part, "/text")).collect::<String>();
                if said.trim_start().starts_with('<') || said.is_empty() {
                    continue;
                }
                said
            }
            _ => continue,
        };
        let (first_message, last_activity) = (title(&said), head.last_activity.clone());
        return Some(DiscoveredSession { session_id: session_id?, first_message, last_activity });
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::odd_files;

    #[test]
    fn a_projects_conversations_are_found_by_their_first_message() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, lines: &[Value]| {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(folder.join(name), text).expect("a file");
        };
        let meta = |id: &str, cwd: &str| json!({"type": "session_meta", "payload": {"id": id, "cwd": cwd}});
        let context = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>…"}]}});
        let said =
            |text: &str| json!({"type": "event_msg", "payload": {"type": "user_message", "message": text}});
        write("rollout-1-a.jsonl", &[meta("a", "/p"), context.clone(), said("fix the build"), said("later")]);
        write("rollout-2-b.jsonl", &[meta("b", "/elsewhere"), said("no")]);
        write("rollout-3-c.jsonl", &[meta("c", "/p"), context]);
        write("rollout-4-d.jsonl", &[json!("odd"), said("without a head")]);
        let found = sessions(home.path(), Path::new("/p"));
        let found: Vec<_> = found.iter().map(|s| (s.session_id.as_str(), s.first_message.as_str())).collect();
        assert_eq!(found, [("a", "fix the build")]);
    }

    #[test]
    fn odd_files_beside_them_neither_hang_the_list_nor_cost_the_others() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&folder).expect("a folder");
        let meta = json!({"type": "session_meta", "payload": {"id": "a", "cwd": "/p"}});
        let said = json!({"type": "event_msg", "payload": {"type": "user_message", "message": "good"}});
        let torn = [meta.to_string().as_bytes(), b"\n\xff\xfe torn\n", said.to_string().as_bytes()].concat();
        std::fs::write(folder.join("rollout-1-a.jsonl"), torn).expect("a file");
        odd_files::plant(&folder);
        let found = odd_files::in_time(move || sessions(home.path(), Path::new("/p")));
        let found: Vec<_> = found.iter().map(|s| (s.session_id.as_str(), s.first_message.as_str())).collect();
        assert_eq!(found, [("a", "good")]);
    }
}
