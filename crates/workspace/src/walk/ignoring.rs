//! Ignore files: which ones count, how much of them is read, and what they say about a path.
//!
//! A repository brings them along, so they are read as anything else of it: regular files inside of the root, up to
//! a limit in bytes, lines and patterns. One that is more than that is left out as a whole, and told. Patterns are
//! compiled to automata, of which a megabyte of text makes some hundred megabytes; hence the limits are small, and
//! there is one for all files of a walk and one for all that count at the same time.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{DEFAULT_IGNORED, WalkEvent, WalkOptions};
use crate::boundary::{self, Inside, ReadError};
use crate::{BoundaryError, CanonicalRoot};

/// Of one file.
const MAX_BYTES: u64 = 128 * 1024;
const MAX_LINES: usize = 5_000;
const MAX_PATTERNS: usize = 2_000;
/// Of one pattern. No path that could match a longer one can be opened.
const MAX_PATTERN_BYTES: usize = 4096;
/// Of all files that count for one folder.
const MAX_LIVE_PATTERNS: usize = 8_000;
/// Of all files of one walk.
const MAX_WALK_BYTES: u64 = 8 * 1024 * 1024;

/// What the ignore files say about a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ignored,
    /// A pattern with `!` asks for it.
    Wanted,
    Unsaid,
}

/// The kinds of ignore files, the strongest first.
const KINDS: [&str; 4] = [".chartroomignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// What the ignore files of one folder say.
#[derive(Default)]
pub(super) struct FolderRules {
    /// By kind.
    matchers: [Option<Gitignore>; KINDS.len()],
    n_patterns: usize,
}

impl FolderRules {
    pub(super) fn n_patterns(&self) -> usize {
        self.n_patterns
    }
}

/// Asks the rules of the folders around a path, the nearest first. Within a kind the nearest file that says
/// something wins, and a stronger kind wins over a weaker one.
pub(super) fn verdict<'a>(
    folders: impl Iterator<Item = &'a FolderRules>,
    global: &Gitignore,
    path: &Path,
    is_dir: bool,
) -> Verdict {
    let mut said = [Verdict::Unsaid; KINDS.len()];
    for rules in folders.filter(|rules| rules.n_patterns > 0) {
        for (said, matcher) in said.iter_mut().zip(&rules.matchers) {
            if let (Verdict::Unsaid, Some(matcher)) = (*said, matcher) {
                *said = ask(matcher, path, is_dir);
            }
        }
    }
    said.into_iter()
        .find(|said| *said != Verdict::Unsaid)
        .unwrap_or_else(|| if global.is_empty() { Verdict::Unsaid } else { ask(global, path, is_dir) })
}

fn ask(matcher: &Gitignore, path: &Path, is_dir: bool) -> Verdict {
    match matcher.matched(path, is_dir) {
        Match::Ignore(_) => Verdict::Ignored,
        Match::Whitelist(_) => Verdict::Wanted,
        Match::None => Verdict::Unsaid,
    }
}

/// Patterns that no file of the workspace brings: ours, the caller's, and the user's own for all repositories.
pub(super) struct OwnRules {
    matcher: Gitignore,
    global: Gitignore,
}

impl OwnRules {
    /// Returns the rules and what could not be understood of the patterns.
    pub(super) fn new(root: &CanonicalRoot, options: &WalkOptions) -> (Self, Vec<String>) {
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
        // A file of the user's own config: no workspace can name it.
        let (global, error) = GitignoreBuilder::new(root.as_path()).build_global();
        bad_patterns.extend(error.map(|error| error.to_string()));
        (OwnRules { matcher, global }, bad_patterns)
    }

    pub(super) fn global(&self) -> &Gitignore {
        &self.global
    }

    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        self.matcher.matched(path, is_dir).is_ignore()
    }
}

/// Reads the ignore files of a walk and counts what they cost.
#[derive(Default)]
pub(super) struct Reader {
    n_bytes: u64,
}

