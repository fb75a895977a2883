//! What is written down of several tries: a file for each, in the data folder.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::tries::{Tries, Try, TryState};

use super::TriesError;

/// The files, and what this process is doing about them at the moment. In a file a try is `making` until its agent has the
/// message; one that nobody is making any more did not come so far.
#[derive(Debug)]
pub(crate) struct Book {
    folder: PathBuf,
    /// Held while a file is changed.
    doing: Mutex<Doing>,
}

#[derive(Debug, Default)]
struct Doing {
    making: BTreeSet<(String, String)>,
    testing: BTreeSet<(String, String)>,
}

/// What this process does for a try. Dropping it says that it is done.
pub(super) struct Busy<'a> {
    book: &'a Book,
    what: What,
    of: (String, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Making,
    Testing,
}

impl Doing {
    fn set(&mut self, what: What) -> &mut BTreeSet<(String, String)> {
        match what {
            What::Making => &mut self.making,
            What::Testing => &mut self.testing,
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.book.doing().set(self.what).remove(&self.of);
    }
}

impl Book {
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder, doing: Mutex::default() }
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, tries_id: &str) -> Result<PathBuf, TriesError> {
        let is_id =
            !tries_id.is_empty() && tries_id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        match is_id {
            true => Ok(self.folder.join(format!("{tries_id}.json"))),
            false => Err(TriesError::NotFound(tries_id.to_owned())),
        }
    }

    /// Begins to do something for a try; `None` if that is done already.
    pub(super) fn begin(&self, what: What, tries_id: &str, name: &str) -> Option<Busy<'_>> {
        let of = (tries_id.to_owned(), name.to_owned());
        self.doing().set(what).insert(of.clone()).then(|| Busy { book: self, what, of })
    }

    pub(super) fn is_doing(&self, what: What, tries_id: &str, name: &str) -> bool {
        self.doing().set(what).contains(&(tries_id.to_owned(), name.to_owned()))
    }

    pub(super) fn write(&self, tries: &Tries) -> Result<(), TriesError> {
        let _held = self.doing();
        self.put(tries)
    }

    /// At once or not at all.
    fn put(&self, tries: &Tries) -> Result<(), TriesError> {
        let file = self.file(&tries.tries_id)?;
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let mut temporary = tempfile::NamedTempFile::new_in(&self.folder)?;
            temporary.write_all(&serde_json::to_vec_pretty(tries)?)?;
            temporary.as_file().sync_all()?;
            temporary.persist(&file).map(drop).map_err(|failed| failed.error)
        };
        write().map_err(TriesError::Io)
    }

    /// Reads it as it was written.
    fn written(&self, tries_id: &str) -> Result<Tries, TriesError> {
        let text = match std::fs::read(self.file(tries_id)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(TriesError::NotFound(tries_id.to_owned()));
            }
            read => read.map_err(TriesError::Io)?,
        };
        serde_json::from_slice(&text).map_err(|error| TriesError::Io(error.into()))
    }

    /// Reads it, and tells which of them nobody makes any more.
    pub(super) fn read(&self, tries_id: &str) -> Result<Tries, TriesError> {
        let mut tries = self.written(tries_id)?;
        for one in tries.tries.iter_mut().filter(|one| one.state == TryState::Making) {
            if !self.is_doing(What::Making, tries_id, &one.name) {
                one.state = TryState::Failed;
                one.note.get_or_insert_with(|| "Chartroom ended before it had begun".to_owned());
            }
        }
        Ok(tries)
    }

    /// Changes one of them.
    pub(super) fn change(
        &self,
        tries_id: &str,
        name: &str,
        change: impl FnOnce(&mut Try),
    ) -> Result<(), TriesError> {
        let _held = self.doing();
        let mut tries = self.written(tries_id)?;
        if let Some(one) = tries.tries.iter_mut().find(|one| one.name == name) {
            change(one);
        }
        self.put(&tries)
    }

    /// Says which one was kept.
    pub(super) fn keep(&self, tries_id: &str, name: &str) -> Result<(), TriesError> {
        let _held = self.doing();
        let tries = self.written(tries_id)?;
        self.put(&Tries { kept: Some(name.to_owned()), ..tries })
    }

    /// Lists those of a project, the newest first.
    pub(super) fn of_project(&self, project_id: &ProjectId) -> Vec<Tries> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ids = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned));
        let mut all: Vec<Tries> = ids.filter_map(|id| self.read(&id).ok()).collect();
        all.retain(|tries| tries.project_id == *project_id);
        all.sort_by(|a, b| (&b.created_at, &b.tries_id).cmp(&(&a.created_at, &a.tries_id)));
        all
    }

    pub(super) fn forget(&self, tries_id: &str) -> Result<(), TriesError> {
        match std::fs::remove_file(self.file(tries_id)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TriesError::Io(error)),
            _ => Ok(()),
        }
    }
}
