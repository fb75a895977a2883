//! Which project inside a workspace a file belongs to: the nearest folder above it with a marker file.

use std::path::{Path, PathBuf};

use crate::{CanonicalRoot, boundary};

/// Returns the nearest folder from the file upwards that holds one of `markers`, up to the root itself.
///
/// A marker is a file name (`Cargo.toml`) or an ending (`*.csproj`). A file outside of the root has none.
pub fn nearest_marker(root: &CanonicalRoot, file: &Path, markers: &[&str]) -> Option<PathBuf> {
    let file = boundary::inside(root, file).ok()?.name();
    file.ancestors()
        .skip(1)
        .take_while(|folder| boundary::is_inside(root, folder))
        .find(|folder| markers.iter().any(|marker| has_marker(folder, marker)))
        .map(Path::to_path_buf)
}

fn has_marker(folder: &Path, marker: &str) -> bool {
    match marker.strip_prefix('*') {
        None => folder.join(marker).exists(),
        Some(ending) => std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(ending))),
    }
}
