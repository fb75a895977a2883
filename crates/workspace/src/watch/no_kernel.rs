//! A system whose kernel tells nothing: folders are compared.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::boundary::Folder;

/// Never made.
pub(super) enum Kernel {}

/// Something happened.
#[allow(dead_code, reason = "only a kernel makes them")]
pub(super) enum Notice {
    /// To what has this name, and is no folder.
    File { folder: PathBuf, name: OsString },
    /// A folder of this name came or went.
    Folder { folder: PathBuf, name: OsString },
    /// More than the queue holds.
    Lost,
}

impl Kernel {
    pub(super) fn new(_max_watches: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn watch(&mut self, _below: &Path, _folder: &Folder) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn forget(&mut self, _below: &Path) {
        match *self {}
    }

    pub(super) fn notices(&mut self) -> io::Result<Vec<Notice>> {
        match *self {}
    }
}

/// Why there are no watches, for people.
pub(super) fn why(_error: &io::Error) -> String {
    "this system is not asked for watches".to_owned()
}
