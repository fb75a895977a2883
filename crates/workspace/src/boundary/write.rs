//! Writing inside a root: the bytes are made ready in the file's own folder, then put in its place in one step.
//!
//! Both steps go through the descriptor of that folder. Where the file system can, the bytes wait in a file without
//! a name, so that a kill leaves nothing behind; otherwise, and for the moment of replacing a file, under a name
//! that tells whose it is, so that [`sweep_beside`] can take away what a killed process has left.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use chartroom_transport::process;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beneath;
use super::inside::Inside;

/// How the names of waiting files begin; `.chartroom-<pid>-<start of the process>-<number>.tmp` is the whole.
const PREFIX: &str = ".chartroom-";
const SUFFIX: &str = ".tmp";

/// Bytes that wait to be put in their place. Dropped before that, they are gone.
#[derive(Debug)]
pub struct Staged {
    folder: OwnedFd,
    name: OsString,
    file: File,
    /// The name it waits under, where files without a name cannot be made.
    temporary: Option<OsString>,
}

impl Inside {
    /// Makes bytes ready to be put here. The folder must exist. `mode`: else what the user's umask leaves of 0666.
    pub fn stage(&self, bytes: &[u8], mode: Option<Permissions>) -> io::Result<Staged> {
        let (folder, name) = self.place()?;
        let (file, temporary) = waiting_file(&folder)?;
        let mut staged = Staged { folder, name: name.to_owned(), file, temporary };
        staged.file.write_all(bytes)?;
        if let Some(mode) = mode {
            staged.file.set_permissions(mode)?;
        }
        staged.file.sync_all()?;
        Ok(staged)
    }

    /// Makes the missing folders above this place. Returns those that were made, outermost first.
    pub fn make_folders(&self) -> io::Result<Vec<Inside>> {
        let mut held = self.root_folder()?;
        let mut below = PathBuf::new();
        let mut made = Vec::new();
        for component in self.relative().parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(name) = component else { return Err(Errno::XDEV.into()) };
            below.push(name);
            match rustix::fs::mkdirat(&held, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.push(Inside::new(self.root(), below.clone())),
                Err(Errno::EXIST) => {}
                Err(error) => {
                    made.iter().rev().for_each(forget_folder);
                    return Err(error.into());
                }
            }
            held = beneath::open_folder(&held, Path::new(name)).inspect_err(|_| {
                made.iter().rev().for_each(forget_folder);
            })?;
        }
        Ok(made)
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self) -> io::Result<()> {
        let (folder, name) = self.place()?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
    }
}

fn forget_folder(folder: &Inside) {
    if let Err(error) = folder.remove_folder() {
        tracing::debug!(folder = %folder.name().display(), %error, "a folder stays behind");
    }
}

impl Staged {
    /// Puts the bytes in their place, over what lies there unless that is a folder.
    pub fn put(mut self) -> io::Result<()> {
        // A folder that is a link now is still the folder that was opened, and a link of that name is replaced.
        let temporary = match self.temporary.take() {
            Some(temporary) => temporary,
            None => {
                match link(&self.file, &self.folder, &self.name) {
                    Err(Errno::EXIST) => {}
                    result => return Ok(result?),
                }
                let temporary = temporary_name();
                link(&self.file, &self.folder, &temporary)?;
                temporary
            }
        };
        let renamed = rustix::fs::renameat(&self.folder, &temporary, &self.folder, &self.name);
        if renamed.is_err() {
            self.temporary = Some(temporary);
        }
        Ok(renamed?)
    }
}

impl Staged {
    /// Puts the bytes in their place if nothing lies there.
    pub fn put_new(self) -> io::Result<()> {
        // What waits under a name goes by dropping.
        Ok(match &self.temporary {
            None => link(&self.file, &self.folder, &self.name),
            Some(temporary) => {
                rustix::fs::linkat(&self.folder, temporary, &self.folder, &self.name, AtFlags::empty())
            }
        }?)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary
            && let Err(error) = rustix::fs::unlinkat(&self.folder, temporary, AtFlags::empty())
        {
            tracing::debug!(?temporary, %error, "a temporary file stays behind");
        }
    }
}

fn waiting_file(folder: &OwnedFd) -> io::Result<(File, Option<OsString>)> {
    let mode = Mode::from_raw_mode(0o666);
    #[cfg(target_os = "linux")]
    if let Ok(file) = beneath::open(folder, Path::new(""), OFlags::WRONLY | OFlags::TMPFILE, mode) {
        return Ok((file.into(), None));
    }
    let name = temporary_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = beneath::open(folder, Path::new(&name), flags, mode)?;
    Ok((file.into(), Some(name)))
}

/// Gives a file without a name one.
#[cfg(target_os = "linux")]
fn link(file: &File, folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, path, folder, name, AtFlags::SYMLINK_FOLLOW)
}

/// Files without a name are made on Linux alone.
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &OwnedFd, _: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// A name that says which process it belongs to.
fn temporary_name() -> OsString {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}-{number}{SUFFIX}", process::start_time(pid).unwrap_or(0)).into()
}

/// Whether a name is one under which bytes wait to be put in place.
pub fn is_temporary(name: &OsStr) -> bool {
    owner_of(name).is_some()
}

/// The process that a waiting file belongs to: its pid and start.
fn owner_of(name: &OsStr) -> Option<(u32, u64)> {
    let mut parts = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split('-');
    let owner = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next()?.parse::<u64>().ok()?;
    parts.next().is_none().then_some(owner)
}

/// Removes what killed processes have left to wait in the folder of this place.
pub fn sweep_beside(place: &Inside) {
    let Ok((folder, _)) = place.place() else { return };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let Ok(mut entries) = beneath::open(&folder, Path::new(""), flags, Mode::empty())
        .and_then(|folder| Ok(rustix::fs::Dir::new(folder)?))
    else {
        return;
    };
    while let Some(Ok(entry)) = entries.read() {
        let Some((pid, start)) = owner_of(OsStr::from_bytes(entry.file_name().to_bytes())) else { continue };
        if is_gone(pid, start)
            && let Err(error) = rustix::fs::unlinkat(&folder, entry.file_name(), AtFlags::empty())
        {
            tracing::debug!(name = ?entry.file_name(), %error, "a temporary file stays behind");
        }
    }
}

fn is_gone(pid: u32, start: u64) -> bool {
    match process::start_time(pid) {
        Some(now) => now != start,
        // It is gone, or the system does not tell starts: then a living process of that pid keeps its files.
        None => i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH)),
    }
}
