//! What the kernel tells of folders (inotify): a queue that is read when somebody asks.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::boundary::Folder;

/// What is asked of a folder. Not what only reads it, nor what changes modes and owners.
const ASKED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);

/// Watches on folders, by their paths from the root.
pub(super) struct Kernel {
    queue: OwnedFd,
    max_watches: usize,
    folders: HashMap<i32, PathBuf>,
    /// The same the other way round, ordered, so that what lies below a folder is together.
    watches: BTreeMap<PathBuf, i32>,
}

/// Something happened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// To what has this name, and is no folder.
    File { folder: PathBuf, name: OsString },
    /// A folder of this name came or went.
    Folder { folder: PathBuf, name: OsString },
    /// More than the queue holds.
    Lost,
}

impl Kernel {
    pub(super) fn new(max_watches: usize) -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self { queue, max_watches, folders: HashMap::new(), watches: BTreeMap::new() })
    }

    /// Watches a folder that is held open.
    pub(super) fn watch(&mut self, below: &Path, folder: &Folder) -> io::Result<()> {
        if self.watches.len() >= self.max_watches {
            return Err(Errno::NOSPC.into());
        }
        // By its descriptor: a path could lead elsewhere by now.
        let held = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        let watch = inotify::add_watch(&self.queue, held, ASKED)?;
        self.folders.insert(watch, below.to_owned());
        self.watches.insert(below.to_owned(), watch);
        Ok(())
    }

    /// Lets go of a folder; what the kernel still has to tell of it is not heard.
    pub(super) fn forget(&mut self, below: &Path) {
        if let Some(watch) = self.watches.remove(below) {
            self.folders.remove(&watch);
            // One that is gone has lost its watch by itself.
            inotify::remove_watch(&self.queue, watch).ok();
        }
    }

    /// Empties the queue.
    pub(super) fn notices(&mut self) -> io::Result<Vec<Notice>> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 64 * 1024];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut notices: Vec<Notice> = Vec::new();
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(notices),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                notices.push(Notice::Lost);
                continue;
            }
            let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name()) else {
                continue;
            };
            let (folder, name) = (folder.clone(), OsStr::from_bytes(name.to_bytes()).to_owned());
            let notice = if event.events().contains(ReadFlags::ISDIR) {
                Notice::Folder { folder, name }
            } else {
                Notice::File { folder, name }
            };
            // A program that writes line by line is told line by line.
            if notices.last() != Some(&notice) {
                notices.push(notice);
            }
        }
    }
}

/// Why there are no watches, for people.
pub(super) fn why(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC) => {
            "the system has no watches left (ENOSPC); raise fs.inotify.max_user_watches".to_owned()
        }
        Some(Errno::MFILE) => {
            "the system has no watchers left (EMFILE); raise fs.inotify.max_user_instances".to_owned()
        }
        _ => error.to_string(),
    }
}
