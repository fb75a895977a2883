//! Runs git on a repository of the user's, and commands of their config in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_checkpoints::{OLDEST_GIT, version_of};
use chartroom_workspace::git::{GitError, Repository};
use chartroom_workspace::{CanonicalRoot, ChildKind, ProgramQuery, SpawnGate, SpawnRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{RepositoryError, io};

/// How much of an answer is read at most.
const MAX_OUTPUT: u64 = 256 << 20;
/// A hook, a set-up command or a push that takes longer is ended.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// So much of what a command of the config says is kept: the end of it.
const KEPT_OUTPUT: usize = 256 << 10;
/// How often it is told what such a command has said.
const HEARD_EVERY: Duration = Duration::from_millis(300);

/// Holds for every question: answers are as they are, nothing goes on behind our back, nobody is asked anything.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.pager=cat",
    "color.ui=false",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "merge.autoStash=false",
    "advice.detachedHead=false",
];
/// What a question that changes nothing may not run either.
const READING: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "protocol.allow=never",
    "diff.autoRefreshIndex=false",
];

/// What a command said and how it ended.
#[derive(Debug, Clone)]
pub struct Said {
    /// Whether it ended well.
    pub ok: bool,
    /// Its answer.
    pub stdout: Vec<u8>,
    /// What it said beside it, and how it ended if that was not well.
    pub stderr: String,
}

impl Said {
    /// Both, for people.
    pub fn text(&self) -> String {
        let stdout = String::from_utf8_lossy(&self.stdout);
        let parts = [stdout.trim_end(), self.stderr.trim_end()];
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
    }
}

/// How many bytes of paths one command line gets: far from what any system takes at most.
const PATHS_AT_ONCE: usize = 96 << 10;

/// Whether the repository's own programs have a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// It is only asked; filters alone run, without which the answer would be wrong.
    Nothing,
    /// It is changed as the user would do it: hooks run.
    Hooks,
}

/// One question.
pub(crate) struct Question {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) input: Vec<u8>,
    pub(crate) runs: Runs,
    pub(crate) env: BTreeMap<OsString, OsString>,
}

impl Question {
    pub(crate) fn new<S: AsRef<OsStr>>(runs: Runs, arguments: &[S]) -> Self {
        let arguments = arguments.iter().map(|argument| argument.as_ref().to_owned()).collect();
        Self { arguments, input: Vec::new(), runs, env: BTreeMap::new() }
    }
}

/// git, and the repository around a folder.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) gate: SpawnGate,
    program: PathBuf,
    pub(crate) repository: Repository,
}

