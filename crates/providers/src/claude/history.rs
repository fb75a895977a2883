//! A conversation as Claude's session file has it: read line by line, whatever its size.
//!
//! `--resume` replays nothing on stdout, so this file is the history. Items keep the CLI's uuids.

mod lines;

use std::path::{Path, PathBuf};

use chartroom_protocol::ids::{CallId, SessionId, TurnId};
use chartroom_protocol::upsert::Upsert;
use chartroom_sessions::{History, KnownBy, ProviderError};
use chartroom_transport::codec::Json;
use chartroom_transport::{Framing, Received};
use chartroom_workspace::boundary::ReadError;
use chartroom_workspace::regular;
use futures_util::StreamExt;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, Take};
use tokio_util::codec::FramedRead;

use lines::Lines;
pub(super) use lines::prompt_text;

/// A longer line (a huge tool result) is left out; the rest of the conversation is not.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// Claude itself cannot go on with a file of this size: it would have to hold it.
const MAX_FILE: u64 = 1024 * 1024 * 1024;
/// Of the file, at a time.
const READ_AT_ONCE: usize = 64 * 1024;
/// Subagents of subagents of …: deeper ones are not shown.
const MAX_DEPTH: usize = 4;

/// Opens a session file as it is now: what is appended later is not history.
pub(super) async fn open(file: &Path, session_id: &SessionId) -> Result<History, ProviderError> {
    let reader = Reader::open(file, Lines::new(session_id.clone())).await.map_err(|error| {
        let message = format!("the session file {} cannot be read: {error}", file.display());
        ProviderError::protocol(message).with_cause(error)
    })?;
    let subagents = file.with_extension("").join("subagents");
    let state = Readers { stack: vec![reader], subagents };
    let items = futures_util::stream::unfold(state, |mut state| async {
        let upsert = state.next().await?;
        Some((upsert, state))
    });
    Ok(History { items: Box::pin(items), turns: KnownBy::Ids })
}

/// The session file, and on top of it the subagent's file that is being read in its place.
struct Readers {
    stack: Vec<Reader>,
    subagents: PathBuf,
}

struct Reader {
    received: FramedRead<Take<File>, Json>,
    lines: Lines,
    ready: std::collections::VecDeque<Upsert>,
}

impl Readers {
    async fn next(&mut self) -> Option<Upsert> {
        loop {
            let depth = self.stack.len();
            let reader = self.stack.last_mut()?;
            if let Some(upsert) = reader.ready.pop_front() {
                return Some(upsert);
            }
            if let Some((agent, call_id, turn_id)) = reader.lines.take_subagent()
                && depth < MAX_DEPTH
            {
                self.descend(&agent, call_id, turn_id).await;
                continue;
            }
            match reader.received.next().await {
                Some(Ok(Received::Message(line))) => reader.ready.extend(reader.lines.read(&line)),
                Some(Ok(Received::Oversized { .. })) => reader.lines.left_out(),
                // The last line is torn as long as Claude writes it.
                Some(Ok(skipped)) => tracing::debug!(?skipped, "a line of a session file was left out"),
                Some(Err(error)) => {
                    tracing::warn!(%error, "a session file could not be read to its end");
                    self.finish();
                }
                None => self.finish(),
            }
            if self.stack.is_empty() {
                return None;
            }
        }
    }

    /// The topmost file has ended: what it left open comes last, then the file below goes on.
    fn finish(&mut self) {
        let Some(mut reader) = self.stack.pop() else { return };
        let rest = reader.lines.finish();
        if rest.is_empty() {
            return;
        }
        match self.stack.last_mut() {
            Some(below) => below.ready.extend(rest),
            None => {
                reader.ready.extend(rest);
                self.stack.push(reader);
            }
        }
    }

