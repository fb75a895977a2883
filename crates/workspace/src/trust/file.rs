//! The trust store's file: private, replaced as a whole, changed by one process at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{TrustError, TrustedRoot};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    roots: Vec<TrustedRoot>,
}

#[derive(Debug)]
pub(super) struct TrustFile {
    folder: PathBuf,
}

/// Why the contents cannot be used although they can be read.
enum Damage {
    Io(io::Error),
    Contents(String),
}

impl TrustFile {
    pub(super) fn open(data_dir: &Path) -> Result<Self, TrustError> {
        let open = || {
            DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
            let folder = data_dir.canonicalize()?;
            std::fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
            Ok(TrustFile { folder })
        };
        open().map_err(|error| TrustError::Io { path: data_dir.to_path_buf(), error })
    }

    /// The data folder, without links.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self) -> PathBuf {
        self.folder.join("trust.json")
    }

    fn failed(&self, error: io::Error) -> TrustError {
        TrustError::Io { path: self.path(), error }
    }

    /// Reads what is trusted. A damaged file is set aside and trusts nothing.
    pub(super) fn read(&self) -> Result<Vec<TrustedRoot>, TrustError> {
        match self.load() {
            Ok(trusted) => Ok(trusted),
            Err(Damage::Io(error)) => Err(self.failed(error)),
            Err(Damage::Contents(_)) => {
                let _lock = self.lock()?;
                self.read_locked()
            }
        }
    }

    /// Reads, changes and writes while no other process does.
    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<TrustedRoot>)) -> Result<(), TrustError> {
        let _lock = self.lock()?;
        let mut trusted = self.read_locked()?;
        change(&mut trusted);
        self.write(trusted).map_err(|error| self.failed(error))
    }

    /// Takes entries out while no other process writes. Where there is no room for a new file, the old one is overwritten,
    /// and removed where even that fails: what cannot be written down is not trusted.
    pub(super) fn remove(&self, leaves: impl Fn(&TrustedRoot) -> bool) -> Result<bool, TrustError> {
        let _lock = self.lock()?;
        let mut trusted = self.read_locked()?;
        let before = trusted.len();
        trusted.retain(|entry| !leaves(entry));
        let found = trusted.len() != before;
        if found && let Err(error) = self.write(trusted.clone()) {
            tracing::warn!(%error, "the trust store cannot be written anew; it is overwritten");
            self.overwrite(trusted)
                .or_else(|error| {
                    tracing::warn!(%error, "nor can it be overwritten: nothing is trusted any more");
                    std::fs::remove_file(self.path())
                })
                .map_err(|error| self.failed(error))?;
        }
        Ok(found)
    }

    fn read_locked(&self) -> Result<Vec<TrustedRoot>, TrustError> {
        match self.load() {
            Ok(trusted) => Ok(trusted),
            Err(Damage::Io(error)) => Err(self.failed(error)),
            Err(Damage::Contents(reason)) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
                let aside = self.folder.join(format!("trust.json.damaged-{now}"));
                std::fs::rename(self.path(), &aside).map_err(|error| self.failed(error))?;
                tracing::warn!(
                    "the trust store was damaged ({reason}); it was set aside as {} and nothing is trusted now: \
                     trust your workspaces again with `chartroom trust DIR`",
                    aside.display()
                );
                Ok(Vec::new())
            }
        }
    }

    fn load(&self) -> Result<Vec<TrustedRoot>, Damage> {
        let mut file = match OpenOptions::new().read(true).custom_flags(NOFOLLOW).open(self.path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Err(Damage::Contents("it is a symbolic link".to_owned()));
            }
            Err(error) => return Err(Damage::Io(error)),
        };
        let metadata = file.metadata().map_err(Damage::Io)?;
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(Damage::Contents("others could write to it".to_owned()));
        }
        let mut text = String::new();
        match file.read_to_string(&mut text) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Damage::Contents("it is not text".to_owned()));
            }
            Err(error) => return Err(Damage::Io(error)),
        }
        let contents: Contents =
            serde_json::from_str(&text).map_err(|error| Damage::Contents(error.to_string()))?;
        if contents.version != VERSION {
            return Err(Damage::Contents(format!("its version is {}, ours is {VERSION}", contents.version)));
        }
        Ok(contents.roots)
    }

    fn write(&self, roots: Vec<TrustedRoot>) -> io::Result<()> {
        // A temporary file of this crate is born with mode 0600.
        let mut temporary = tempfile::Builder::new().prefix(".trust-").tempfile_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut temporary, &Contents { version: VERSION, roots })?;
        temporary.write_all(b"\n")?;
        temporary.as_file().sync_all()?;
        temporary.persist(self.path())?;
        File::open(&self.folder)?.sync_all()
    }

    /// Writes what is shorter than before in its place. Who dies in the middle leaves a damaged file, which trusts nothing.
    fn overwrite(&self, roots: Vec<TrustedRoot>) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&Contents { version: VERSION, roots })?;
        text.push(b'\n');
        let mut file = OpenOptions::new().write(true).custom_flags(NOFOLLOW).open(self.path())?;
        file.write_all(&text)?;
        file.set_len(u64::try_from(text.len()).unwrap_or(u64::MAX))?;
        file.sync_all()
    }

    /// Held while the returned file lives. The lock file stays: removing it would let two hold "the" lock.
    fn lock(&self) -> Result<File, TrustError> {
        let path = self.folder.join("trust.lock");
        let lock = || {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(NOFOLLOW)
                .open(&path)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error| TrustError::Io { path: path.clone(), error })
    }
}

/// `O_NOFOLLOW`, as a number that std takes.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