impl Git {
    /// Finds the repository around a folder; refuses one that is not trusted.
    pub(crate) async fn around(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<Self, RepositoryError> {
        let program = gate.resolve_program(folder, &ProgramQuery::on_path("git"))?.path;
        match Repository::around(gate, folder).await {
            Ok(repository) => Ok(Self { gate: gate.clone(), program, repository }),
            // An old git does not know the question, and its answer is no repository's.
            Err(error @ (GitError::NotARepository { .. } | GitError::Failed { .. })) => {
                check_version(gate, folder, &program).await?;
                Err(error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn top(&self) -> &CanonicalRoot {
        &self.repository.top
    }

    /// Asks something that changes nothing.
    pub(crate) async fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, RepositoryError> {
        self.must(Question::new(Runs::Nothing, arguments)).await
    }

    /// Asks for one line.
    pub(crate) async fn line<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, RepositoryError> {
        let answer = self.ask(arguments).await?;
        Ok(String::from_utf8_lossy(&answer).trim_end_matches('\n').to_owned())
    }

    /// Asks for one line that may not be there.
    pub(crate) async fn line_if_any<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
    ) -> Result<Option<String>, RepositoryError> {
        let said = self.run(Question::new(Runs::Nothing, arguments)).await?;
        let line = String::from_utf8_lossy(&said.stdout).trim_end_matches('\n').to_owned();
        Ok((said.ok && !line.is_empty()).then_some(line))
    }

    /// Changes something, as the user would.
    pub(crate) async fn act<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Said, RepositoryError> {
        self.run(Question::new(Runs::Hooks, arguments)).await
    }

    /// Acts on these files, on some of them at a time if they are very many.
    ///
    /// They are arguments and not input: who is killed while it writes an input leaves git with fewer paths than were meant,
    /// and of none at all `reset` and `add` make everything.
    pub(crate) async fn act_on(&self, command: &[&str], paths: &[PathBuf]) -> Result<Said, RepositoryError> {
        let mut said = Said { ok: true, stdout: Vec::new(), stderr: String::new() };
        let mut waiting = paths;
        while !waiting.is_empty() && said.ok {
            let mut bytes = 0;
            let fits = waiting.iter().take_while(|path| {
                bytes += path.as_os_str().len() + 1;
                bytes <= PATHS_AT_ONCE
            });
            let (now, rest) = waiting.split_at(fits.count().max(1));
            waiting = rest;
            let mut question = Question::new(Runs::Hooks, command);
            question.arguments.push("--".into());
            question.arguments.extend(now.iter().map(|path| path.clone().into_os_string()));
            said = self.run(question).await?;
        }
        Ok(said)
    }

    /// Runs it to a good end.
    pub(crate) async fn must(&self, question: Question) -> Result<Vec<u8>, RepositoryError> {
        let command = question.arguments.first().map(|word| word.to_string_lossy().into_owned());
        let said = self.run(question).await?;
        match said.ok {
            true => Ok(said.stdout),
            false => {
                Err(RepositoryError::Failed { command: command.unwrap_or_default(), message: said.text() })
            }
        }
    }

    pub(crate) async fn run(&self, question: Question) -> Result<Said, RepositoryError> {
        let kind = match question.runs {
            Runs::Nothing => ChildKind::Git,
            Runs::Hooks => ChildKind::Command,
        };
        let mut request = SpawnRequest::new(self.top(), kind, &self.program);
        request.args.extend(["--no-pager".into(), "--literal-pathspecs".into()]);
        let reading = if question.runs == Runs::Nothing { READING } else { &[] };
        for setting in SETTINGS.iter().chain(reading) {
            request.args.extend(["-c".into(), setting.into()]);
        }
        // The user has trusted this folder, whoever owns it.
        let mut safe_directory = OsString::from("safe.directory=");
        safe_directory.push(self.top().as_path());
        request.args.extend(["-c".into(), safe_directory]);
        request.args.extend(question.arguments);
        let variables: [(&str, OsString); 7] = [
            ("LC_ALL", "C.UTF-8".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
            ("GIT_EDITOR", "true".into()),
            ("GIT_OPTIONAL_LOCKS", if question.runs == Runs::Nothing { "0" } else { "1" }.into()),
            ("SSH_ASKPASS_REQUIRE", "never".into()),
            // The one that was looked at, not the one that is found now.
            ("GIT_DIR", self.repository.git_dir.clone().into()),
            ("GIT_WORK_TREE", self.top().as_path().into()),
        ];
        request.env.extend(variables.map(|(name, value)| (name.into(), value)));
        request.env.extend(self.repository.common_variable());
        request.env.extend(question.env);
        finish(&self.gate, request, question.input).await
    }

    /// The commit that a name stands for.
    pub(crate) async fn commit(&self, name: &str) -> Result<Option<String>, RepositoryError> {
        let peeled = format!("{name}^{{commit}}");
        self.line_if_any(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]).await
    }

    /// The files that differ from the last commit, untracked ones included.
    pub(crate) async fn uncommitted(&self) -> Result<Vec<PathBuf>, RepositoryError> {
        let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        let answer = self.ask(&status).await?;
        let paths = answer.split(|byte| *byte == 0).filter_map(|field| field.get(3..));
        Ok(paths.filter(|path| !path.is_empty()).map(path).collect())
    }

    /// The working tree as git would commit all of it, as a tree. The user's own index is not touched.
    pub(crate) async fn work_tree(&self) -> Result<String, RepositoryError> {
        let folder = tempfile::tempdir().map_err(io("making a temporary folder"))?;
        let index = folder.path().join("index");
        // With what the user's index knows of the files, most need not be read.
        match std::fs::copy(self.repository.git_dir.join("index"), &index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("copying the index")(error));
            }
            _ => {}
        }
        for arguments in [&["add", "--all", "--", "."][..], &["write-tree"]] {
            let mut question = Question::new(Runs::Nothing, arguments);
            question.env.insert("GIT_INDEX_FILE".into(), index.clone().into());
            let answer = self.must(question).await?;
            if arguments == ["write-tree"] {
                return Ok(String::from_utf8_lossy(&answer).trim().to_owned());
            }
        }
        Err(RepositoryError::Refused("the working tree cannot be told".to_owned()))
    }
}

/// Refuses a git that has not all that is used.
async fn check_version(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    program: &Path,
) -> Result<(), RepositoryError> {
    let mut request = SpawnRequest::new(folder, ChildKind::Git, program);
    request.args.push("version".into());
    let version = finish(gate, request, Vec::new()).await?.text();
    match version_of(&version) {
        Some(found) if found >= OLDEST_GIT => Ok(()),
        Some(_) | None => {
            let (major, minor) = OLDEST_GIT;
            Err(RepositoryError::Refused(format!(
                "{version} is too old; install git {major}.{minor} or later"
            )))
        }
    }
}

/// Runs a command in a trusted folder.
pub(crate) async fn command(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    words: &[String],
) -> Result<Said, RepositoryError> {
    finish(gate, request(gate, root, ChildKind::Command, words)?, Vec::new()).await
}

fn request(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    kind: ChildKind,
    words: &[String],
) -> Result<SpawnRequest, RepositoryError> {
    let [name, arguments @ ..] = words else {
        return Err(RepositoryError::Refused("the command is empty".to_owned()));
    };
    let program = gate.resolve_program(root, &ProgramQuery::on_path(name))?.path;
    let mut request = SpawnRequest::new(root, kind, program);
    request.args.extend(arguments.iter().map(Into::into));
    Ok(request)
}

/// Runs a command of the user's config in a trusted folder. `hear` is told what it has said, now and then.
pub(crate) async fn heard(
    gate: &SpawnGate,
    root: &CanonicalRoot,
    kind: ChildKind,
    words: &[String],
    hear: &mut (dyn FnMut(&Said) + Send),
) -> Result<Said, RepositoryError> {
    let mut child = gate.spawn(request(gate, root, kind, words)?)?;
    drop(child.stdin.take());
    let mut stdout = child.stdout.take();
    let mut said = Said { ok: false, stdout: Vec::new(), stderr: String::new() };
    let mut clock = tokio::time::interval(HEARD_EVERY);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut piece = vec![0; 64 << 10];
    while let Some(open) = &mut stdout {
        tokio::select! {
            read = open.read(&mut piece) => match read {
                Ok(n) if n > 0 => {
                    said.stdout.extend_from_slice(&piece[..n]);
                    let too_much = said.stdout.len().saturating_sub(KEPT_OUTPUT);
                    // In large steps, so that a flood is not moved byte by byte.
                    if too_much > KEPT_OUTPUT {
                        said.stdout.drain(..too_much);
                    }
                }
                _ => stdout = None,
            },
            _ = clock.tick() => {
                said.stderr = child.stderr_tail();
                hear(&said);
            }
            () = tokio::time::sleep_until(deadline) => {
                said.stderr = format!("{}\n{}", child.stderr_tail(), too_long());
                return Ok(said);
            }
        }
    }
    let exit = tokio::time::timeout_at(deadline, child.wait()).await;
    said.stderr = child.stderr_tail();
    match exit {
        Ok(exit) => {
            said.ok = exit.is_success();
            if !said.ok {
                said.stderr = format!("{}\n{exit}", said.stderr.trim_end()).trim_start().to_owned();
            }
        }
        Err(_elapsed) => said.stderr = format!("{}\n{}", said.stderr, too_long()),
    }
    Ok(said)
}

fn too_long() -> String {
    format!("ended: it took longer than {} minutes", PATIENCE.as_secs() / 60)
}

async fn finish(gate: &SpawnGate, request: SpawnRequest, input: Vec<u8>) -> Result<Said, RepositoryError> {
    let mut child = gate.spawn(request)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // It ends early when it finds something wrong, and says so.
            stdin.write_all(&input).await.ok();
        }
    };
    let read = async {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(MAX_OUTPUT).read_to_end(&mut output).await.ok();
        }
        output
    };
    let whole = async {
        let ((), stdout) = tokio::join!(write, read);
        (stdout, child.wait().await)
    };
    let ended = tokio::time::timeout(PATIENCE, whole).await;
    let mut stderr = child.stderr_tail();
    let (ok, stdout) = match ended {
        Ok((stdout, exit)) => {
            if !exit.is_success() && stdout.is_empty() && stderr.trim().is_empty() {
                stderr = exit.to_string();
            }
            (exit.is_success(), stdout)
        }
        Err(_elapsed) => {
            stderr.push_str(&format!("\n{}", too_long()));
            (false, Vec::new())
        }
    };
    Ok(Said { ok, stdout, stderr })
}

/// A path of git's answer.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Paths as answers tell them.
pub(crate) fn texts<P: AsRef<Path>>(paths: &[P]) -> Vec<String> {
    paths.iter().map(|path| path.as_ref().to_string_lossy().into_owned()).collect()
}
