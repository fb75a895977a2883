//! Lists of members as workspaces have them: paths and globs below the workspace's root, some of them taken back.

use std::path::Path;

use globset::GlobBuilder;

/// More patterns than this are not looked at.
const MAX_PATTERNS: usize = 1_000;

/// Tells whether the list names a folder below the workspace's root. The last pattern that matches decides.
pub(super) fn include(patterns: &[String], workspace: &Path, folder: &Path) -> bool {
    let Ok(below) = folder.strip_prefix(workspace) else { return false };
    let mut is_member = false;
    for pattern in patterns.iter().take(MAX_PATTERNS) {
        let (pattern, names) = match pattern.strip_prefix('!') {
            Some(rest) => (rest, false),
            None => (pattern.as_str(), true),
        };
        if is_member != names && matches(pattern, below) {
            is_member = names;
        }
    }
    is_member
}

/// Tells whether a glob, in which `*` stays within one folder, names a path.
pub(super) fn matches(pattern: &str, below: &Path) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if pattern.is_empty() || pattern == "." {
        return below.as_os_str().is_empty();
    }
    // Names without a wildcard are most of them.
    if !pattern.contains(['*', '?', '[', '{']) {
        return Path::new(pattern) == below;
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(below))
}
