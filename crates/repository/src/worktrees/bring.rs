//! Brings the work of a worktree to a branch. The result is made beside everything first: where the two do not fit, the
//! conflicts are told and nothing has changed.

use std::path::{Path, PathBuf};

use chartroom_checkpoints::{Kind, Records, Words, version_of};
use chartroom_protocol::worktree::{BringHow, BringParams, BringResponse};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::record::{Brought, Record};
use super::remove::open_work;
use crate::RepositoryError;
use crate::git::{Git, Question, Runs, path, texts};

/// Before it, `git merge-tree` cannot join two commits.
const OLDEST: (u32, u32) = (2, 38);

/// Brings the work of a worktree to a branch of its repository.
pub async fn bring(
    gate: &SpawnGate,
    record: &Record,
    params: &BringParams,
) -> Result<BringResponse, RepositoryError> {
    let root = CanonicalRoot::open(&record.path)
        .map_err(|error| RepositoryError::NotFound(format!("the worktree {}: {error}", record.name)))?;
    let git = Git::around(gate, &root).await?;
    check_version(&git).await?;
    let nothing = || RepositoryError::Refused("the worktree has no commit".to_owned());
    let work = git.commit("HEAD").await?.ok_or_else(nothing)?;
    let branch = format!("refs/heads/{}", params.onto);
    let onto = git
        .commit(&branch)
        .await?
        .ok_or_else(|| RepositoryError::NotFound(format!("the repository has no branch {}", params.onto)))?;
    if params.onto == record.branch {
        return Err(RepositoryError::Refused("that is the worktree's own branch".to_owned()));
    }
    let act = Act { git: &git, record, work, onto, branch };
    let brought = match params.how {
        BringHow::Apply => return act.apply().await,
        _ if !open_work(&git, &record.repository, record).await?.is_empty() => Err(NotBrought::because(
            "there are changes in the worktree that are not committed: commit them there, or bring all with `apply`",
        )),
        BringHow::Merge => act.merge().await?,
        BringHow::Squash => act.squash().await?,
        BringHow::Rebase => act.rebase().await?,
    };
    match brought {
        Ok(commit) => act.advance(commit).await,
        Err(not) => Ok(not.told(&act.onto)),
    }
}

struct Act<'a> {
    git: &'a Git,
    record: &'a Record,
    /// The worktree's last commit.
    work: String,
    /// The branch's last commit.
    onto: String,
    branch: String,
}

/// Why nothing was done.
#[derive(Default)]
struct NotBrought {
    conflicts: Vec<PathBuf>,
    reason: Option<String>,
}

impl NotBrought {
    fn because(reason: impl Into<String>) -> Self {
        Self { conflicts: Vec::new(), reason: Some(reason.into()) }
    }

    fn told(self, onto: &str) -> BringResponse {
        let reason = self.reason.unwrap_or_else(|| "both sides have changed the same places".to_owned());
        BringResponse {
            brought: false,
            commit: None,
            before: Some(onto.to_owned()),
            conflicts: texts(&self.conflicts),
            reason: Some(reason),
            undo: None,
        }
    }
}

type Made = Result<String, NotBrought>;

