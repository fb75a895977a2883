//! `chartroom checkpoint` and `chartroom changes`: records of a working tree, what differs, and the way back.

use std::path::{Component, Path, PathBuf};

use chartroom_checkpoints::{Checkpoint, CheckpointError, Detail, Records, Scope, Wanted, Words};
use chartroom_protocol::changes::{Changes, FileStatus, Restored};
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::Serialize;
use serde_json::json;

use super::{answer, block_on, settings};
use crate::app::gate;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Record the working tree as it is now; the repository is not touched
    Make {
        /// The folder (this one)
        dir: Option<PathBuf>,
        /// What it is, in your words; a record with a label is never thinned out
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the records of a folder, the oldest first
    List {
        /// The folder (this one)
        dir: Option<PathBuf>,
        /// Only those of one session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what differs between a record and another one, or the tree as it is now
    Diff {
        /// The record, or the beginning of its id
        a: String,
        /// The other one
        b: Option<String>,
        /// Print the differences themselves
        #[arg(long)]
        patch: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the working tree what a record says; the state before is recorded first
    Restore {
        /// The record, or the beginning of its id
        id: String,
        /// Only this file or folder; may be given again
        #[arg(long = "path", value_name = "P")]
        paths: Vec<PathBuf>,
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
        /// Replace files too that somebody else changed since
        #[arg(long)]
        force: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub struct ChangesArgs {
    /// The folder (this one)
    dir: Option<PathBuf>,
    /// The session whose work is meant
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// turn, session, uncommitted, or a branch to compare with (uncommitted; with --session: session)
    #[arg(long)]
    scope: Option<String>,
    /// Print the differences themselves
    #[arg(long)]
    patch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    with_gate(async |gate| match &args.act {
        Act::Make { dir, label, json } => make(gate, dir.as_deref(), label.clone(), *json).await,
        Act::List { dir, session, json } => list(gate, dir.as_deref(), session.as_deref(), *json).await,
        Act::Diff { a, b, patch, json } => diff(gate, (a, b.as_deref()), *patch, *json).await,
        Act::Restore { id, paths, dry_run, force, json } => {
            let (store, checkpoint) = Records::find(gate, id).await.map_err(failure)?;
            let paths = paths.iter().map(|path| below(store.top(), path)).collect::<Result<_, _>>()?;
            let wanted = Wanted { paths, dry_run: *dry_run, force: *force };
            let restored = store.restore(&checkpoint, &wanted).await.map_err(failure)?;
            print(*json, &restored, || restored_text(&restored, *dry_run))?;
            Ok(if restored.conflicts.is_empty() { Outcome::Done } else { Outcome::NotOk })
        }
    })
}

/// `chartroom changes`: 0 whether there are some or none.
pub(super) fn changes(args: &ChangesArgs) -> Result<Outcome, Failure> {
    let scope = match (args.scope.as_deref(), &args.session) {
        (Some("turn"), session) => Scope::Turn { session: session.clone(), turn: None },
        (Some("session"), session) => Scope::Session(session.clone()),
        (None, Some(session)) => Scope::Session(Some(session.clone())),
        (None | Some("uncommitted"), _) => Scope::Uncommitted,
        (Some(branch), _) => Scope::Branch(branch.to_owned()),
    };
    with_gate(async |gate| {
        let store = open(gate, args.dir.as_deref()).await?;
        let changes = store.changes(&scope, detail(args.patch)).await.map_err(failure)?;
        print(args.json, &changes, || changes_text(&changes))?;
        Ok(Outcome::Done)
    })
}

fn with_gate(work: impl AsyncFnOnce(&SpawnGate) -> Result<Outcome, Failure>) -> Result<Outcome, Failure> {
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    block_on(async move { work(&gate::open(data.path(), &config.sandbox)?).await })
}

async fn open(gate: &SpawnGate, dir: Option<&Path>) -> Result<Records, Failure> {
    let root = CanonicalRoot::open(dir.unwrap_or(Path::new(".")))
        .map_err(|error| Failure::impossible(error.to_string()))?;
    Records::of(gate, &root).await.map_err(failure)
}

async fn make(
    gate: &SpawnGate,
    dir: Option<&Path>,
    label: Option<String>,
    json: bool,
) -> Result<Outcome, Failure> {
    let store = open(gate, dir).await?;
    let made = store.make(|| Words { label, ..Words::default() }).await.map_err(failure)?;
    print(json, &made, || {
        let left_out = match made.left_out.len() {
            0 => String::new(),
            n => format!(" ({n} left out: too large, unreadable or a repository; --json names them)"),
        };
        format!("{}{left_out}\n", made.id)
    })?;
    Ok(Outcome::Done)
}

async fn list(
    gate: &SpawnGate,
    dir: Option<&Path>,
    session: Option<&str>,
    json: bool,
) -> Result<Outcome, Failure> {
    let list = open(gate, dir).await?.list(session).map_err(failure)?;
    print(json, &json!({ "checkpoints": list }), || list.iter().map(line).collect())?;
    Ok(Outcome::Done)
}

fn line(checkpoint: &Checkpoint) -> String {
    let words = checkpoint.words();
    let what = match (&words.label, &words.session) {
        (Some(label), _) => label.clone(),
        (None, Some(session)) => format!("{:?} a turn of {session}", words.kind).to_lowercase(),
        (None, None) => format!("{:?}", words.kind).to_lowercase(),
    };
    format!("{}  {}  {what}\n", checkpoint.id, checkpoint.time())
}

fn detail(with_patch: bool) -> Detail {
    if with_patch { Detail::Patch } else { Detail::Counts }
}

async fn diff(
    gate: &SpawnGate,
    (a, b): (&str, Option<&str>),
    patch: bool,
    json: bool,
) -> Result<Outcome, Failure> {
    let (store, base) = Records::find(gate, a).await.map_err(failure)?;
    let head = match b {
        Some(b) => {
            let (other, head) = Records::find(gate, b).await.map_err(failure)?;
            if other.place().folder != store.place().folder {
                return Err(Failure::Usage(format!("{a} and {b} are of different folders")));
            }
            Some(head)
        }
        None => None,
    };
    let changes = store.diff(&base, head.as_ref(), detail(patch)).await.map_err(failure)?;
    print(json, &changes, || changes_text(&changes))?;
    Ok(Outcome::Done)
}

pub(super) fn print(
    json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if json {
        let text =
            serde_json::to_string_pretty(value).map_err(|error| Failure::impossible(error.to_string()))?;
        answer(&format!("{text}\n"))
    } else {
        answer(&text())
    }
}

fn changes_text(changes: &Changes) -> String {
    if let Some(patch) = &changes.patch {
        return patch.clone();
    }
    let lines = changes.files.iter().map(|file| {
        let letter = match file.status {
            FileStatus::Added => 'A',
            FileStatus::Modified => 'M',
            FileStatus::Deleted => 'D',
            FileStatus::Renamed => 'R',
            FileStatus::Untracked => '?',
        };
        let numbers =
            if file.binary { "binary".to_owned() } else { format!("+{} -{}", file.added, file.removed) };
        let from = file.from.as_ref().map(|from| format!("{from} → ")).unwrap_or_default();
        format!("{letter} {from}{} {numbers}\n", file.path)
    });
    lines.collect()
}

pub(super) fn restored_text(restored: &Restored, dry_run: bool) -> String {
    let would = if dry_run { "would be " } else { "" };
    let mut text = String::new();
    for (paths, what) in [(&restored.written, "written"), (&restored.removed, "removed")] {
        for path in paths {
            text.push_str(&format!("{would}{what}: {path}\n"));
        }
    }
    for path in &restored.conflicts {
        text.push_str(&format!(
            "left alone, changed since by somebody else or in no record: {path} (--force replaces what is recorded)\n"
        ));
    }
    if let Some(undo) = &restored.undo {
        text.push_str(&format!("to undo this: chartroom checkpoint restore {undo} --force\n"));
    }
    text
}

/// A path that was given in this folder, as the store names it.
fn below(top: &Path, path: &Path) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let here = here.map_err(|error| Failure::impossible(format!("this folder cannot be read ({error})")))?;
    let mut whole = PathBuf::new();
    for component in here.join(path).components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    let outside = || Failure::Usage(format!("{} is not in {}", path.display(), top.display()));
    whole.strip_prefix(top).map(Path::to_path_buf).map_err(|_| outside())
}

/// An id that is not there is a question that cannot be answered; everything else could not be done.
fn failure(error: CheckpointError) -> Failure {
    match error {
        CheckpointError::Ambiguous { .. } => Failure::Usage(error.to_string()),
        other => Failure::impossible(other.to_string()),
    }
}
