//! Single files of the working tree: put, removed, and whether that may be done.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::CheckpointError;
use crate::git::Git;
use crate::snapshot::is_behind_a_link;

/// Whether a file was changed after this act began.
pub(super) fn is_newer(path: &Path, began: SystemTime) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    let changed = u64::try_from(found.ctime()).unwrap_or(0);
    let nanos = u32::try_from(found.ctime_nsec()).unwrap_or(0);
    UNIX_EPOCH + Duration::new(changed, nanos) > began
}

/// Whether a file can be put there: no folder is in its place, and no file or link in the place of a folder above it.
pub(super) fn is_free(top: &Path, path: &Path) -> bool {
    let whole = top.join(path);
    if is_behind_a_link(top, path) || whole.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return false;
    }
    let mut above = whole.ancestors().skip(1);
    let nearest = above.find_map(|above| above.symlink_metadata().ok());
    nearest.is_some_and(|found| found.is_dir())
}

/// Removes a file, and the folders that are empty then.
pub(super) fn remove(folder: &Path, whole: &Path) -> Result<(), CheckpointError> {
    match std::fs::remove_file(whole) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(CheckpointError::Io { what: format!("removing {}", whole.display()), error });
        }
        _ => {}
    }
    let above = whole.ancestors().skip(1).take_while(|above| *above != folder && above.starts_with(folder));
    for above in above {
        if std::fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes one object off git's answer: `id type size LF content LF`.
pub(super) fn object<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}

/// Puts a file in its place at once; until then its name begins with the prefix. It keeps the permissions that it had, but
/// for who may run it.
pub(super) fn put(
    (git, prefix): (&Git, &str),
    whole: &Path,
    mode: u32,
    content: &[u8],
) -> std::io::Result<()> {
    let parent = whole.parent().unwrap_or(whole);
    std::fs::create_dir_all(parent)?;
    let make = |folder: &Path| -> std::io::Result<tempfile::TempPath> {
        let builder = tempfile::Builder::new().prefix(prefix).to_owned();
        if mode == 0o120_000 {
            use std::os::unix::ffi::OsStrExt as _;
            let target = std::ffi::OsStr::from_bytes(content);
            let link = builder.make_in(folder, |path| std::os::unix::fs::symlink(target, path))?;
            return Ok(link.into_temp_path());
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(content)?;
        let existing = whole.symlink_metadata().ok().filter(|found| found.is_file());
        let read = existing.map_or(0o644, |found| found.mode() & 0o666);
        let run = if mode & 0o111 != 0 { (read & 0o444) >> 2 } else { 0 };
        file.as_file().set_permissions(Permissions::from_mode(read | run))?;
        Ok(file.into_temp_path())
    };
    // In our own folder if that is on the same disk: a death in between leaves nothing in the user's.
    match make(git.store.as_path())?.persist(whole) {
        Err(failed) if failed.error.kind() == std::io::ErrorKind::CrossesDevices => {
            make(parent)?.persist(whole).map_err(|failed| failed.error)
        }
        done => done.map_err(|failed| failed.error),
    }
}