    async fn descend(&mut self, agent: &str, call_id: CallId, turn_id: TurnId) {
        if !agent.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return;
        }
        let Some(parent) = self.stack.last() else { return };
        let lines = parent.lines.of_subagent(call_id, turn_id);
        let file = self.subagents.join(format!("agent-{agent}.jsonl"));
        match Reader::open(&file, lines).await {
            Ok(reader) => self.stack.push(reader),
            Err(error) => tracing::debug!(%error, agent, "a subagent's file is not there"),
        }
    }
}

impl Reader {
    async fn open(file: &Path, lines: Lines) -> Result<Self, ReadError> {
        let path = file.to_owned();
        let file = tokio::task::spawn_blocking(move || regular::open(&path))
            .await
            .map_err(std::io::Error::other)??;
        let file = File::from_std(file);
        let size = file.metadata().await?.len();
        if size > MAX_FILE {
            return Err(ReadError::TooLarge { size, limit: MAX_FILE });
        }
        let decoder = Json::new(Framing::Lines, MAX_LINE);
        let received = FramedRead::with_capacity(file.take(size), decoder, READ_AT_ONCE);
        Ok(Self { received, lines, ready: std::collections::VecDeque::new() })
    }
}

/// Reads the lines of a file and takes every item out of them.
#[cfg(fuzzing)]
pub(super) fn fuzz(head: &crate::session_file::Head, session_id: SessionId) {
    let mut lines = Lines::new(session_id);
    for line in head.lines() {
        lines.read(&line);
        if let Some((_, call_id, turn_id)) = lines.take_subagent() {
            let mut inner = lines.of_subagent(call_id, turn_id);
            inner.read(&line);
            inner.finish();
        }
    }
    lines.finish();
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use chartroom_protocol::upsert::UpsertBody;
    use serde_json::json;

    use super::*;
    use crate::odd_files;

    async fn read(file: &Path) -> Vec<Upsert> {
        let history = open(file, &SessionId::from("s")).await.expect("the file is there");
        history.items.collect().await
    }

    #[tokio::test]
    async fn a_subagents_items_come_after_its_call_and_name_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("s.jsonl");
        let lines = [
            json!({"type": "user", "uuid": "u1", "timestamp": "t1", "message": {"content": "go"}}),
            json!({"type": "assistant", "uuid": "a1", "timestamp": "t2", "message": {"id": "m1", "content": [
                {"type": "tool_use", "id": "task1", "name": "Task", "input": {"prompt": "look"}}]}}),
            json!({"type": "user", "uuid": "r1", "timestamp": "t3", "toolUseResult": {"agentId": "abc"},
                "message": {"content": [{"type": "tool_result", "tool_use_id": "task1", "content": "started"}]}}),
            json!({"type": "assistant", "uuid": "a2", "timestamp": "t4", "message": {"id": "m2", "content": [
                {"type": "text", "text": "done"}]}}),
        ];
        std::fs::write(&file, lines.map(|line| line.to_string()).join("\n")).expect("a file");
        let subagents = dir.path().join("s/subagents");
        std::fs::create_dir_all(&subagents).expect("a folder");
        let lines = [
            json!({"type": "user", "isSidechain": true, "uuid": "su", "message": {"content": "look"}}),
            json!({"type": "assistant", "isSidechain": true, "uuid": "sa", "timestamp": "t3", "message": {"id": "sm",
                "content": [{"type": "text", "text": "I looked"}]}}),
        ];
        std::fs::write(subagents.join("agent-abc.jsonl"), lines.map(|line| line.to_string()).join("\n"))
            .expect("a file");
        let items = read(&file).await;
        let seen: Vec<_> = items
            .iter()
            .map(|item| {
                (
                    item.item_id.as_str(),
                    item.parent_call_id.as_ref().map(CallId::as_str),
                    item.turn_id.as_str(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [("u1", None, "u1"), ("a1", None, "u1"), ("sa", Some("task1"), "u1"), ("a2", None, "u1")]
        );
    }

    #[tokio::test]
    async fn a_file_of_100_mb_is_read_without_holding_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("s.jsonl");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        let text = "x".repeat(100_000);
        let line = json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "content": [{"type": "text", "text": text}]}});
        let line = line.to_string();
        for _ in 0..1_050 {
            writeln!(file, "{line}").expect("writing");
        }
        file.flush().expect("writing");
        assert!(path.metadata().expect("a file").len() > 100_000_000);
        let before = resident_kib();
        let mut items = open(&path, &SessionId::from("s")).await.expect("the file is there").items;
        let (mut n_items, mut peak) = (0, 0);
        while let Some(item) = items.next().await {
            assert!(matches!(item.body, UpsertBody::Message { .. }));
            n_items += 1;
            peak = peak.max(resident_kib());
        }
        assert_eq!(n_items, 1_050);
        assert!(peak.saturating_sub(before) < 30_000, "grew by {} KiB while reading 100 MB", peak - before);
    }

    /// Says why a file is no history; a reader that hangs fails.
    async fn refused(file: &Path) -> String {
        let session_id = SessionId::from("s");
        let opened = open(file, &session_id);
        let opened = tokio::time::timeout(Duration::from_secs(20), opened).await.expect("it does not hang");
        opened.err().expect("it is no history").message
    }

    #[tokio::test]
    async fn what_is_no_regular_file_or_has_no_end_is_refused_by_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| dir.path().join(name);
        odd_files::plant(dir.path());
        assert!(refused(&path("device.jsonl")).await.ends_with("it is not a regular file"));
        assert!(refused(&path("folder.jsonl")).await.ends_with("it is a folder"));
        assert!(
            refused(&path("endless.jsonl")).await.ends_with("it has 8589934592 bytes, more than 1073741824")
        );
        // The last: a thread that opens a pipe by mistake stays there, and the test with it.
        assert!(refused(&path("pipe.jsonl")).await.ends_with("it is not a regular file"));
    }

    #[tokio::test]
    async fn a_line_of_a_gigabyte_is_left_out_and_the_history_says_so() {
        use std::io::{Seek, SeekFrom};
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("s.jsonl");
        let said = |text: &str| {
            let content = json!([{"type": "text", "text": text}]);
            json!({"type": "assistant", "uuid": text, "timestamp": "t", "message": {"id": "m", "content": content}})
        };
        let mut file = std::fs::File::create(&path).expect("a file");
        writeln!(file, "{}", said("before")).expect("writing");
        file.seek(SeekFrom::Current(1_000_000_000)).expect("a hole");
        writeln!(file, "\n{}", said("after")).expect("writing");
        let before = resident_kib();
        let items = read(&path).await;
        let said: Vec<_> = items
            .iter()
            .map(|item| match &item.body {
                UpsertBody::Message { content, .. } => content.as_str(),
                _ => "?",
            })
            .collect();
        let told = "1 line of Claude's session file is not shown: it is longer than 32 MiB.";
        assert_eq!(said, ["before", "after", told]);
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 100_000, "grew by {grown} KiB");
    }

    /// Calls wait for their results; a file that has none must not be kept whole.
    #[tokio::test]
    async fn calls_without_results_are_not_held_without_end() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("s.jsonl");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        let command = "x".repeat(100_000);
        for number in 0..1_000 {
            let call = json!({"type": "tool_use", "id": format!("c{number}"), "name": "Bash", "input": {"command": command}});
            let line = json!({"type": "assistant", "uuid": format!("a{number}"), "message": {"id": "m", "content": [call]}});
            writeln!(file, "{line}").expect("writing");
        }
        file.flush().expect("writing");
        let before = resident_kib();
        let mut items = open(&path, &SessionId::from("s")).await.expect("the file is there").items;
        let (mut ids, mut peak) = (Vec::new(), 0);
        while let Some(item) = items.next().await {
            ids.push(item.item_id);
            peak = peak.max(resident_kib());
        }
        assert_eq!(ids, (0..1_000).map(|number| format!("a{number}").into()).collect::<Vec<_>>());
        assert!(peak.saturating_sub(before) < 60_000, "grew by {} KiB", peak - before);
    }

    fn resident_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
    }
}
