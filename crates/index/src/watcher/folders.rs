//! Which folders of a root are worth a watch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::walk::{self, WalkOptions};

/// Folders whose changes are never ours.
const QUIET_FOLDERS: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "dist",
    "build",
    "out",
    "venv",
    "__pycache__",
    "__pypackages__",
    "site-packages",
    "coverage",
];

/// The root and every folder below it that may hold something for the index, as the ignore files say now.
pub(super) fn watched_folders(root: &Path) -> BTreeSet<PathBuf> {
    let Ok(root) = CanonicalRoot::open(root) else { return BTreeSet::new() };
    let quiet = QUIET_FOLDERS.iter().map(|name| format!("{name}/"));
    let options = WalkOptions {
        default_ignores: false,
        ignore_patterns: quiet.chain([".*/".to_owned()]).collect(),
        ..WalkOptions::default()
    };
    // A folder that cannot be read cannot be watched either; the scan says so.
    walk::folders(&root, &options).collect()
}

/// Paths that are never indexed: dot folders (but not the ignore files) and output.
pub(super) fn is_quiet(root: &str, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    !is_ignore_file(path)
        && below.components().any(|part| part.as_os_str().to_str().is_some_and(is_quiet_name))
}

/// Files that say what is ignored.
pub(super) fn is_ignore_file(path: &Path) -> bool {
    matches!(
        path.file_name().and_then(|name| name.to_str()),
        Some(".gitignore" | ".chartroomignore" | ".ignore")
    )
}

fn is_quiet_name(name: &str) -> bool {
    name.starts_with('.') || QUIET_FOLDERS.contains(&name)
}
