//! How a repository stands.

use std::ffi::OsString;

use chartroom_protocol::changes::FilePatch;
use chartroom_protocol::keep::{RepositoryStatus, StatusFile};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::wanted;
use crate::RepositoryError;
use crate::git::{Git, path};

/// What is told of a file's staged hunks at most.
const MAX_PATCH: usize = 4 << 20;

/// What git leaves while something is not finished, and how that is called.
const IN_PROGRESS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// Tells how the repository around a trusted folder stands.
pub async fn status(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<RepositoryStatus, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let answer = git
        .ask(&[
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=all",
        ])
        .await?;
    let mut status = read(&answer);
    status.in_progress = in_progress(&git).map(str::to_owned);
    let branches = git.line(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]).await?;
    status.branches = branches.lines().map(str::to_owned).collect();
    Ok(status)
}

/// What is not finished, by its name.
pub(super) fn in_progress(git: &Git) -> Option<&'static str> {
    let is_there = |(file, _): &&(&str, &str)| git.repository.git_dir.join(file).exists();
    IN_PROGRESS.iter().find(is_there).map(|(_, name)| *name)
}

/// Returns how what is staged of a file differs from the last commit, as hunks.
pub async fn staged(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    path: &str,
) -> Result<FilePatch, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let path = wanted(&git, folder, &[path.to_owned()])?.remove(0);
    let mut question = ["diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-renames", "--"]
        .map(OsString::from)
        .to_vec();
    question.push(path.into());
    let answer = git.ask(&question).await?;
    let text = String::from_utf8_lossy(&answer);
    let hunks = text.find("\n@@ ").and_then(|at| text.get(at + 1..)).unwrap_or_default();
    let end = hunks.floor_char_boundary(MAX_PATCH);
    Ok(FilePatch { patch: hunks[..end].to_owned(), truncated: end < hunks.len() })
}

/// Reads what `git status --porcelain=v2 --branch -z` says; what is not understood is left out.
fn read(answer: &[u8]) -> RepositoryStatus {
    let mut status = RepositoryStatus {
        branch: None,
        head: None,
        upstream: None,
        ahead: 0,
        behind: 0,
        in_progress: None,
        files: Vec::new(),
        branches: Vec::new(),
    };
    let mut fields = answer.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        if let Some(header) = field.strip_prefix(b"# branch.") {
            read_header(&String::from_utf8_lossy(header), &mut status);
            continue;
        }
        // So many words stand before the path.
        let n_words = match field.first() {
            Some(b'1') => 8,
            Some(b'2') => {
                // What it was called.
                fields.next();
                9
            }
            Some(b'u') => 10,
            Some(b'?') => 1,
            _ => continue,
        };
        let words: Vec<&[u8]> = field.splitn(n_words + 1, |byte| *byte == b' ').collect();
        let (Some(kind), Some(name)) = (words.first(), words.get(n_words)) else { continue };
        let (kind, letters) = (*kind, words.get(1).copied().unwrap_or_default());
        let letter = |at: usize| letters.get(at).is_some_and(|letter| *letter != b'.');
        status.files.push(StatusFile {
            path: path(name).to_string_lossy().into_owned(),
            staged: kind != b"?" && kind != b"u" && letter(0),
            unstaged: kind == b"?" || kind == b"u" || letter(1),
            untracked: kind == b"?",
            conflicted: kind == b"u",
        });
    }
    status.files.sort_by(|a, b| a.path.cmp(&b.path));
    status
}

fn read_header(header: &str, status: &mut RepositoryStatus) {
    match header.split_once(' ') {
        Some(("oid", id)) if id != "(initial)" => status.head = Some(id.to_owned()),
        Some(("head", name)) if name != "(detached)" => status.branch = Some(name.to_owned()),
        Some(("upstream", name)) => status.upstream = Some(name.to_owned()),
        Some(("ab", counts)) => {
            let mut counts = counts.split(' ').filter_map(|count| count.get(1..)?.parse().ok());
            status.ahead = counts.next().unwrap_or(0);
            status.behind = counts.next().unwrap_or(0);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let answer =
            b"# branch.oid c0ffee\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
            1 M. N... 100644 100644 100644 a b staged one\0\
            1 .D N... 100644 100644 000000 a b gone\0\
            2 RM N... 100644 100644 100644 a b R100 new name\0old name\0\
            u UU N... 100644 100644 100644 100644 a b c both\0\
            ? not known\0";
        let status = read(answer);
        assert_eq!((status.branch.as_deref(), status.head.as_deref()), (Some("main"), Some("c0ffee")));
        assert_eq!((status.upstream.as_deref(), status.ahead, status.behind), (Some("origin/main"), 2, 1));
        let told: Vec<String> = status
            .files
            .iter()
            .map(|file| {
                let marks =
                    [(file.staged, 's'), (file.unstaged, 'u'), (file.untracked, '?'), (file.conflicted, '!')];
                let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
                format!("{} {marks}", file.path)
            })
            .collect();
        assert_eq!(told, ["both u!", "gone u", "new name su", "not known u?", "staged one s"]);
        let detached = read(b"# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!((detached.branch, detached.head), (None, None));
    }
}