impl Reader {
    /// The rules of the folder at `below`, which has entries of these names. `n_live`: patterns of the folders above.
    pub(super) fn rules_of(
        &mut self,
        root: &CanonicalRoot,
        below: &Path,
        names: &[&OsStr],
        n_live: usize,
        events: &mut Vec<WalkEvent>,
    ) -> FolderRules {
        let mut rules = FolderRules::default();
        for (at, kind) in KINDS.into_iter().enumerate() {
            let entry = kind.split('/').next().unwrap_or(kind);
            if names.binary_search(&OsStr::new(entry)).is_err() {
                continue;
            }
            let relative = below.join(kind);
            match self.read(root, &relative, n_live + rules.n_patterns, events) {
                Ok(None) => {}
                Ok(Some((matcher, n_patterns))) => {
                    rules.matchers[at] = Some(matcher);
                    rules.n_patterns += n_patterns;
                }
                Err(reason) => {
                    let relative = relative.to_string_lossy().into_owned();
                    events.push(WalkEvent::IgnoreFileLeftOut { relative, reason });
                }
            }
        }
        rules
    }

    /// Reads one ignore file. `None` when there is none, or it says nothing.
    fn read(
        &mut self,
        root: &CanonicalRoot,
        relative: &Path,
        n_live: usize,
        events: &mut Vec<WalkEvent>,
    ) -> Result<Option<(Gitignore, usize)>, String> {
        let Some(bytes) = bytes_of(root, relative)? else { return Ok(None) };
        self.n_bytes += bytes.len() as u64;
        if self.n_bytes > MAX_WALK_BYTES {
            return Err(format!("all ignore files together have more than {MAX_WALK_BYTES} bytes"));
        }
        let lines = patterns(&bytes)?;
        if lines.is_empty() {
            return Ok(None);
        }
        if n_live + lines.len() > MAX_LIVE_PATTERNS {
            return Err(format!(
                "with those of the folders above it has more than {MAX_LIVE_PATTERNS} patterns"
            ));
        }
        let folder = match relative.ends_with(".git/info/exclude") {
            true => relative.ancestors().nth(3),
            false => relative.parent(),
        };
        let mut builder = GitignoreBuilder::new(root.as_path().join(folder.unwrap_or(Path::new(""))));
        for (number, line) in lines.iter().enumerate() {
            if let Err(error) = builder.add_line(None, line) {
                let error = format!("{}: pattern {}: {error}", relative.display(), number + 1);
                events.push(WalkEvent::BadPattern { error });
            }
        }
        let matcher = builder.build().map_err(|error| error.to_string())?;
        Ok(Some((matcher, lines.len())))
    }
}

/// The bytes of an ignore file. `None` when there is none.
fn bytes_of(root: &CanonicalRoot, relative: &Path) -> Result<Option<Vec<u8>>, String> {
    let read = |place: &Inside| match place.read(MAX_BYTES) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(error),
    };
    let place = Inside::new(root, PathBuf::from(relative));
    match read(&place) {
        Ok(bytes) => Ok(bytes),
        // A repository without an exclude file of its own, and a worktree, whose `.git` is a file.
        Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        // A link: where it stays inside it is as good as the file.
        Err(ReadError::Swapped) => match boundary::inside(root, relative) {
            Ok(place) => read(&place).map_err(|error| error.to_string()),
            Err(BoundaryError::Outside { .. }) => {
                Err("it is a link that leads out of the workspace".to_owned())
            }
            Err(_) => Err("it is a link that leads nowhere".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    }
}

/// The lines that are patterns.
fn patterns(bytes: &[u8]) -> Result<Vec<String>, String> {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let mut patterns = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if number >= MAX_LINES {
            return Err(format!("it has more than {MAX_LINES} lines"));
        }
        if line.len() > MAX_PATTERN_BYTES {
            return Err(format!("line {} has more than {MAX_PATTERN_BYTES} bytes", number + 1));
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if patterns.len() >= MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        patterns.push(line.to_owned());
    }
    Ok(patterns)
}
