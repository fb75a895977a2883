//! Rows from a repository's own history: what a fix was about → the files that it changed.

use std::path::Path;

use super::rows::{Leak, leak_of};
use crate::history::Commit;
use crate::paths::is_searched;
use crate::symbols::Language;

/// A fix of more files is an edit of everything.
const MAX_GOLD: usize = 3;
/// A shorter message says nothing.
const MIN_CHARS: usize = 60;

/// A commit that can be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinedRow {
    /// The fix; the tree before it is what is searched.
    pub commit: String,
    /// Its message, without trailers and what names the issue.
    pub text: String,
    /// The source files that it changed.
    pub gold: Vec<String>,
    /// Of the first of them.
    pub language: String,
}

/// The fixes among commits: with a body, of one to three source files, none of them named.
pub fn mine(commits: &[Commit]) -> Vec<MinedRow> {
    commits.iter().filter_map(row).collect()
}

fn row(commit: &Commit) -> Option<MinedRow> {
    let subject = commit.message.lines().next()?.to_lowercase();
    let is_fix = subject.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word,
            "fix" | "fixes" | "fixed" | "bug" | "bugfix" | "crash" | "regression" | "mend" | "mends"
        )
    });
    let gold: Vec<String> = commit.files.iter().filter(|path| is_searched(path)).cloned().collect();
    if !is_fix || !(1..=MAX_GOLD).contains(&gold.len()) {
        return None;
    }
    let text = cleaned(&commit.message);
    let has_body = text.lines().skip(1).any(|line| line.trim().len() > 20);
    if !has_body || text.chars().count() < MIN_CHARS || leak_of(&text, &gold) == Leak::Path {
        return None;
    }
    let language = Language::of(Path::new(&gold[0]))?.name().to_owned();
    Some(MinedRow { commit: commit.id.clone(), text, gold, language })
}

/// Without trailers (`Signed-off-by: …`) and the scope of a conventional subject, which names the place.
fn cleaned(message: &str) -> String {
    let mut lines: Vec<&str> = message
        .lines()
        .filter(|line| {
            let trailer = line.split_once(": ").map(|(key, _)| key);
            !trailer.is_some_and(|key| {
                key.contains('-') && !key.contains(' ') && key.starts_with(char::is_uppercase)
            })
        })
        .collect();
    if let Some(first) = lines.first_mut()
        && let Some((kind, rest)) = first.split_once(": ")
        && kind.len() < 40
        && !kind.contains(' ')
    {
        *first = rest;
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(message: &str, files: &[&str]) -> Commit {
        Commit {
            id: "a".into(),
            message: message.into(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        }
    }

    #[test]
    fn fixes_with_a_body_are_rows_and_the_rest_is_not() {
        let body =
            "\n\nIt waited for an answer that never came when the link was lost.\n\nSigned-off-by: A <a@b.c>";
        let commits = [
            commit(
                &format!("fix(net): retry lost uploads{body}"),
                &["net/upload.rs", "tests/upload.rs", "CHANGES.md"],
            ),
            commit(&format!("Add uploads{body}"), &["net/upload.rs"]),
            commit("Fix uploads", &["net/upload.rs"]),
            commit(&format!("Fix it in upload.rs{body}"), &["net/upload.rs"]),
            commit(&format!("Fix it everywhere{body}"), &["a.rs", "b.rs", "c.rs", "d.rs"]),
            commit(&format!("Fix the manual{body}"), &["docs/a.md"]),
        ];
        let rows = mine(&commits);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].gold, ["net/upload.rs"]);
        assert_eq!(
            rows[0].text,
            "retry lost uploads\n\nIt waited for an answer that never came when the link was lost."
        );
    }
}
