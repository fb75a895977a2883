//! One file as a walk of the whole root would meet it, without the walk: only the ignore files of the folders on the way
//! are read.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use super::{Frame, Item, Walk, WalkEvent, WalkOptions};
use crate::CanonicalRoot;
use crate::boundary;

/// The names of which one in a folder means that it may have rules, sorted.
const RULES: [&str; 4] = [".chartroomignore", ".git", ".gitignore", ".ignore"];

/// What [`super::files`] would give out for this path below the root; none when it would pass it over: it is ignored, lies
/// behind a link, or is no regular file.
pub fn file_at(root: &CanonicalRoot, relative: &Path, options: &WalkOptions) -> Option<WalkEvent> {
    let mut walk = Walk::empty(root, options);
    let folder = boundary::Folder::of(root).ok()?;
    let name = relative.file_name()?;
    let mut below = PathBuf::new();
    walk.rules_of(&below);
    for component in relative.parent()?.components() {
        let Component::Normal(component) = component else { return None };
        below.push(component);
        if boundary::is_temporary(component) || walk.is_ignored(&root.as_path().join(&below), component, true)
        {
            return None;
        }
        walk.rules_of(&below);
    }
    if boundary::is_temporary(name) {
        return None;
    }
    // A link among the folders is refused here.
    let dir = folder.read(&below).ok()?;
    match walk.item(&dir, &root.as_path().join(&below), name, FileType::Unknown)? {
        Item::Event(event) => Some(event),
        Item::Folder(_) => None,
    }
}

impl Walk {
    /// Goes on with the rules of this folder too, without reading what else is in it.
    fn rules_of(&mut self, below: &Path) {
        let n_live = self.frames.iter().map(|frame| frame.rules.n_patterns()).sum();
        // What is wrong with an ignore file is told by the walk of everything.
        let mut events = Vec::new();
        let rules = self.reader.rules_of(&self.root, below, &RULES.map(OsStr::new), n_live, &mut events);
        self.frames.push(Frame { below: below.to_owned(), rules, items: Vec::new().into_iter() });
    }
}
