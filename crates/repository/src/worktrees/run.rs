//! A command of the user's config in a worktree: what it says is written down while it runs, so that whoever looks sees it,
//! and a death in the middle of it is seen too.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use chartroom_protocol::worktree::{CommandRun, RunState};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate};

use super::record::Record;
use crate::git::{self, Said};

/// So much of the output is told.
const TOLD: usize = 64 << 10;

/// Which command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Prepares a new worktree.
    SetUp,
    /// Tests what was done in it.
    Test,
}

impl Command {
    fn folder(self) -> &'static str {
        match self {
            Self::SetUp => ".setups",
            Self::Test => ".tests",
        }
    }

    fn kind(self) -> ChildKind {
        match self {
            // A new worktree has nothing yet that an agent wrote.
            Self::SetUp => ChildKind::Command,
            Self::Test => ChildKind::Test,
        }
    }
}

/// Runs it to its end. Refused while it runs already.
pub async fn run(gate: &SpawnGate, record: &Record, command: Command, words: &[String]) -> CommandRun {
    let notes = Notes::of(record, command);
    let started = Instant::now();
    let mut told = CommandRun {
        command: words.to_vec(),
        state: RunState::Running,
        output: String::new(),
        duration_ms: None,
    };
    // Held as long as it runs: the system lets go of it whatever becomes of us.
    let _running = match notes.lock() {
        Ok(Some(running)) => Some(running),
        Ok(None) => return CommandRun { output: "it runs already".to_owned(), ..told },
        Err(error) => {
            tracing::warn!("that a command runs cannot be written down: {error}");
            None
        }
    };
    notes.write(&told);
    let root = CanonicalRoot::open(&record.path);
    let mut hear = |said: &Said| {
        let output = ending(&said.text());
        if output != told.output {
            notes.write(&CommandRun { output: output.clone(), ..told.clone() });
            told.output = output;
        }
    };
    let ended = match &root {
        Ok(root) => {
            git::heard(gate, root, command.kind(), words, &mut hear).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    let (ok, output) = match ended {
        Ok(said) => (said.ok, said.text()),
        Err(error) => (false, error),
    };
    let state = if ok { RunState::Passed } else { RunState::Failed };
    let duration_ms = u64::try_from(started.elapsed().as_millis()).ok();
    let ended = CommandRun { command: words.to_vec(), state, output: ending(&output), duration_ms };
    notes.write(&ended);
    ended
}

/// Returns how it went last, if it was ever run.
pub fn last_run(record: &Record, command: Command) -> Option<CommandRun> {
    let notes = Notes::of(record, command);
    let mut run: CommandRun = serde_json::from_slice(&std::fs::read(&notes.file).ok()?).ok()?;
    if run.state == RunState::Running && !notes.is_running() {
        run.state = RunState::Interrupted;
    }
    Some(run)
}

/// Forgets what was run in a worktree that is gone.
pub(super) fn forget(record: &Record) {
    for command in [Command::SetUp, Command::Test] {
        let notes = Notes::of(record, command);
        for file in [&notes.file, &notes.lock] {
            // It need not be there, and says nothing without its worktree.
            std::fs::remove_file(file).ok();
        }
    }
}

/// Where it is written down.
struct Notes {
    file: PathBuf,
    lock: PathBuf,
}

impl Notes {
    fn of(record: &Record, command: Command) -> Self {
        let folder = record.path.parent().unwrap_or(&record.path).join(command.folder());
        Self {
            file: folder.join(format!("{}.json", record.name)),
            lock: folder.join(format!("{}.lock", record.name)),
        }
    }

    fn lock(&self) -> std::io::Result<Option<File>> {
        let folder = self.lock.parent().unwrap_or(&self.lock);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.lock)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn is_running(&self) -> bool {
        File::open(&self.lock)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// A note that cannot be written is missed by who looks, and by nobody else.
    fn write(&self, run: &CommandRun) {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
            temporary.write_all(&serde_json::to_vec(run)?)?;
            temporary.persist(&self.file).map(drop).map_err(|failed| failed.error)
        };
        if let Err(error) = write() {
            tracing::warn!("what a command says is not written down: {error}");
        }
    }
}

/// The end of a text, from a line's beginning on.
fn ending(text: &str) -> String {
    let from = text.len().saturating_sub(TOLD);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    match (from, text[from..].find('\n')) {
        (0, _) => text.to_owned(),
        (_, Some(line)) => format!("…\n{}", &text[from + line + 1..]),
        (_, None) => format!("…{}", &text[from..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_output_the_end_is_told_from_a_line_on() {
        assert_eq!(ending("a\nb"), "a\nb");
        let long = format!("first\n{}\nlast", "ä".repeat(TOLD / 2 - 3));
        assert!(ending(&long).starts_with("…\nä") && ending(&long).ends_with("\nlast"));
        assert!(ending(&"ä".repeat(TOLD)).starts_with("…ä"));
    }
}
