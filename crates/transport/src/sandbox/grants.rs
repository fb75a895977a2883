//! From "everything but the hidden" to the list of what is allowed, which is all that landlock understands.
//!
//! A folder with something hidden below it is not granted itself, but each of its entries that is there now. What is
//! made later beside something hidden is therefore out of reach until the child starts anew.

use std::path::{Path, PathBuf};

/// What one entry of a sandbox comes down to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    /// Granted with everything below.
    pub(super) whole: Vec<PathBuf>,
    /// Granted in parts, because something below is hidden.
    pub(super) split: Vec<PathBuf>,
}

/// Resolves the links of what exists; drops what does not.
pub(super) fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// Takes `paths` apart around what is hidden. All of them are without links.
pub(super) fn around(paths: &[PathBuf], hidden: &[PathBuf]) -> Grants {
    let mut grants = Grants::default();
    for path in paths.iter().filter(|path| !hidden.contains(path)) {
        take_apart(path, hidden, &mut grants);
    }
    grants
}

fn take_apart(path: &Path, hidden: &[PathBuf], grants: &mut Grants) {
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        grants.whole.push(path.to_owned());
        return;
    }
    grants.split.push(path.to_owned());
    let Ok(entries) = std::fs::read_dir(path) else { return };
    // A link is not followed: what it leads to is granted where it is, or it is not.
    let mut entries: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .filter(|path| !hidden.contains(path))
        .collect();
    entries.sort();
    for entry in entries {
        take_apart(&entry, hidden, grants);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_something_hidden_is_granted_by_its_entries() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in ["a", ".ssh", ".config/gcloud", ".config/other", "b/c"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::fs::write(home.join(".netrc"), "").unwrap();
        std::fs::write(home.join(".profile"), "").unwrap();
        // A link to a secret grants nothing, and one that leads away is not a second name for it either.
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let under = |names: &[&str]| names.iter().map(|name| home.join(name)).collect::<Vec<_>>();
        let hidden = under(&[".ssh", ".config/gcloud", ".netrc"]);
        let grants = around(std::slice::from_ref(&home), &hidden);
        assert_eq!(grants.whole, under(&[".config/other", ".profile", "a", "b"]));
        assert_eq!(grants.split, [home.clone(), home.join(".config")]);
        // What is hidden is not granted by naming it, and what is named below it is.
        let grants = around(&under(&[".ssh", ".ssh/known_hosts", "b"]), &hidden);
        assert_eq!(grants.whole, under(&[".ssh/known_hosts", "b"]));
    }

    #[test]
    fn links_are_resolved_and_what_is_not_there_is_dropped() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("a")).unwrap();
        std::os::unix::fs::symlink(home.join("a"), home.join("link")).unwrap();
        assert_eq!(real(&[home.join("link"), home.join("a"), home.join("none")]), [home.join("a")]);
    }
}
