//! The data folder: everything Chartroom keeps, readable by its owner alone.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Far above what any private file of ours has.
const MAX_PRIVATE: u64 = 1024 * 1024;

/// A data folder that cannot be used. Each message is one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Neither `CHARTROOM_HOME` nor a home folder is set.
    #[error("no home folder is known for the data; set CHARTROOM_HOME to a folder you can write")]
    NoHome,
    /// The folder cannot be made or written.
    #[error(
        "the data folder {} cannot be written ({source}); mend its permissions or set CHARTROOM_HOME to a folder you can write",
        path.display()
    )]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder stands where a file of ours belongs.
    #[error("{} is a folder, but should be a file of Chartroom's; move it away", path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
    },
    /// Another server uses it.
    #[error(
        "another Chartroom{holder} already serves from the data folder {}; use that one, stop it, or set CHARTROOM_HOME to another folder",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Who, as far as the lock tells.
        holder: String,
    },
}

/// An existing folder of mode 0700.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Returns where the data folder is: `CHARTROOM_HOME`, or `chartroom` in the XDG data folder.
    pub fn default_path() -> Result<PathBuf, DataError> {
        match std::env::var_os("CHARTROOM_HOME").filter(|path| !path.is_empty()) {
            Some(path) => std::path::absolute(&path)
                .map_err(|source| DataError::Unwritable { path: PathBuf::from(path), source }),
            None => dirs::data_dir().map(|folder| folder.join("chartroom")).ok_or(DataError::NoHome),
        }
    }

    /// Opens the folder, makes it when it is missing, and closes it to everyone but its owner.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let unwritable = |source| DataError::Unwritable { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unwritable)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(unwritable)?;
        // Permissions do not tell everything (a read-only mount, a full disk): try.
        tempfile::Builder::new().prefix(".probe").tempfile_in(path).map_err(unwritable)?;
        Ok(Self { path: path.to_owned() })
    }

    /// Opens the folder for commands that can answer without writing: on a full disk or a read-only mount what is there
    /// is still read, and whoever must write says so itself.
    pub fn open_to_read(path: &Path) -> Result<Self, DataError> {
        match Self::open(path) {
            Err(DataError::Unwritable { .. }) if std::fs::read_dir(path).is_ok() => {
                Ok(Self { path: path.to_owned() })
            }
            other => other,
        }
    }

    /// Returns the folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where rotated log files go.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// The bearer token of the running server.
    pub fn token_file(&self) -> PathBuf {
        self.path.join("token")
    }

    /// Where a file of this name is or will be. A folder in its place is told here, before anything else is tried.
    pub fn file(&self, name: &str) -> Result<PathBuf, DataError> {
        let path = self.path.join(name);
        if path.is_dir() { Err(DataError::Folder { path }) } else { Ok(path) }
    }

    /// Writes `text` to `name`, mode 0600, by temp and rename.
    pub fn write_private(&self, name: &str, text: &str) -> Result<(), DataError> {
        let path = self.file(name)?;
        let write = || {
            let mut file = tempfile::Builder::new()
                .prefix(".new")
                .permissions(Permissions::from_mode(0o600))
                .tempfile_in(&self.path)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)
        };
        write().map(drop).map_err(|source| DataError::Unwritable { path: path.clone(), source })
    }

    /// Reads the text of `name`, up to a megabyte. A link, a device, or a file that others could write is an error.
    pub fn read_private(&self, name: &str) -> io::Result<String> {
        let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        let flags = i32::try_from(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits())
            .map_err(|_| refused("it cannot be opened safely"))?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path.join(name))?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > MAX_PRIVATE {
            return Err(refused("it is no file of ours"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(refused("others could write to it"));
        }
        let mut text = String::new();
        file.take(MAX_PRIVATE).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Removes `name` for good; one that is not there is removed already.
    pub fn remove(&self, name: &str) -> Result<(), DataError> {
        let path = self.file(name)?;
        let remove = || match std::fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.and_then(|()| File::open(&self.path)?.sync_all()),
        };
        remove().map_err(|source| DataError::Unwritable { path: path.clone(), source })
    }

    /// Returns the origin (`http://127.0.0.1:4747`) of the server that runs on this folder, if one does.
    pub fn running_server(&self) -> Option<String> {
        let file = File::open(self.path.join("server.lock")).ok()?;
        // A lock that can be had means that whoever wrote the file is gone; it is given back at once.
        if file.try_lock_shared().is_ok() {
            return None;
        }
        io::read_to_string(file).ok()?.lines().nth(1).map(str::to_owned)
    }

    /// Takes the one server's place in this folder; other commands work beside it without the lock.
    pub fn lock_server(&self) -> Result<ServerLock, DataError> {
        let mut lock = self.hold_server()?;
        let write = |file: &mut File| file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        match write(&mut lock.file) {
            Ok(()) => Ok(lock),
            Err(source) => Err(DataError::Unwritable { path: self.path.join("server.lock"), source }),
        }
    }

    /// Keeps a server from starting while the lock is held, without a word about who does.
    pub fn hold_server(&self) -> Result<ServerLock, DataError> {
        let path = self.path.join("server.lock");
        let unwritable = |source| DataError::Unwritable { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unwritable)?;
        match file.try_lock() {
            Ok(()) => Ok(ServerLock { file }),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Only for the message: without the pid it is still a sentence.
                let holder = match (file.read_to_string(&mut text), text.lines().next()) {
                    (Ok(_), Some(pid)) => format!(" (pid {pid})"),
                    (Ok(_) | Err(_), _) => String::new(),
                };
                Err(DataError::InUse { path: self.path.clone(), holder })
            }
            Err(TryLockError::Error(source)) => Err(unwritable(source)),
        }
    }
}

/// Held while the server runs; the system lets go of it however the process ends.
#[derive(Debug)]
pub struct ServerLock {
    file: File,
}

impl ServerLock {
    /// Writes where the server listens, for [`DataFolder::running_server`].
    pub fn announce(&mut self, origin: &str) -> io::Result<()> {
        writeln!(self.file, "{origin}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_folder_and_its_secrets_are_the_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/data");
        let data = DataFolder::open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        data.write_private("token", "secret").unwrap();
        assert_eq!(mode(&data.token_file()), 0o600);
        assert_eq!(std::fs::read_to_string(data.token_file()).unwrap(), "secret");
    }

    #[test]
    fn an_open_folder_is_closed() {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        DataFolder::open(home.path()).unwrap();
        assert_eq!(mode(home.path()), 0o700);
    }

    #[test]
    fn a_second_server_is_told_who_has_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let data = DataFolder::open(home.path()).unwrap();
        assert_eq!(data.running_server(), None);
        let mut lock = data.lock_server().unwrap();
        lock.announce("http://127.0.0.1:1").unwrap();
        assert_eq!(data.running_server().as_deref(), Some("http://127.0.0.1:1"));
        let error = data.lock_server().unwrap_err().to_string();
        let expected = format!(
            "another Chartroom (pid {}) already serves from the data folder {}; use that one, stop it, or set CHARTROOM_HOME to another folder",
            std::process::id(),
            home.path().display()
        );
        assert_eq!(error, expected);
        drop(lock);
        assert_eq!(data.running_server(), None);
        data.lock_server().unwrap();
    }

    #[test]
    fn a_path_below_a_file_is_unwritable() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let error = DataFolder::open(&home.path().join("file/data")).unwrap_err();
        assert!(matches!(error, DataError::Unwritable { .. }), "{error}");
    }
}
