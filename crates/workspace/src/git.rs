//! The little we ask git, in a way that runs none of the repository's own commands.
//!
//! `git status` runs `core.fsmonitor`, clean filters and more, and there is no switch for all of them. For an
//! untrusted workspace git is therefore not started at all. For a trusted one the known commands are switched
//! off all the same: nobody who asks which files have changed expects programs to run.

mod blame;
mod history;
mod objects;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::gate::{ChildKind, GateError, ProgramQuery, SpawnGate, SpawnRequest};
use crate::{CanonicalRoot, boundary};

pub use blame::{BlameRun, blame};
pub use history::{Log, history, log_at};
pub use objects::{contents, tree_at};

/// A repository this slow is given up, so that a caller never hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of git's answer is read at most.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// Switches off what a repository's config could have run.
const HARMLESS: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.sshCommand=false",
    "-c",
    "core.pager=cat",
    "-c",
    "diff.external=",
    "-c",
    "protocol.allow=never",
    "-c",
    "submodule.recurse=false",
];

/// Why git could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The folder is in no work tree.
    #[error("{root} is not a git repository")]
    NotARepository {
        /// The folder.
        root: CanonicalRoot,
    },
    /// git could not be started.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// git ended with an error.
    #[error("git {command} failed in {root}: {message}")]
    Failed {
        /// The folder.
        root: CanonicalRoot,
        /// The command line.
        command: String,
        /// What git said.
        message: String,
    },
    /// git did not answer in time and was ended.
    #[error("git {command} in {root} did not answer within {} s", PATIENCE.as_secs())]
    Timeout {
        /// The folder.
        root: CanonicalRoot,
        /// The command line.
        command: String,
    },
}

/// How a file differs from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// New in the index.
    Added,
    /// With other content than the last commit.
    Modified,
    /// Gone since the last commit.
    Deleted,
    /// Under another name in the last commit.
    Renamed,
    /// Not known to git.
    Untracked,
    /// In the middle of a merge.
    Conflicted,
}

/// A file that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Absolute.
    pub path: PathBuf,
    /// What happened to it.
    pub change: Change,
}

/// Returns the files inside the root that differ from the last commit, untracked ones included, by path.
///
/// Refused for an untrusted root.
pub async fn changed_files(gate: &SpawnGate, root: &CanonicalRoot) -> Result<Vec<ChangedFile>, GitError> {
    let arguments =
        ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--", "."];
    let repository = Repository::around(gate, root).await?;
    let output = run(gate, root, Some(&repository), &arguments).await?;
    let mut changed: Vec<ChangedFile> = parse_status(&output, repository.top.as_path())
        .into_iter()
        .filter(|file| boundary::is_inside(root, &file.path))
        .collect();
    changed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changed)
}

/// Whether there is a repository at the root itself, by its look alone: no process is started.
pub fn is_repository(root: &CanonicalRoot) -> bool {
    root.as_path().join(".git").exists()
}

/// The repository that a folder is in, whose config git would obey. Finding it runs nothing of it.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Where the working tree begins.
    pub top: CanonicalRoot,
    /// Its own files: HEAD and the index.
    pub git_dir: PathBuf,
    /// What all its worktrees share: objects, references, config.
    pub common: PathBuf,
}

impl Repository {
    /// Finds it, and refuses one that the user has not trusted: its filters would run. It may begin above the folder,
    /// and a worktree's is elsewhere.
    pub async fn around(gate: &SpawnGate, root: &CanonicalRoot) -> Result<Self, GitError> {
        let question = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
        ];
        let answer = run(gate, root, None, &question).await?;
        let mut lines =
            answer.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsString::from_vec(line.to_vec())));
        let (Some(top), Some(git_dir), Some(common)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(GitError::NotARepository { root: root.clone() });
        };
        let not_there = |_| GitError::NotARepository { root: root.clone() };
        let top = CanonicalRoot::open(top).map_err(not_there)?;
        let common = CanonicalRoot::open(common).map_err(not_there)?;
        let git_dir = CanonicalRoot::open(git_dir).map_err(not_there)?;
        let untrusted = |root: CanonicalRoot| {
            let what = "git would run the filters of the repository there".to_owned();
            Err(GitError::Gate(GateError::Untrusted { root, what }))
        };
        if top != *root && !gate.is_trusted(&top) {
            return untrusted(top);
        }
        for folder in [&common, &git_dir] {
            let above = folder.as_path().ancestors().filter_map(|above| CanonicalRoot::open(above).ok());
            if !folder.as_path().starts_with(top.as_path())
                && !above.into_iter().any(|it| gate.is_trusted(&it))
            {
                let main = folder.as_path().parent().filter(|_| folder.as_path().ends_with(".git"));
                let main = main.and_then(|main| CanonicalRoot::open(main).ok());
                return untrusted(main.unwrap_or_else(|| folder.clone()));
            }
        }
        let (git_dir, common) = (git_dir.as_path().to_owned(), common.as_path().to_owned());
        // What a worktree says of its repository may have been changed since it was looked at: the record decides.
        let recorded = gate.trust().git_of_worktree(&top);
        if recorded.is_some_and(|recorded| recorded.own != git_dir || recorded.common != common) {
            return untrusted(top);
        }
        Ok(Repository { top, git_dir, common })
    }

    /// Of a linked worktree, the variable that keeps git to the repository that was looked at: a confined agent can write
    /// the file that git would follow otherwise.
    pub fn common_variable(&self) -> Option<(OsString, OsString)> {
        (self.common != self.git_dir).then(|| ("GIT_COMMON_DIR".into(), self.common.clone().into()))
    }
}

