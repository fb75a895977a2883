//! What differs between two trees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chartroom_protocol::changes::{ChangedFile, FileStatus};

use crate::CheckpointError;
use crate::git::{Git, Question, owned};
use crate::place::from_bytes;

/// A file that differs, and its path as it is.
pub(crate) struct Differing {
    pub(crate) place: PathBuf,
    pub(crate) file: ChangedFile,
}

/// What both questions begin with: nothing that a repository names is run.
const COMPARE: &[&str] = &["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"];

/// Compares two trees below a folder.
pub(crate) async fn between(
    git: &Git,
    trees: (&str, &str),
    below: &Path,
) -> Result<Vec<Differing>, CheckpointError> {
    let answer = ask(git, &["-z", "--raw", "--numstat"], trees, below).await?;
    parse(&answer).ok_or_else(|| CheckpointError::Nonsense { command: "diff-tree".to_owned() })
}

/// The same as text.
pub(crate) async fn patch(git: &Git, trees: (&str, &str), below: &Path) -> Result<String, CheckpointError> {
    let answer = ask(git, &["-p", "--binary"], trees, below).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The paths that differ, without a guess which of them was renamed; deleted ones with `false`.
pub(crate) async fn names(git: &Git, trees: (&str, &str)) -> Result<Vec<(bool, PathBuf)>, CheckpointError> {
    let answer = ask(git, &["--no-renames", "-z", "--name-status"], trees, Path::new(".")).await?;
    let mut fields = answer.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut names = Vec::new();
    while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
        names.push((status != b"D", from_bytes(path)));
    }
    Ok(names)
}

async fn ask(
    git: &Git,
    form: &[&str],
    (base, head): (&str, &str),
    below: &Path,
) -> Result<Vec<u8>, CheckpointError> {
    let mut arguments = owned(COMPARE);
    arguments.extend(owned(form));
    arguments.extend(owned(&[base, head, "--"]));
    arguments.push(below.as_os_str().to_owned());
    git.run(Question { arguments, input: Vec::new(), index: None }).await
}

/// `:mode mode id id STATUS NUL path NUL [path NUL]` for each file, then `added TAB removed TAB path NUL` or, of a rename,
/// `added TAB removed TAB NUL from NUL to NUL`.
fn parse(answer: &[u8]) -> Option<Vec<Differing>> {
    let mut fields = answer.split(|byte| *byte == 0).peekable();
    let mut files: BTreeMap<PathBuf, ChangedFile> = BTreeMap::new();
    while let Some(field) = fields.next() {
        if field.is_empty() {
            continue;
        }
        if field.starts_with(b":") {
            let status = field.rsplit(|byte| *byte == b' ').next()?.first()?;
            let first = from_bytes(fields.next()?);
            let (status, from, place) = match status {
                b'A' => (FileStatus::Added, None, first),
                b'D' => (FileStatus::Deleted, None, first),
                b'R' | b'C' => (FileStatus::Renamed, Some(first), from_bytes(fields.next()?)),
                _ => (FileStatus::Modified, None, first),
            };
            let text = |path: PathBuf| path.to_string_lossy().into_owned();
            let (path, from) = (text(place.clone()), from.map(text));
            let file = ChangedFile { path, status, from, added: 0, removed: 0, binary: false };
            files.insert(place, file);
        } else {
            let mut numbers = field.splitn(3, |byte| *byte == b'\t');
            let (added, removed, path) = (numbers.next()?, numbers.next()?, numbers.next()?);
            let place = if path.is_empty() {
                fields.next()?;
                from_bytes(fields.next()?)
            } else {
                from_bytes(path)
            };
            let file = files.get_mut(&place)?;
            let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
            file.binary = added == b"-";
            file.added = number(added).unwrap_or(0);
            file.removed = number(removed).unwrap_or(0);
        }
    }
    Some(files.into_iter().map(|(place, file)| Differing { place, file }).collect())
}
