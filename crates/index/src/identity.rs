//! What a codebase and a file in it are called. Two separate operations that must not be mixed.

use std::path::{Path, PathBuf};

use chartroom_workspace::boundary;

/// Returns the canonical root ("Policy A"): realpath when available, else the absolute path with `.` and `..`
/// taken out by their text; never with a trailing separator (the file system's root keeps its own).
///
/// A root that is missing now (an unmounted disk) still has a name, so that its entry can be found.
pub(crate) fn canonical_root(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    boundary::normalise(Path::new("/"), &absolute)
}

/// Returns a path below a root as the manifest spells it, or `None` when it would leave the root.
pub(crate) fn normalize_rel_path(path: &str) -> Option<String> {
    let slashed = path.trim().replace('\\', "/");
    let mut segments = Vec::new();
    for segment in slashed.split('/') {
        match segment {
            "" | "." => {}
            ".." => return None,
            _ => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

/// Returns what `path` is below `root`, with `/`: empty for the root itself, `None` when it is not inside.
/// Whole segments are compared: `/repo-old` is not inside `/repo`.
pub(crate) fn below(root: &str, path: &str) -> Option<String> {
    Path::new(path).strip_prefix(root).ok().map(|rest| rest.to_string_lossy().into_owned())
}

/// Returns the longest of `roots` that encloses `path`; ties cannot happen, roots are unique.
pub(crate) fn enclosing<'a>(roots: impl Iterator<Item = &'a str>, path: &str) -> Option<&'a str> {
    roots.filter(|root| below(root, path).is_some()).max_by_key(|root| root.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_spelled_in_one_way_and_cannot_escape() {
        let check = |input: &str, expected: Option<&str>| {
            assert_eq!(normalize_rel_path(input).as_deref(), expected, "{input:?}");
        };
        check("src/a.rs", Some("src/a.rs"));
        check(" ./src//a.rs ", Some("src/a.rs"));
        check("\\src\\a.rs", Some("src/a.rs"));
        check("/src/./b/", Some("src/b"));
        check("../a", None);
        check("a/../b", None);
        check("", None);
        check("./", None);
    }

    #[test]
    fn a_symlink_to_a_root_is_the_same_root() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("repo");
        std::fs::create_dir(&real).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(canonical_root(&link), canonical_root(&real));
        assert_eq!(canonical_root(&link.join(".")), canonical_root(&real.join("x/..")));
    }

    #[test]
    fn a_missing_root_keeps_its_name_without_a_trailing_separator() {
        assert_eq!(canonical_root(Path::new("/no/such/place/")), PathBuf::from("/no/such/place"));
        assert_eq!(canonical_root(Path::new("/no/such/../place")), PathBuf::from("/no/place"));
        assert_eq!(canonical_root(Path::new("/")), PathBuf::from("/"));
    }

    #[test]
    fn the_longest_enclosing_root_wins_and_segments_are_whole() {
        let roots = ["/repo", "/repo/sub", "/repo-old"];
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(enclosing(roots.iter().copied(), path), expected, "{path}");
        };
        check("/repo", Some("/repo"));
        check("/repo/sub/deep", Some("/repo/sub"));
        check("/repo/subway", Some("/repo"));
        check("/repo-old/x", Some("/repo-old"));
        check("/elsewhere", None);
    }
}
