//! Files that took a parser down, by what is in them, so that they are never tried again.
//!
//! They are kept in `<data>/index/unparsed`, one hash a line below the version that failed: another version has other
//! grammars and tries once more. What cannot be written down is forgotten at the end of the process.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More than this is not kept on disk.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The hashes of files that failed.
#[derive(Debug)]
pub(super) struct FailedFiles {
    file: PathBuf,
    header: String,
    known: Mutex<HashSet<String>>,
}

impl FailedFiles {
    pub(super) fn open(data: &Path, version: &str) -> Self {
        let file = data.join("index/unparsed");
        let header = format!("chartroom {version}");
        let mut text = String::new();
        let read = std::fs::File::open(&file).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        let mut lines = text.lines();
        let known = match read {
            Ok(_) if lines.next() == Some(header.as_str()) => lines.map(str::to_owned).collect(),
            Ok(_) | Err(_) => HashSet::new(),
        };
        Self { file, header, known: Mutex::new(known) }
    }

    /// What a file is known by: its language decides how it is parsed.
    pub(super) fn key(language: &str, text: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(language.as_bytes()).update(&[0]).update(text.as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.known().contains(key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known().is_empty()
    }

    pub(super) fn add(&self, key: String) {
        if let Err(error) = self.write(&key) {
            tracing::warn!(file = %self.file.display(), %error, "a file that cannot be parsed is not remembered");
        }
        self.known().insert(key);
    }

    fn write(&self, key: &str) -> std::io::Result<()> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.file)?;
        // Two threads or processes that find the file empty would both begin it. The lock ends with the descriptor.
        file.lock()?;
        let mut header = vec![0; self.header.len() + 1];
        let current = file.read_exact(&mut header).is_ok()
            && header.strip_suffix(b"\n") == Some(self.header.as_bytes());
        if !current || file.metadata()?.len() > MAX_BYTES {
            file.set_len(0)?;
            return file.write_all(format!("{}\n{key}\n", self.header).as_bytes());
        }
        file.write_all(format!("{key}\n").as_bytes())
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
