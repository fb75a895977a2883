//! A root that is held open, for whoever looks at many of its files and folders.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::beneath;
use crate::CanonicalRoot;

/// The folder of a root. What is asked of it is a path of plain names below it, and no link on the way is followed.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens a root's folder.
    pub fn of(root: &CanonicalRoot) -> io::Result<Self> {
        beneath::folder(root.as_path()).map(Folder)
    }

    /// What lies there, a link not followed.
    pub fn metadata(&self, below: &Path) -> io::Result<Metadata> {
        File::from(beneath::open(&self.0, below, beneath::LOOK, Mode::empty())?).metadata()
    }

    /// The first names in a folder, as many as `limit`, in no order.
    pub fn names(&self, below: &Path, limit: usize) -> io::Result<Vec<OsString>> {
        let entries = self.read(below)?.filter_map(Result::ok);
        let names = entries.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        Ok(names.filter(|name| name != "." && name != "..").take(limit).collect())
    }

    /// Opens a folder below it.
    pub(crate) fn below(&self, below: &Path) -> io::Result<Self> {
        beneath::open_folder(&self.0, below).map(Folder)
    }

    /// Opens a folder that is no root's, by its absolute path without links.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        beneath::folder(path).map(Folder)
    }

    /// What is known of the folder itself.
    pub(crate) fn own_metadata(&self) -> io::Result<Metadata> {
        File::from(self.0.try_clone()?).metadata()
    }

    /// Gives the descriptor away.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// What kind of thing has this name in it; a link is a link.
    pub(crate) fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// What is known of what has this name in it; a link is a link.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The descriptor, for as long as the folder is held.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Opens a folder below it to read its entries.
    pub(crate) fn read(&self, below: &Path) -> io::Result<Dir> {
        let folder = beneath::open(&self.0, below, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Dir::new(folder)?)
    }
}
