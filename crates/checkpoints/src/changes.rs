//! What differs between two trees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chartroom_protocol::changes::{ChangedFile, FileStatus, FileVersion};

use crate::CheckpointError;
use crate::git::{Git, Question, owned};
use crate::place::from_bytes;

/// A file that differs, and its path as it is.
pub(crate) struct Differing {
    pub(crate) place: PathBuf,
    pub(crate) file: ChangedFile,
}

/// How much is told of what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The files and how many lines.
    Counts,
    /// The differences themselves too.
    Patch,
    /// Which content each file had and has, to be asked for one by one.
    Versions,
    /// The same at once: the lines of more than a few files are not counted.
    Quick,
}

impl Differing {
    /// The file, with as much of it as is wanted.
    pub(crate) fn told(self, detail: Detail) -> ChangedFile {
        match detail {
            Detail::Versions | Detail::Quick => self.file,
            Detail::Counts | Detail::Patch => ChangedFile { before: None, after: None, ..self.file },
        }
    }
}

/// What both questions begin with: nothing that a repository names is run.
const COMPARE: &[&str] = &["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"];

/// So many files are counted while somebody waits: git reads both contents of each.
const FEW: usize = 500;

/// Compares two trees below a folder. Says whether lines are counted.
pub(crate) async fn between(
    git: &Git,
    trees: (&str, &str),
    below: &Path,
    detail: Detail,
) -> Result<(Vec<Differing>, bool), CheckpointError> {
    let nonsense = || CheckpointError::Nonsense { command: "diff-tree".to_owned() };
    if detail == Detail::Quick {
        let answer = ask(git, &["-z", "--raw"], trees, &[below.to_path_buf()]).await?;
        let differing = parse(&answer).ok_or_else(nonsense)?;
        if differing.len() > FEW {
            return Ok((differing, false));
        }
    }
    let answer = ask(git, &["-z", "--raw", "--numstat"], trees, &[below.to_path_buf()]).await?;
    Ok((parse(&answer).ok_or_else(nonsense)?, true))
}

/// The same as text.
pub(crate) async fn patch(git: &Git, trees: (&str, &str), below: &Path) -> Result<String, CheckpointError> {
    let answer = patch_of(git, trees, &[below.to_path_buf()]).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The same of some files and folders, byte for byte.
pub(crate) async fn patch_of(
    git: &Git,
    trees: (&str, &str),
    paths: &[PathBuf],
) -> Result<Vec<u8>, CheckpointError> {
    ask(git, &["-p", "--binary"], trees, paths).await
}

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Became {
    New,
    Another,
    Gone,
}

/// The paths that differ, without a guess which of them was renamed.
pub(crate) async fn names(git: &Git, trees: (&str, &str)) -> Result<Vec<(Became, PathBuf)>, CheckpointError> {
    let answer = ask(git, &["--no-renames", "-z", "--name-status"], trees, &[PathBuf::from(".")]).await?;
    let mut fields = answer.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut names = Vec::new();
    while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
        let became = match status {
            b"A" => Became::New,
            b"D" => Became::Gone,
            _ => Became::Another,
        };
        names.push((became, from_bytes(path)));
    }
    Ok(names)
}

async fn ask(
    git: &Git,
    form: &[&str],
    (base, head): (&str, &str),
    paths: &[PathBuf],
) -> Result<Vec<u8>, CheckpointError> {
    let mut arguments = owned(COMPARE);
    arguments.extend(owned(form));
    arguments.extend(owned(&[base, head, "--"]));
    arguments.extend(paths.iter().map(|path| path.clone().into_os_string()));
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
            let text = str::from_utf8(field.get(1..)?).ok()?;
            let words: Vec<&str> = text.split(' ').collect();
            let [old_mode, mode, old_id, id, status] = words[..] else { return None };
            let (before, after) = (version(old_id, old_mode), version(id, mode));
            let status = status.as_bytes().first()?;
            let first = from_bytes(fields.next()?);
            let (status, from, place) = match status {
                b'A' => (FileStatus::Added, None, first),
                b'D' => (FileStatus::Deleted, None, first),
                b'R' | b'C' => (FileStatus::Renamed, Some(first), from_bytes(fields.next()?)),
                _ => (FileStatus::Modified, None, first),
            };
            let text = |path: PathBuf| path.to_string_lossy().into_owned();
            let (path, from) = (text(place.clone()), from.map(text));
            let file = ChangedFile { path, status, from, added: 0, removed: 0, binary: false, before, after };
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

/// Of a file that is not there the id is all zeros.
fn version(id: &str, mode: &str) -> Option<FileVersion> {
    let is_there = id.bytes().any(|byte| byte != b'0');
    is_there.then(|| FileVersion { id: id.to_owned(), mode: mode.to_owned() })
}
