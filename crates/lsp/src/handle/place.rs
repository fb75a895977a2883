//! Where a root's service is found by the other processes of this user: a lock that says who hosts it, and a socket
//! that leads to them.
//!
//! Both lie in the data folder's `run`, which is the user's alone. The system lets go of a lock however its process
//! ends, so that a host that was killed is followed by whoever asks next. The name holds the root and the settings:
//! users with other settings have a service of their own.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use chartroom_protocol::lsp::LspConfig;
use chartroom_workspace::CanonicalRoot;
use tokio::net::{UnixListener, UnixStream};

/// The place of one root's service.
#[derive(Debug, Clone)]
pub(super) struct Place {
    folder: PathBuf,
    lock: PathBuf,
    socket: PathBuf,
}

impl Place {
    pub(super) fn new(data_dir: &Path, root: &CanonicalRoot, config: &LspConfig) -> Self {
        let mut hasher = DefaultHasher::new();
        root.as_path().hash(&mut hasher);
        // A config is plain data, ordered throughout; one that could not be written would be shared with nobody else.
        serde_json::to_string(config).unwrap_or_default().hash(&mut hasher);
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        let name = hasher.finish();
        let folder = data_dir.join("run");
        let lock = folder.join(format!("lsp-{name:016x}.lock"));
        let socket = lock.with_extension("sock");
        Self { folder, lock, socket }
    }

    /// Takes the place of the host; nothing while another has it.
    pub(super) fn take(&self) -> io::Result<Option<Taken>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        std::fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
        let taken = lock(&self.lock)?.map(|lock| Taken { _lock: lock, place: self.clone() });
        if taken.is_some() {
            self.remove_stale();
        }
        Ok(taken)
    }

    /// Connects to the host's socket.
    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.socket).await
    }

    /// Removes what killed hosts of other roots left behind.
    fn remove_stale(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_lock = path.extension().is_some_and(|extension| extension == "lock")
                && entry.file_name().to_string_lossy().starts_with("lsp-");
            if is_lock
                && path != self.lock
                && let Ok(Some(lock)) = lock(&path)
            {
                let place = Place {
                    folder: self.folder.clone(),
                    socket: path.with_extension("sock"),
                    lock: path.clone(),
                };
                drop(Taken { _lock: lock, place });
            }
        }
    }
}

/// The host's place, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    _lock: File,
    place: Place,
}

impl Taken {
    /// Opens the socket. What a killed host left there is replaced.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        self.stop_listening();
        UnixListener::bind(&self.place.socket)
    }

    /// Nobody comes in from here on; the place stays taken.
    pub(super) fn stop_listening(&self) {
        remove(&self.place.socket);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.stop_listening();
        // While it is still locked: whoever has the old file open sees that it is no longer the one at this path.
        remove(&self.place.lock);
    }
}

/// Locks a file, which is made when it is missing; nothing when another has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The one who had it before may have removed it between our opening and our locking.
        let ours = file.metadata()?;
        match std::fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::debug!(path = %path.display(), %error, "it cannot be removed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().extension().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn one_hosts_the_others_visit_and_nothing_is_left() {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = CanonicalRoot::open(root.path()).unwrap();
        let place = Place::new(data.path(), &root, &LspConfig::default());
        let run = data.path().join("run");
        let taken = place.take().unwrap().unwrap();
        assert!(place.take().unwrap().is_none(), "it is taken");
        assert!(place.connect().await.is_err(), "the socket is not open yet");
        let listener = taken.listen().unwrap();
        place.connect().await.unwrap();
        assert_eq!(names(&run), ["lock", "sock"]);
        assert_eq!(run.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(listener);
        drop(taken);
        assert_eq!(names(&run), Vec::<String>::new());
        assert!(place.take().unwrap().is_some());
    }

    #[tokio::test]
    async fn what_a_killed_host_left_is_replaced_and_removed() {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = CanonicalRoot::open(root.path()).unwrap();
        let place = Place::new(data.path(), &root, &LspConfig::default());
        let other = LspConfig { diagnostic_timeout: 1, ..LspConfig::default() };
        let other = Place::new(data.path(), &root, &other);
        assert_ne!(place.socket, other.socket, "other settings are another service");
        // A killed process lets go of its lock and removes nothing.
        std::fs::create_dir(&place.folder).unwrap();
        for place in [&place, &other] {
            std::fs::write(&place.lock, "").unwrap();
            drop(std::os::unix::net::UnixListener::bind(&place.socket).unwrap());
        }
        assert!(place.connect().await.is_err(), "nobody listens there");
        let taken = place.take().unwrap().unwrap();
        let _listener = taken.listen().unwrap();
        place.connect().await.unwrap();
        assert_eq!(names(&place.folder), ["lock", "sock"], "the other one is removed");
    }
}