async fn run(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    repository: Option<&Repository>,
    arguments: &[&str],
) -> Result<Vec<u8>, GitError> {
    run_with_input(gate, root, repository, arguments, Vec::new()).await
}

async fn run_with_input(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    repository: Option<&Repository>,
    arguments: &[&str],
    input: Vec<u8>,
) -> Result<Vec<u8>, GitError> {
    let command = arguments.first().copied().unwrap_or_default().to_owned();
    let program = gate.resolve_program(root, &ProgramQuery::on_path("git"))?;
    let mut request = SpawnRequest::new(root, ChildKind::Git, program.path);
    request.args = HARMLESS.iter().map(Into::into).collect();
    // The user has trusted this folder, whoever owns it.
    let mut safe_directory = OsString::from("safe.directory=");
    safe_directory.push(root.as_path());
    request.args.extend(["-c".into(), safe_directory]);
    request.args.extend(arguments.iter().map(Into::into));
    // Variables of git (`GIT_DIR`, `GIT_CONFIG_*`) are not among those that this kind of child inherits.
    request.env.insert("GIT_TERMINAL_PROMPT".into(), "0".into());
    request.env.insert("LC_ALL".into(), "C".into());
    // What is not here is not fetched, and nothing stands for something else.
    request.env.insert("GIT_NO_LAZY_FETCH".into(), "1".into());
    request.env.insert("GIT_NO_REPLACE_OBJECTS".into(), "1".into());
    if let Some(repository) = repository {
        // The one that was looked at, not the one that is found now.
        request.env.insert("GIT_DIR".into(), repository.git_dir.clone().into());
        request.env.insert("GIT_WORK_TREE".into(), repository.top.as_path().into());
        request.env.extend(repository.common_variable());
    }
    let mut child = gate.spawn(request)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let answer = async {
        let mut output = Vec::new();
        // Both at once: git answers while it is asked, and neither pipe holds everything.
        let ask = async {
            if let Some(mut stdin) = stdin {
                stdin.write_all(&input).await.ok();
            }
        };
        let listen = async {
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT).read_to_end(&mut output).await.ok();
            }
        };
        tokio::join!(ask, listen);
        (output, child.wait().await)
    };
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok((output, exit)) if exit.is_success() => Ok(output),
        Ok((_, exit)) => {
            let message = child.stderr_tail();
            if message.contains("not a git repository") {
                return Err(GitError::NotARepository { root: root.clone() });
            }
            let message = if message.is_empty() { exit.to_string() } else { message };
            Err(GitError::Failed { root: root.clone(), command, message })
        }
        Err(_elapsed) => Err(GitError::Timeout { root: root.clone(), command }),
    }
}

/// Reads `git status --porcelain=v1 -z`: `XY path NUL`, and after a rename the old path and another NUL.
fn parse_status(output: &[u8], top: &Path) -> Vec<ChangedFile> {
    let mut changed = Vec::new();
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let [x, y, b' ', path @ ..] = field else { continue };
        let change = match (x, y) {
            (b'?', b'?') => Change::Untracked,
            (b'U', _) | (_, b'U') | (b'A', b'A') | (b'D', b'D') => Change::Conflicted,
            (b'R' | b'C', _) | (_, b'R' | b'C') => {
                fields.next();
                Change::Renamed
            }
            (_, b'D') | (b'D', b' ') => Change::Deleted,
            (b'A', _) => Change::Added,
            _ => Change::Modified,
        };
        let path = top.join(PathBuf::from(OsString::from_vec(path.to_vec())));
        changed.push(ChangedFile { path, change });
    }
    changed
}
