//! Which project inside a workspace a file belongs to: the nearest folder above it with a marker file.
//!
//! A marker is only looked at, never read: below the root's own folder, and no link is followed out of it.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::CanonicalRoot;
use crate::boundary::{self, Folder};

/// Of a folder with more entries than this the rest is not looked at for an ending.
const MAX_ENTRIES: usize = 5_000;

/// Returns the nearest folder from the file upwards that holds one of `markers`, up to the root itself.
///
/// A marker is a name (`Cargo.toml`) or an ending (`*.csproj`). A file outside of the root has none.
pub fn nearest_marker(root: &CanonicalRoot, file: &Path, markers: &[&str]) -> Option<PathBuf> {
    let file = boundary::inside(root, file).ok()?.name();
    let top = Folder::of(root).ok()?;
    file.ancestors()
        .skip(1)
        .take_while(|folder| boundary::is_inside(root, folder))
        .find(|folder| holds_one(root, &top, folder, markers))
        .map(Path::to_path_buf)
}

/// Whether a folder of the workspace holds a marker.
pub fn has_marker(root: &CanonicalRoot, folder: &Path, marker: &str) -> bool {
    Folder::of(root).is_ok_and(|top| holds_one(root, &top, folder, &[marker]))
}

fn holds_one(root: &CanonicalRoot, top: &Folder, folder: &Path, markers: &[&str]) -> bool {
    let Some(below) = root.relative(folder) else { return false };
    let Ok(opened) = top.below(below) else { return false };
    let is_there = |name: &OsStr| match opened.kind(name) {
        Ok(FileType::RegularFile | FileType::Directory) => true,
        // A linked config counts if it is the workspace's own.
        Ok(FileType::Symlink) => {
            boundary::inside(root, &folder.join(name)).is_ok_and(|place| place.is_file() || place.is_dir())
        }
        _ => false,
    };
    markers.iter().any(|marker| match marker.strip_prefix('*') {
        None => is_name(marker) && is_there(OsStr::new(marker)),
        Some(ending) => top
            .names(below, MAX_ENTRIES)
            .into_iter()
            .flatten()
            .any(|name| name.to_str().is_some_and(|text| text.ends_with(ending)) && is_there(&name)),
    })
}

/// Whether a marker is one name: a path could lead anywhere.
fn is_name(marker: &str) -> bool {
    let mut components = Path::new(marker).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}
