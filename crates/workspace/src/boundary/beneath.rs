//! Opening below a folder that is held open: no component on the way may be a link, and none leads up.
//!
//! What is opened here lies below the root whatever others do to the tree meanwhile: the kernel walks the way in
//! one step (`openat2`), or we walk it component by component, each opened from the one before it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// How often a way that changes under the kernel's feet is walked again.
#[cfg(target_os = "linux")]
const TRIES: usize = 64;

/// Flags of a folder that is only held to walk on from it.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::RDONLY;

/// Flags of what is only looked at.
#[cfg(target_os = "linux")]
pub(super) const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a folder by its absolute path, which must not end in a link.
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// Opens what lies at `below`, a path of plain names, below the folder.
pub(super) fn open(folder: impl AsFd, below: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if below.as_os_str().is_empty() {
        return Ok(rustix::fs::openat(folder, ".", flags, mode)?);
    }
    match in_one_step(folder.as_fd(), below, flags, mode) {
        Some(result) => Ok(result?),
        None => Ok(by_components(folder.as_fd(), below, flags, mode)?),
    }
}

/// Opens a folder below the folder, to walk on from it or to change its entries.
pub(super) fn open_folder(folder: impl AsFd, below: &Path) -> io::Result<OwnedFd> {
    open(folder, below, HELD | OFlags::DIRECTORY, Mode::empty())
}

/// Asks the kernel to walk the whole way. `None` where it cannot: an old kernel, or a filter of system calls that
/// does not know the call.
#[cfg(target_os = "linux")]
fn in_one_step(
    folder: BorrowedFd<'_>,
    below: &Path,
    flags: OFlags,
    mode: Mode,
) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::ResolveFlags;
    let way = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    for _ in 0..TRIES {
        match rustix::fs::openat2(folder, below, flags, mode, way) {
            // Something on the way was renamed meanwhile; the kernel cannot tell whether it still is beneath.
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => return None,
            result => return Some(result),
        }
    }
    Some(Err(Errno::AGAIN))
}

#[cfg(not(target_os = "linux"))]
fn in_one_step(_: BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode) -> Option<Result<OwnedFd, Errno>> {
    None
}

fn by_components(folder: BorrowedFd<'_>, below: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut held: Option<OwnedFd> = None;
    let mut components = below.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else { return Err(Errno::XDEV) };
        let at = held.as_ref().map_or(folder, AsFd::as_fd);
        if components.peek().is_none() {
            return rustix::fs::openat(at, name, flags, mode);
        }
        let on_the_way = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        held = Some(rustix::fs::openat(at, name, on_the_way, Mode::empty())?);
    }
    Err(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The two ways must agree, because only one of them runs on a given kernel.
    #[test]
    fn both_ways_open_the_same_and_refuse_links_and_dot_dot() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("root/a/b")).unwrap();
        std::fs::write(path("root/a/b/file"), "text").unwrap();
        std::fs::write(path("outside"), "secret").unwrap();
        symlink("a", path("root/inner")).unwrap();
        symlink("../outside", path("root/out")).unwrap();
        symlink("/", path("root/top")).unwrap();
        let root = super::folder(&path("root")).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for (below, opens) in [
            ("a/b/file", true),
            ("a", true),
            ("a/b/none", false),
            ("a/b/file/x", false),
            ("inner/b/file", false),
            ("out", false),
            ("top/etc/passwd", false),
            ("../outside", false),
            ("a/../../outside", false),
        ] {
            let below = Path::new(below);
            let slow = by_components(root.as_fd(), below, flags, Mode::empty());
            assert_eq!(slow.is_ok(), opens, "{}: {slow:?}", below.display());
            if let Some(quick) = in_one_step(root.as_fd(), below, flags, Mode::empty()) {
                assert_eq!(quick.is_ok(), opens, "{}: {quick:?}", below.display());
            }
        }
    }
}
