//! A root that is held open, for whoever looks at many of its folders.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags};

use super::beneath;
use crate::CanonicalRoot;

/// The folder of a root.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    pub(crate) fn of(root: &CanonicalRoot) -> io::Result<Self> {
        beneath::folder(root.as_path()).map(Folder)
    }

    /// Opens a folder below it to read its entries.
    pub(crate) fn read(&self, below: &Path) -> io::Result<Dir> {
        let folder = beneath::open(&self.0, below, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Dir::new(folder)?)
    }
}
