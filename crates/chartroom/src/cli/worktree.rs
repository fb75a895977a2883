//! `chartroom worktree`: worktrees of our making, and the way back from them.

use std::path::{Path, PathBuf};

use chartroom_protocol::worktree::{
    AddWorktreeParams, AddWorktreeResponse, BringHow, BringParams, BringResponse, RemoveWorktreeResponse,
    WorktreeListResponse,
};
use chartroom_repository::{RepositoryError, worktrees};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::checkpoint::print;
use super::{block_on, settings, trust};
use crate::app::{gate, worktrees as settings_of};
use crate::config::{Config, Overrides};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Make a worktree on a new branch, below the data folder
    Add {
        /// The folder of the repository (this one)
        dir: Option<PathBuf>,
        /// The new branch
        #[arg(long, value_name = "NAME")]
        branch: String,
        /// The branch, tag or commit that it begins with (the last commit)
        #[arg(long, value_name = "REF")]
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the worktrees of our making: those of this repository, or all if there is none here
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring the work of a worktree to a branch; exit code 1 and nothing changed if it does not fit
    Bring {
        /// The worktree
        name: String,
        /// The branch that it comes to
        #[arg(long, value_name = "BRANCH")]
        onto: String,
        /// As a merge, as one commit, commit by commit, or as changes that are not committed
        #[arg(long, value_enum)]
        how: How,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a worktree and its branch; exit code 1 and nothing changed if work would be lost
    Remove {
        /// The worktree
        name: String,
        /// Remove it all the same; what is not committed is recorded first
        #[arg(long)]
        force: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum How {
    Merge,
    Squash,
    Rebase,
    Apply,
}

impl From<How> for BringHow {
    fn from(how: How) -> Self {
        match how {
            How::Merge => Self::Merge,
            How::Squash => Self::Squash,
            How::Rebase => Self::Rebase,
            How::Apply => Self::Apply,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    if let Act::Add { .. } = args.act {
        // A new worktree is trusted, and the set-up command runs.
        trust::refuse_agents(data.path())?;
    }
    block_on(async move { act(&gate::open(data.path(), &config.sandbox)?, &config, &args.act).await })
}

async fn act(gate: &SpawnGate, config: &Config, act: &Act) -> Result<Outcome, Failure> {
    let here = CanonicalRoot::open(Path::new(".")).ok();
    let found = |name: &str| worktrees::find(gate, here.as_ref(), name).map_err(failure);
    match act {
        Act::Add { dir, branch, from, json } => {
            let root = trust::open(dir.as_deref().unwrap_or(Path::new(".")))?;
            let params = AddWorktreeParams { branch: branch.clone(), from: from.clone() };
            let preparation = settings_of::preparation(&config.worktrees, root.as_path());
            let added = worktrees::add(gate, &root, &params, &preparation).await.map_err(failure)?;
            print(*json, &added, || added_text(&added))?;
            Ok(if added.setup.is_some_and(|setup| !setup.ok) { Outcome::NotOk } else { Outcome::Done })
        }
        Act::List { json } => {
            let mut records = worktrees::list(gate, here.as_ref());
            if records.is_empty() && here.as_ref().is_none_or(|here| !is_in_a_repository(here)) {
                records = worktrees::list(gate, None);
            }
            let list =
                WorktreeListResponse { worktrees: records.iter().map(worktrees::Record::told).collect() };
            let line = |it: &chartroom_protocol::worktree::Worktree| {
                format!("{}  {}  {}\n", it.name, it.branch, it.path)
            };
            print(*json, &list, || list.worktrees.iter().map(line).collect())?;
            Ok(Outcome::Done)
        }
        Act::Bring { name, onto, how, json } => {
            let params = BringParams { onto: onto.clone(), how: (*how).into() };
            let brought = worktrees::bring(gate, &found(name)?, &params).await.map_err(failure)?;
            print(*json, &brought, || brought_text(&brought, onto))?;
            Ok(if brought.brought { Outcome::Done } else { Outcome::NotOk })
        }
        Act::Remove { name, force, json } => {
            let removed = worktrees::remove(gate, &found(name)?, *force).await.map_err(failure)?;
            print(*json, &removed, || removed_text(&removed, name))?;
            Ok(if removed.removed { Outcome::Done } else { Outcome::NotOk })
        }
    }
}

fn is_in_a_repository(folder: &CanonicalRoot) -> bool {
    folder.as_path().ancestors().any(|above| above.join(".git").exists())
}

fn added_text(added: &AddWorktreeResponse) -> String {
    let copied: String = added.copied.iter().map(|path| format!("copied: {path}\n")).collect();
    let setup = added.setup.as_ref().map(|setup| {
        let end =
            if setup.ok { "" } else { "the set-up command failed; the worktree is there all the same\n" };
        format!("$ {}\n{}\n{end}", setup.command.join(" "), setup.output)
    });
    format!("{copied}{}{}\n", setup.unwrap_or_default(), added.worktree.path)
}

fn brought_text(brought: &BringResponse, onto: &str) -> String {
    if !brought.brought {
        let conflicts: String = brought.conflicts.iter().map(|path| format!("conflict: {path}\n")).collect();
        return format!(
            "{conflicts}nothing was changed: {}\n",
            brought.reason.as_deref().unwrap_or_default()
        );
    }
    let undo = brought.undo.as_ref().map(|undo| format!("the files before: checkpoint {undo}\n"));
    match (&brought.commit, &brought.before) {
        (Some(commit), Some(before)) => {
            format!("{onto} is {commit} now; it was {before}\n{}", undo.unwrap_or_default())
        }
        _ => format!("the changes are in the folder of {onto}\n{}", undo.unwrap_or_default()),
    }
}

fn removed_text(removed: &RemoveWorktreeResponse, name: &str) -> String {
    if removed.removed {
        let undo = removed.undo.as_ref().map(|undo| format!("its files: checkpoint {undo}\n"));
        return format!("removed {name}; its branch was {}\n{}", removed.commit, undo.unwrap_or_default());
    }
    let uncommitted = removed.uncommitted.iter().map(|path| format!("not committed: {path}\n"));
    let commits = removed.commits.iter().map(|commit| format!("on no other branch: {commit}\n"));
    let lost: String = uncommitted.chain(commits).collect();
    format!("{lost}nothing was changed: this would be lost; bring it back first, or say --force\n")
}

fn failure(error: RepositoryError) -> Failure {
    Failure::impossible(error.to_string())
}
