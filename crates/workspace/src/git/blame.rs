//! Which commit each line of a file came with, as `git blame` tells it.

use std::collections::HashMap;
use std::path::Path;

use super::{GitError, Repository, run};
use crate::CanonicalRoot;
use crate::boundary::Inside;
use crate::gate::SpawnGate;

/// Lines that follow each other and came with one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRun {
    /// The first of the lines, from 1.
    pub line: u32,
    /// How many.
    pub n_lines: u32,
    /// The commit; nothing for lines that are not committed.
    pub commit: Option<String>,
    /// Who wrote it.
    pub author: String,
    /// When, in seconds since 1970.
    pub at: i64,
    /// The first line of its message.
    pub summary: String,
}

/// Returns the commits of a file's lines as they are in the work tree, from the first line to the last.
///
/// Refused for an untrusted root: git runs the repository's filters over the file.
pub async fn blame(gate: &SpawnGate, root: &CanonicalRoot, file: &Inside) -> Result<Vec<BlameRun>, GitError> {
    let repository = Repository::around(gate, root).await?;
    // By its name alone: git opens it, in a folder that the user has trusted.
    let path = file.name();
    let path = path.strip_prefix(root.as_path()).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let uncommitted = ["blame", "--incremental", "--no-textconv", "--", &path];
    let committed = ["blame", "--incremental", "--no-textconv", "HEAD", "--", &path];
    let output = match run(gate, root, Some(&repository), &uncommitted).await {
        Ok(output) => output,
        // A file that git cannot read as it is here (a filter that fails) is told as it was committed.
        Err(GitError::Gate(error)) => return Err(GitError::Gate(error)),
        Err(_) => run(gate, root, Some(&repository), &committed).await?,
    };
    Ok(read(&String::from_utf8_lossy(&output)))
}

#[derive(Clone, Default)]
struct Commit {
    author: String,
    at: i64,
    summary: String,
}

/// `COMMIT LINE-THERE LINE-HERE COUNT`, what is known of the commit the first time it is named, and `filename …`.
fn read(output: &str) -> Vec<BlameRun> {
    let mut commits: HashMap<String, Commit> = HashMap::new();
    let mut found: Vec<(u32, u32, String)> = Vec::new();
    let mut now = String::new();
    for line in output.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_commit = word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_commit {
            let mut numbers = rest.split(' ').skip(1).map(str::parse::<u32>);
            if let (Some(Ok(line)), Some(Ok(n_lines))) = (numbers.next(), numbers.next()) {
                now = word.to_owned();
                found.push((line, n_lines, now.clone()));
            }
            continue;
        }
        let commit = commits.entry(now.clone()).or_default();
        match word {
            "author" => commit.author = rest.to_owned(),
            "author-time" => commit.at = rest.parse().unwrap_or_default(),
            "summary" => commit.summary = rest.to_owned(),
            _ => {}
        }
    }
    found.sort();
    let run = |(line, n_lines, name): (u32, u32, String)| {
        let Commit { author, at, summary } = commits.get(&name).cloned().unwrap_or_default();
        let commit = name.bytes().any(|byte| byte != b'0').then_some(name);
        BlameRun { line, n_lines, commit, author, at, summary }
    };
    found.into_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_in_the_order_of_the_lines_each_with_its_commit() {
        let (a, zero) = ("a".repeat(40), "0".repeat(40));
        let output = format!(
            "{zero} 3 3 1\nauthor Not Committed Yet\nauthor-time 9\nsummary Version of x\nfilename x\n\
             {a} 2 4 2\nauthor An Author\nauthor-time 5\nsummary fix  it\nboundary\nfilename x\n\
             {a} 1 1 2\nfilename x\n"
        );
        let runs = read(&output);
        let told: Vec<_> = runs
            .iter()
            .map(|run| (run.line, run.n_lines, run.commit.is_some(), run.author.as_str(), run.at))
            .collect();
        assert_eq!(
            told,
            [
                (1, 2, true, "An Author", 5),
                (3, 1, false, "Not Committed Yet", 9),
                (4, 2, true, "An Author", 5)
            ]
        );
        assert_eq!(runs[2].summary, "fix  it");
        assert_eq!(read("nonsense\n\n1 2 3"), []);
    }
}
