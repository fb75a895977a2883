//! What a repository's commits say of its files.
//!
//! A commit's message is the best text there is about why a file was changed, and an issue is worded much like it. The
//! history is handed in as plain data: nothing here runs git, and everything works without it.

mod log;
mod words;

pub use log::{FORMAT, read_log};
pub use words::{HistoryWords, Said};

use serde::{Deserialize, Serialize};

/// So many commits are read: older ones speak of code that is gone.
pub const MAX_COMMITS: usize = 3000;
/// A commit that changes more files says little of each.
pub const MAX_FILES: usize = 20;
/// Of a longer message the beginning is kept.
const MAX_MESSAGE: usize = 4000;

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its name.
    pub id: String,
    /// Subject and body.
    pub message: String,
    /// The files that it changed, below the root, with `/`.
    pub files: Vec<String>,
}

/// The last commits of a branch, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The commit that it was read from.
    pub head: String,
    /// At most [`MAX_COMMITS`], each with at most [`MAX_FILES`] files.
    pub commits: Vec<Commit>,
}

impl History {
    /// What `git log` said of `head`; commits of many files and of none are left out.
    pub fn read(head: &str, log: &[u8]) -> Self {
        let mut history = Self { head: head.to_owned(), commits: read_log(log) };
        history.commits.truncate(MAX_COMMITS);
        history
    }

    /// The same history with newer commits before it.
    pub fn advanced(mut self, newer: Self) -> Self {
        let mut commits = newer.commits;
        commits.append(&mut self.commits);
        commits.truncate(MAX_COMMITS);
        Self { head: newer.head, commits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(id: &str) -> Commit {
        Commit { id: id.to_owned(), message: String::new(), files: Vec::new() }
    }

    #[test]
    fn newer_commits_come_first_and_the_oldest_fall_out() {
        let old = History {
            head: "b".into(),
            commits: (0..MAX_COMMITS).map(|at| commit(&format!("o{at}"))).collect(),
        };
        let new = History { head: "d".into(), commits: vec![commit("d"), commit("c")] };
        let both = old.advanced(new);
        assert_eq!((both.head.as_str(), both.commits.len()), ("d", MAX_COMMITS));
        assert_eq!([&both.commits[0].id, &both.commits[2].id], ["d", "o0"]);
        assert_eq!(both.commits.last().unwrap().id, format!("o{}", MAX_COMMITS - 3));
    }
}
