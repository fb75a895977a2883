//! Codex's rollout files: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, one conversation each.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::DiscoveredSession;
use serde_json::Value;

use crate::json::{list, optional_text, text};

/// The first message is near the beginning; the instructions before it take some ten kilobytes.
const MAX_READ: u64 = 4 * 1024 * 1024;
const MAX_FIRST_MESSAGE: usize = 500;
/// Year, month, day.
const DEPTH: usize = 3;
/// The newest files that are looked at; someone with more does not look for the older ones in a list.
const MAX_FILES: usize = 2_000;

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
    let modified = jiff::Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok()?;
    let reader = BufReader::new(std::fs::File::open(file).ok()?.take(MAX_READ));
    let mut session_id = None;
    for line in reader.lines() {
        let Ok(line) = serde_json::from_str::<Value>(&line.ok()?) else { continue };
        match text(&line, "/type") {
            "session_meta" => {
                if Path::new(text(&line, "/payload/cwd")) != project_dir {
                    return None;
                }
                session_id = optional_text(&line, "/payload/id").map(SessionId::from);
            }
            "event_msg" if text(&line, "/payload/type") == "user_message" => {
                return Some(DiscoveredSession {
                    session_id: session_id?,
                    first_message: text(&line, "/payload/message").chars().take(MAX_FIRST_MESSAGE).collect(),
                    last_activity: format!("{modified:.3}"),
                });
            }
            // Files of other versions have the message as an item only; what Codex adds itself is in tags.
            "response_item" if text(&line, "/payload/role") == "user" => {
                let said = list(&line, "/payload/content")
                    .iter()
                    .map(|part| text(part, "/text"))
                    .collect::<String>();
                if !said.trim_start().starts_with('<') && !said.is_empty() {
                    return Some(DiscoveredSession {
                        session_id: session_id?,
                        first_message: said.chars().take(MAX_FIRST_MESSAGE).collect(),
                        last_activity: format!("{modified:.3}"),
                    });
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
