//! The one file walker: every file of a workspace that nobody has asked to ignore.
//!
//! Nested `.gitignore`, `.chartroomignore`, `.ignore`, `.git/info/exclude` and the user's global excludes count.
//! Symbolic links are not followed, so that a walk ends and stays inside. What could not be read is an event,
//! not silence: an index that misses a folder must know that it does.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::CanonicalRoot;

/// Folders that hold no source of the project, in any language.
pub const DEFAULT_IGNORED: &[&str] = &[
    ".git/",
    ".hg/",
    ".svn/",
    ".jj/",
    "node_modules/",
    "bower_components/",
    ".venv/",
    "venv/",
    ".tox/",
    ".nox/",
    "__pycache__/",
    "__pypackages__/",
    "site-packages/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".gradle/",
    ".next/",
    ".nuxt/",
    ".svelte-kit/",
    ".turbo/",
    ".parcel-cache/",
    ".terraform/",
    "target/",
    ".DS_Store",
];

/// What to walk.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Whether [`DEFAULT_IGNORED`] counts.
    pub default_ignores: bool,
    /// More patterns to ignore, as in a `.gitignore` at the root.
    pub ignore_patterns: Vec<String>,
    /// Larger files are reported and not offered.
    pub max_file_size: Option<u64>,
    /// Whether files and folders whose name begins with a dot are walked.
    pub hidden: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions {
            default_ignores: true,
            ignore_patterns: Vec::new(),
            max_file_size: Some(1024 * 1024),
            hidden: true,
        }
    }
}

/// One thing met on a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    File(WalkedFile),
    /// A file that is larger than asked for.
    TooLarge {
        relative: String,
        size: u64,
    },
    /// A folder or file that could not be looked at: what is in it is unknown.
    Unreadable {
        path: PathBuf,
        error: String,
    },
    /// A file or folder whose name is not UTF-8 and cannot be spoken of in JSON. A folder is not entered.
    NotUtf8 {
        path: PathBuf,
    },
    /// A line of an ignore file that is not a pattern.
    BadPattern {
        error: String,
    },
}

/// A regular file inside the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedFile {
    pub path: PathBuf,
    /// From the root, with `/`.
    pub relative: String,
    pub size: u64,
    /// Nanoseconds since 1970, 0 where the file system does not know.
    pub modified: u128,
}

/// Walks a workspace, depth first, by name.
pub fn files(root: &CanonicalRoot, options: &WalkOptions) -> impl Iterator<Item = WalkEvent> + Send + use<> {
    let rules = IgnoreRules::new(root, options);
    let bad_patterns: Vec<WalkEvent> =
        rules.bad_patterns.iter().map(|error| WalkEvent::BadPattern { error: error.clone() }).collect();
    let mut builder = WalkBuilder::new(root.as_path());
    builder
        .hidden(!options.hidden)
        // Ignore files above the root are not the workspace's: what is walked must not depend on them.
        .parents(false)
        .require_git(false)
        .add_custom_ignore_filename(".chartroomignore")
        .follow_links(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| {
            // A folder that cannot be named is reported by `event` and not entered: nothing below it could be
            // named either.
            entry.depth() == 0 || !rules.ignores(entry)
        });
    let (root, max_file_size) = (root.clone(), options.max_file_size);
    let walk = builder.build().flat_map(move |entry| events(&root, max_file_size, entry));
    bad_patterns.into_iter().chain(walk)
}

/// Patterns of ours, on top of what the ignore files say.
struct IgnoreRules {
    matcher: Gitignore,
    bad_patterns: Vec<String>,
}

impl IgnoreRules {
    fn new(root: &CanonicalRoot, options: &WalkOptions) -> Self {
        let mut builder = GitignoreBuilder::new(root.as_path());
        let mut bad_patterns = Vec::new();
        let defaults = DEFAULT_IGNORED.iter().copied().filter(|_| options.default_ignores);
        for pattern in defaults.chain(options.ignore_patterns.iter().map(String::as_str)) {
            if let Err(error) = builder.add_line(None, pattern) {
                bad_patterns.push(error.to_string());
            }
        }
        let matcher = builder.build().unwrap_or_else(|error| {
            bad_patterns.push(error.to_string());
            Gitignore::empty()
        });
        IgnoreRules { matcher, bad_patterns }
    }

    fn ignores(&self, entry: &DirEntry) -> bool {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        self.matcher.matched(entry.path(), is_dir).is_ignore()
    }
}

fn events(
    root: &CanonicalRoot,
    max_file_size: Option<u64>,
    entry: Result<DirEntry, ignore::Error>,
) -> Vec<WalkEvent> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return vec![unreadable(root, &error)],
    };
    let mut events = Vec::new();
    // A partial error: the entry is fine, a line of an ignore file beside it is not.
    if let Some(error) = entry.error() {
        events.push(WalkEvent::BadPattern { error: error.to_string() });
    }
    let Some(kind) = entry.file_type() else { return events };
    if entry.file_name().to_str().is_none() {
        events.push(WalkEvent::NotUtf8 { path: entry.into_path() });
        return events;
    }
    if !kind.is_file() {
        return events;
    }
    // A file below a folder that cannot be named was reported with its folder.
    let Some(relative) = root.relative(entry.path()).and_then(Path::to_str).map(str::to_owned) else {
        return events;
    };
    events.push(match entry.metadata() {
        Err(error) => unreadable(root, &error),
        Ok(metadata) => {
            let size = metadata.len();
            let modified =
                metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            match max_file_size {
                Some(max) if size > max => WalkEvent::TooLarge { relative, size },
                _ => WalkEvent::File(WalkedFile {
                    path: entry.into_path(),
                    relative,
                    size,
                    modified: modified.map_or(0, |time| time.as_nanos()),
                }),
            }
        }
    });
    events
}

fn unreadable(root: &CanonicalRoot, error: &ignore::Error) -> WalkEvent {
    let path = path_in(error).unwrap_or(root.as_path()).to_path_buf();
    WalkEvent::Unreadable { path, error: error.to_string() }
}

fn path_in(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_in(err),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_in),
        _ => None,
    }
}
