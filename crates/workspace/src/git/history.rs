//! The last commits, as `git log` tells them.

use super::{GitError, Repository, run};
use crate::CanonicalRoot;
use crate::gate::SpawnGate;

/// What was read of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Log {
    /// There is nothing newer than what is known.
    Unchanged,
    /// The commits after the known one.
    Newer {
        /// The commit that the work tree is at.
        head: String,
        /// git's answer.
        log: Vec<u8>,
    },
    /// The last commits: nothing was known, or it is not among the ancestors any more.
    Whole {
        /// The commit that the work tree is at.
        head: String,
        /// git's answer.
        log: Vec<u8>,
    },
}

/// Returns at most `most` commits that the work tree is built on, without merges, in the given format, with the files
/// below the root that each changed. `known` is the commit that the caller has read up to.
///
/// Refused for an untrusted root, like everything that starts git. A shallow clone ends where it was cut.
pub async fn history(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    known: Option<&str>,
    format: &str,
    most: usize,
) -> Result<Log, GitError> {
    let repository = Repository::around(gate, root).await?;
    let ask = |arguments: Vec<String>| {
        let repository = &repository;
        async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            run(gate, root, Some(repository), &arguments).await
        }
    };
    let words = |text: &str| text.split(' ').map(ToOwned::to_owned).collect::<Vec<String>>();
    let head = ask(words("rev-parse --verify --quiet --end-of-options HEAD^{commit}")).await?;
    let head = String::from_utf8_lossy(&head).trim().to_owned();
    if known == Some(head.as_str()) {
        return Ok(Log::Unchanged);
    }
    let known = known.filter(|known| is_commit(known));
    let is_ancestor = match known {
        Some(known) => ask(words(&format!("merge-base --is-ancestor {known} {head}"))).await.is_ok(),
        None => false,
    };
    let mut arguments = log_arguments(format, most, &head);
    if let Some(known) = known.filter(|_| is_ancestor) {
        arguments.push(format!("^{known}"));
    }
    arguments.push("--".to_owned());
    let log = ask(arguments).await?;
    Ok(if is_ancestor { Log::Newer { head, log } } else { Log::Whole { head, log } })
}

/// Returns the log of the ancestors of a commit, as [`history`] reads it.
///
/// Refused for an untrusted root.
pub async fn log_at(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    commit: &str,
    format: &str,
    most: usize,
) -> Result<Vec<u8>, GitError> {
    let repository = Repository::around(gate, root).await?;
    let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{commit}^{{commit}}")];
    let commit = run(gate, root, Some(&repository), &verify).await?;
    let mut arguments = log_arguments(format, most, String::from_utf8_lossy(&commit).trim());
    arguments.push("--".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(gate, root, Some(&repository), &arguments).await
}

/// Signatures, notes and drivers of diffs could start programs; orders of files could be read from anywhere.
fn log_arguments(format: &str, most: usize, commit: &str) -> Vec<String> {
    let switches = [
        "log",
        "-z",
        "--name-only",
        "--no-renames",
        "--no-merges",
        "--no-show-signature",
        "--no-notes",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-decorate",
        "--ignore-submodules=all",
        "--relative",
        "-O/dev/null",
    ];
    let mut arguments: Vec<String> = switches.iter().map(|switch| (*switch).to_owned()).collect();
    arguments.extend([format!("--max-count={most}"), format.to_owned(), commit.to_owned()]);
    arguments
}

/// What is handed to git as a commit is never an option or a range.
fn is_commit(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