impl Act<'_> {
    /// Joins two commits without touching any folder: the tree, or what does not fit.
    async fn joined(&self, ours: &str, theirs: &str) -> Result<Made, RepositoryError> {
        let arguments = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
        let said = self.git.run(Question::new(Runs::Nothing, &arguments)).await?;
        let mut fields = said.stdout.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let tree = fields.next().map(|tree| String::from_utf8_lossy(tree).trim().to_owned());
        match (said.ok, tree) {
            (true, Some(tree)) => Ok(Ok(tree)),
            (false, Some(_)) if said.stderr.trim().is_empty() => {
                let mut conflicts: Vec<PathBuf> = fields.map(path).collect();
                conflicts.dedup();
                Ok(Err(NotBrought { conflicts, reason: None }))
            }
            _ => Err(RepositoryError::Failed { command: "merge-tree".to_owned(), message: said.text() }),
        }
    }

    /// Makes a commit as the user would: with their name, and signed if they sign.
    async fn committed(
        &self,
        tree: &str,
        parents: &[&str],
        message: Vec<u8>,
        author: Option<&str>,
    ) -> Result<String, RepositoryError> {
        let signs = self.git.line_if_any(&["config", "--type=bool", "commit.gpgSign"]).await?;
        let mut arguments = vec!["commit-tree", tree];
        arguments.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        if signs.as_deref() == Some("true") {
            arguments.push("-S");
        }
        let mut question = Question::new(Runs::Hooks, &arguments);
        question.input = message;
        if let Some(author) = author {
            let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"];
            let values = author.split('\0');
            question
                .env
                .extend(names.into_iter().zip(values).map(|(name, value)| (name.into(), value.into())));
        }
        let answer = self.git.must(question).await?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// Makes a commit of a tree that only serves to be joined with another one, and that nothing leads to.
    async fn beside(&self, tree: &str, parent: &str) -> Result<String, RepositoryError> {
        let mut question = Question::new(Runs::Nothing, &["commit-tree", tree, "-p", parent]);
        for who in ["AUTHOR", "COMMITTER"] {
            question.env.insert(format!("GIT_{who}_NAME").into(), "Chartroom".into());
            question.env.insert(format!("GIT_{who}_EMAIL").into(), "worktrees@localhost".into());
        }
        let answer = self.git.must(question).await?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    async fn merge(&self) -> Result<Made, RepositoryError> {
        if self.has(&self.work, &self.onto).await? {
            return Ok(Ok(self.onto.clone()));
        }
        let tree = match self.joined(&self.onto, &self.work).await? {
            Ok(tree) => tree,
            Err(not) => return Ok(Err(not)),
        };
        let message = format!("Merge branch '{}'\n", self.record.branch).into_bytes();
        self.committed(&tree, &[&self.onto, &self.work], message, None).await.map(Ok)
    }

    async fn squash(&self) -> Result<Made, RepositoryError> {
        let commits = self.commits().await?;
        let tree = match self.joined(&self.onto, &self.work).await? {
            Ok(tree) => tree,
            Err(not) => return Ok(Err(not)),
        };
        if tree == self.tree(&self.onto).await? {
            return Ok(Ok(self.onto.clone()));
        }
        let message = match commits.as_slice() {
            [one] => self.git.ask(&["show", "-s", "--format=%B", one]).await?,
            _ => {
                let range = format!("{}..{}", self.onto, self.work);
                let subjects = self.git.line(&["log", "--reverse", "--format=* %s", &range]).await?;
                format!("{}\n\n{subjects}\n", self.record.branch).into_bytes()
            }
        };
        self.committed(&tree, &[&self.onto], message, None).await.map(Ok)
    }

    async fn rebase(&self) -> Result<Made, RepositoryError> {
        let mut last = self.onto.clone();
        for commit in self.commits().await? {
            let parent = self.git.line(&["rev-parse", &format!("{commit}^")]).await?;
            if parent == last {
                last = commit;
                continue;
            }
            // What both have in common is the commit's parent, whatever else lies between.
            let tree = self.tree(&last).await?;
            let beside = self.beside(&tree, &parent).await?;
            let tree = match self.joined(&beside, &commit).await? {
                Ok(tree) => tree,
                Err(not) => return Ok(Err(not)),
            };
            // What the branch has already is no commit of its own.
            if tree == self.tree(&last).await? {
                continue;
            }
            let author = ["show", "-s", "--date=raw", "--format=%an%x00%ae%x00%ad", &commit];
            let author = self.git.line(&author).await?;
            let message = self.git.ask(&["show", "-s", "--format=%B", &commit]).await?;
            last = self.committed(&tree, &[&last], message, Some(&author)).await?;
        }
        Ok(Ok(last))
    }

    /// The worktree's own commits, the oldest first.
    async fn commits(&self) -> Result<Vec<String>, RepositoryError> {
        let range = format!("{}..{}", self.onto, self.work);
        let listed = self.git.line(&["rev-list", "--reverse", "--topo-order", "--no-merges", &range]).await?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    async fn tree(&self, commit: &str) -> Result<String, RepositoryError> {
        self.git.line(&["rev-parse", &format!("{commit}^{{tree}}")]).await
    }

    async fn has(&self, older: &str, newer: &str) -> Result<bool, RepositoryError> {
        let asked = Question::new(Runs::Nothing, &["merge-base", "--is-ancestor", older, newer]);
        Ok(self.git.run(asked).await?.ok)
    }

    /// Moves the branch to a commit that follows its last one, with the files of the folder that it is checked out in.
    async fn advance(&self, commit: String) -> Result<BringResponse, RepositoryError> {
        let mut undo = None;
        if let Some(folder) = self.checked_out().await? {
            let there = Git::around(&self.git.gate, &folder).await?;
            undo = Some(checkpoint(&self.git.gate, there.top()).await?);
            // What is ignored is in no record, and git would write over it.
            let moved =
                there.act(&["merge", "--ff-only", "--quiet", "--no-overwrite-ignore", &commit]).await?;
            if !moved.ok {
                return Ok(NotBrought::because(moved.text()).told(&self.onto));
            }
        } else {
            let update = ["update-ref", "-m", "brought from a worktree", &self.branch, &commit, &self.onto];
            self.git.must(Question::new(Runs::Hooks, &update)).await?;
        }
        self.note(None)?;
        Ok(BringResponse {
            brought: true,
            commit: Some(commit),
            before: Some(self.onto.clone()),
            conflicts: Vec::new(),
            reason: None,
            undo,
        })
    }

    /// Brings everything, committed or not, as changes of the folder that the branch is checked out in.
    async fn apply(&self) -> Result<BringResponse, RepositoryError> {
        let Some(folder) = self.checked_out().await? else {
            let branch = self.branch.trim_start_matches("refs/heads/");
            return Err(RepositoryError::Refused(format!(
                "{branch} is checked out nowhere, so that nothing can be changed there; switch to it first"
            )));
        };
        let there = Git::around(&self.git.gate, &folder).await?;
        let (work, now) = (self.git.work_tree().await?, there.work_tree().await?);
        let base = self.git.line(&["merge-base", &self.onto, &self.work]).await?;
        let (ours, theirs) = (self.beside(&now, &base).await?, self.beside(&work, &base).await?);
        let tree = match self.joined(&ours, &theirs).await? {
            Ok(tree) => tree,
            Err(not) => return Ok(not.told(&self.onto)),
        };
        let undo = checkpoint(&self.git.gate, there.top()).await?;
        let patch = there
            .ask(&[
                "diff-tree",
                "-p",
                "--binary",
                "--full-index",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                &now,
                &tree,
            ])
            .await?;
        if !patch.is_empty() {
            // All of it or nothing; a file that has changed meanwhile does not fit.
            let mut question = Question::new(Runs::Hooks, &["apply", "--whitespace=nowarn", "-"]);
            question.input = patch;
            let said = there.run(question).await?;
            if !said.ok {
                return Ok(NotBrought::because(said.text()).told(&self.onto));
            }
        }
        self.note(Some(work))?;
        Ok(BringResponse {
            brought: true,
            commit: None,
            before: Some(self.onto.clone()),
            conflicts: Vec::new(),
            reason: None,
            undo: Some(undo),
        })
    }

    fn note(&self, tree: Option<String>) -> Result<(), RepositoryError> {
        let brought = Some(Brought { commit: self.work.clone(), tree });
        Record { brought, ..self.record.clone() }.write()
    }

    /// The folder in which the branch is checked out.
    async fn checked_out(&self) -> Result<Option<CanonicalRoot>, RepositoryError> {
        let listed = self.git.ask(&["worktree", "list", "--porcelain", "-z"]).await?;
        let mut folder = None;
        for field in listed.split(|byte| *byte == 0) {
            if let Some(at) = field.strip_prefix(b"worktree ") {
                folder = Some(path(at));
            } else if field.strip_prefix(b"branch ") == Some(self.branch.as_bytes()) {
                let found = folder.as_deref().unwrap_or(Path::new(""));
                return Ok(CanonicalRoot::open(found).ok());
            }
        }
        Ok(None)
    }
}

/// Records a folder before it is changed.
pub(crate) async fn checkpoint(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<String, RepositoryError> {
    let records = Records::of(gate, folder).await?;
    let made = records.make(|| Words { kind: Kind::Undo, ..Words::default() }).await?;
    Ok(made.id)
}

async fn check_version(git: &Git) -> Result<(), RepositoryError> {
    let version = git.line(&["version"]).await?;
    if version_of(&version).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return Err(RepositoryError::Refused(format!(
            "{version} is too old to join branches beside a working tree; install git {major}.{minor} or later"
        )));
    }
    Ok(())
}
