//! Reading the files by which an ecosystem tells which folders belong together.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::CanonicalRoot;
use crate::boundary;

/// A manifest that is larger is none.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// A folder of a workspace whose project is asked for.
pub(super) struct Place<'a> {
    pub(super) root: &'a CanonicalRoot,
    pub(super) folder: &'a Path,
}

impl Place<'_> {
    /// The folder and those above it, up to the workspace's own.
    pub(super) fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|folder| boundary::is_inside(self.root, folder))
    }

    /// The same without the folder itself.
    pub(super) fn above(&self) -> impl Iterator<Item = &Path> {
        self.upwards().skip(1)
    }

    /// Whether a regular file of the workspace has this name there.
    pub(super) fn has(&self, folder: &Path, name: &str) -> bool {
        boundary::inside(self.root, &folder.join(name)).is_ok_and(|place| place.is_file())
    }

    /// The text of a file in a folder; nothing when it is no regular file of the workspace, too large or no text.
    pub(super) fn text(&self, folder: &Path, name: &str) -> Option<String> {
        let (bytes, _) = boundary::inside(self.root, &folder.join(name)).ok()?.read(MAX_MANIFEST).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// A TOML file as a tree.
    pub(super) fn toml(&self, folder: &Path, name: &str) -> Option<toml::Table> {
        self.text(folder, name)?.parse().ok()
    }

    /// A JSON file as a tree; comments and trailing commas are allowed.
    pub(super) fn json(&self, folder: &Path, name: &str) -> Option<Value> {
        super::json::parse(&self.text(folder, name)?)
    }
}

/// The words of a list in a TOML file.
pub(super) fn words(list: Option<&toml::Value>) -> Vec<String> {
    let list = list.and_then(toml::Value::as_array).into_iter().flatten();
    list.filter_map(|word| Some(word.as_str()?.to_owned())).collect()
}

/// Where a relative path of a manifest leads, by its text alone; nothing for an absolute one.
pub(super) fn lead(from: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path).components().all(|part| !matches!(part, Component::RootDir));
    relative.then(|| boundary::normalise(from, Path::new(path)))
}
