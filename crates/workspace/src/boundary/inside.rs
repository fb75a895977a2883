//! A place inside a root, and everything that may be done with it.
//!
//! An [`Inside`] is what the boundary gives out for a path. It is no path: it cannot be handed to `std::fs`, only be
//! opened, read, written and removed here, each time by descriptor from the root down. A link that is swapped in
//! after the check therefore leads nowhere.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::beneath;
use crate::{CanonicalRoot, regular};

/// A place inside a root. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inside {
    root: CanonicalRoot,
    /// From the root, plain names only, without links as far as it existed when it was looked at.
    below: PathBuf,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("it does not exist")]
    Missing,
    /// It is a folder.
    #[error("it is a folder")]
    Folder,
    /// It is a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// It is over the limit; nothing of it was read.
    #[error("it has {size} bytes, more than {limit}")]
    TooLarge {
        /// In bytes.
        size: u64,
        /// In bytes.
        limit: u64,
    },
    /// A component of the way is a link now, or leads out.
    #[error("it was replaced by a link while it was opened")]
    Swapped,
    /// What the system said.
    #[error("it cannot be read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing,
            io::ErrorKind::IsADirectory => ReadError::Folder,
            _ => match rustix::io::Errno::from_io_error(&error) {
                Some(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => ReadError::Swapped,
                // What is opened to be read blocks for nobody; a socket cannot be opened at all.
                Some(rustix::io::Errno::NXIO) => ReadError::NotAFile,
                _ => ReadError::Io(error),
            },
        }
    }
}

impl Inside {
    /// The place at a path of plain names below the root, such as the walker has given out. Nothing is resolved: a
    /// link anywhere on the way is refused when the place is opened. `None` for any other path.
    pub fn below(root: &CanonicalRoot, below: impl AsRef<Path>) -> Option<Self> {
        let below = below.as_ref();
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| Self::new(root, below.to_path_buf()))
    }

    /// The place at a path that is known to be of plain names.
    pub(crate) fn new(root: &CanonicalRoot, below: PathBuf) -> Self {
        debug_assert!(below.components().all(|part| matches!(part, Component::Normal(_))));
        Inside { root: root.clone(), below }
    }

    /// The root that it is inside of.
    pub fn root(&self) -> &CanonicalRoot {
        &self.root
    }

    /// The path from the root, as people say it.
    pub fn relative(&self) -> &Path {
        &self.below
    }

    /// The absolute path, to be shown, compared and told to other programs.
    ///
    /// Opening it would follow whatever lies there by then, which is what this type is there to prevent.
    pub fn name(&self) -> PathBuf {
        if self.below.as_os_str().is_empty() {
            self.root.as_path().to_path_buf()
        } else {
            self.root.as_path().join(&self.below)
        }
    }

    /// Opens a regular file for reading.
    pub fn open(&self) -> Result<File, ReadError> {
        // NONBLOCK: a pipe with no writer must not hold us.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(beneath::open(self.root_folder()?, &self.below, flags, Mode::empty())?);
        regular::only_regular(file)
    }

    /// Reads a regular file of at most `limit` bytes, with its metadata from before the reading.
    pub fn read(&self, limit: u64) -> Result<(Vec<u8>, Metadata), ReadError> {
        regular::read_open(self.open()?, limit)
    }

    /// What lies there, a link not followed.
    pub fn metadata(&self) -> io::Result<Metadata> {
        File::from(beneath::open(self.root_folder()?, &self.below, beneath::LOOK, Mode::empty())?).metadata()
    }

    /// Whether something lies there.
    pub fn exists(&self) -> bool {
        self.metadata().is_ok()
    }

    /// Whether a folder lies there.
    pub fn is_dir(&self) -> bool {
        self.metadata().is_ok_and(|metadata| metadata.is_dir())
    }

    /// Whether a regular file lies there.
    pub fn is_file(&self) -> bool {
        self.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// Removes a file.
    pub fn remove(&self) -> io::Result<()> {
        let (folder, name) = self.place()?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    }

    /// The folder that it lies in, held open, and its name there.
    pub(super) fn place(&self) -> io::Result<(OwnedFd, &std::ffi::OsStr)> {
        let name = self.below.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let folder = self.below.parent().unwrap_or(Path::new(""));
        Ok((beneath::open_folder(self.root_folder()?, folder)?, name))
    }

    pub(super) fn root_folder(&self) -> io::Result<OwnedFd> {
        beneath::folder(self.root.as_path())
    }
}
