//! `chartroom index …`: the index of a folder, by hand.

use std::path::PathBuf;

use anyhow::Context as _;
use chartroom_index::{IndexService, tools};
use chartroom_protocol::index::{
    IndexStatus, IndexingProgress, ManageAction, ManageIndexParams, ManageIndexResponse,
};
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::words::{in_own_words, shell_word};
use super::{answer, block_on, running, settings};
use crate::app::index;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Index a folder
    Create(Create),
    /// Build its index anew beside the old one
    Reindex(Reindex),
    /// Bring it up to date, and share it if this machine shares it
    Sync(SyncArgs),
    /// Say what state it is in
    Status(Status),
    /// Remove the index (never the folder)
    Clear(Target),
    /// Prove that the index is what the folder holds, and mend its marker
    Repair(Target),
    /// Measure how well search finds the files that a fix changed, in a repository's own history
    Eval(super::index_eval::Args),
    /// Share the index with the team: index or sync the folder, then send what the team does not have
    Share(Team),
    /// Fill the index of this folder from what the team shares, without embedding it again
    Adopt(Team),
    /// List every tracked folder
    List(Output),
    /// Maintenance: forget folders that are gone and have no index
    Prune(Output),
}

#[derive(Debug, clap::Args)]
struct Create {
    #[command(flatten)]
    target: Target,
    /// Rebuild an index that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    build: Build,
}

#[derive(Debug, clap::Args)]
struct Reindex {
    #[command(flatten)]
    target: Target,
    /// Even if only ignore files changed
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    build: Build,
}

#[derive(Debug, clap::Args)]
struct Status {
    #[command(flatten)]
    target: Target,
    /// List the files that are not indexed, each with the reason
    #[arg(long)]
    skipped: bool,
}

#[derive(Debug, clap::Args)]
struct SyncArgs {
    #[command(flatten)]
    target: Target,
    /// Sync once and end, for scripts; a sync never watches the folder afterwards
    #[arg(long)]
    no_watch: bool,
}

#[derive(Debug, clap::Args)]
struct Team {
    #[command(flatten)]
    target: Target,
    /// The name that the team knows it by; remembered
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Target {
    /// The folder
    #[arg(default_value = ".")]
    path: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Default, clap::Args)]
struct Build {
    /// More file extensions, kept for this folder
    #[arg(long = "extension", value_name = "EXT")]
    extensions: Vec<String>,
    /// More ignore patterns (gitignore syntax), kept for this folder
    #[arg(long = "ignore", value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Do not wait for the end: the Chartroom that runs on this data folder builds
    #[arg(long)]
    no_wait: bool,
}

#[derive(Debug, clap::Args)]
struct Output {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let plain = |action, target| (action, target, false, Build::default());
    let (action, target, force, build) = match args.action {
        Action::Eval(args) => return super::index_eval::run(args),
        Action::Create(args) => (ManageAction::Create, args.target, args.force, args.build),
        Action::Reindex(args) => (ManageAction::Reindex, args.target, args.force, args.build),
        Action::Sync(SyncArgs { target, no_watch: _ }) => plain(ManageAction::Sync, target),
        Action::Share(args) => return block_on(async { team(&open()?, &args, true).await }),
        Action::Adopt(args) => return block_on(async { team(&open()?, &args, false).await }),
        Action::Status(args) => return block_on(async { status(&open()?, &args).await }),
        Action::Clear(target) => plain(ManageAction::Clear, target),
        Action::Repair(target) => plain(ManageAction::Repair, target),
        Action::List(output) => return block_on(async { list(&open()?, &output).await }),
        Action::Prune(output) => return block_on(async { prune(&open()?, &output).await }),
    };
    block_on(async {
        let service = open()?;
        let builds = matches!(action, ManageAction::Create | ManageAction::Reindex);
        let params = params(action, &target, force, &build);
        if builds && build.no_wait {
            return hand_over(&params, &target.output);
        }
        let mut response = service.manage(params).await;
        // What is tracked can be asked about and cleared without its folder.
        if response.status != IndexStatus::Ok {
            check_there(&target.path)?;
        }
        if builds && response.status == IndexStatus::Ok {
            response = wait(&service, response, !target.output.json).await;
        }
        print(&response, &target.output)
    })
}

/// What state it is in, with the files that are not in it when they are asked for.
async fn status(service: &IndexService, args: &Status) -> Result<Outcome, Failure> {
    let target = &args.target;
    let mut response = service.manage(params(ManageAction::Status, target, false, &Build::default())).await;
    if response.status != IndexStatus::Ok {
        check_there(&target.path)?;
    }
    let Some(skipped) = response.skipped.as_mut() else { return print(&response, &target.output) };
    if !args.skipped {
        if !target.output.json {
            let command = format!("chartroom index status --skipped {}", shell_word(&response.path));
            response.human_text.push_str(&format!("\n`{command}` lists the files that are not indexed."));
        }
        return print(&response, &target.output);
    }
    let listed = service.skipped(response.path.as_ref()).await.map_err(|error| {
        Failure::impossible(format!("the files that are not indexed cannot be read ({error})"))
    })?;
    *skipped = listed;
    if target.output.json {
        return print(&response, &target.output);
    }
    let mut text = String::new();
    for file in &skipped.files {
        text.push_str(&format!("{}\t{}\n", file.path, file.reason.words()));
    }
    let more = skipped.total.saturating_sub(skipped.files.len() as u64);
    if more > 0 {
        text.push_str(&format!("… and {more} more\n"));
    }
    answer(&text)?;
    Ok(Outcome::Done)
}

/// `share` and `adopt`.
async fn team(service: &IndexService, args: &Team, shares: bool) -> Result<Outcome, Failure> {
    check_there(&args.target.path)?;
    let path = std::path::absolute(&args.target.path).unwrap_or_else(|_| args.target.path.clone());
    let Some(path) = path.to_str() else {
        return Err(Failure::impossible(format!(
            "{} is not valid UTF-8 and cannot be indexed",
            path.display()
        )));
    };
    let response = match shares {
        true => service.share(path, args.name.as_deref()).await,
        false => service.adopt(path, args.name.as_deref()).await,
    };
    print(&response, &args.target.output)
}

/// Opens the index for this command.
pub(super) fn open() -> Result<IndexService, Failure> {
    let loaded = settings::load(Overrides::default())?;
    let data = settings::data_to_read()?;
    Ok(index::once(&loaded.config, &data)?)
}

/// Prints a value as the one JSON document of this command.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))?;
    answer(&format!("{text}\n"))
}

/// A path that does not exist is no answer of the index, but a command that could not be done.
pub(super) fn check_there(path: &std::path::Path) -> Result<(), Failure> {
    path.metadata().map(drop).map_err(|error| {
        let why =
            if error.kind() == std::io::ErrorKind::NotFound { "does not exist" } else { "cannot be opened" };
        Failure::impossible(format!("{} {why}; check its path", path.display()))
    })
}

fn params(action: ManageAction, target: &Target, force: bool, build: &Build) -> ManageIndexParams {
    let path = std::path::absolute(&target.path).unwrap_or_else(|_| target.path.clone());
    let mut params = ManageIndexParams::new(action, path.to_string_lossy());
    params.force = force && action == ManageAction::Create;
    params.allow_unnecessary_reindex = force && action == ManageAction::Reindex;
    params.custom_extensions = (!build.extensions.is_empty()).then(|| build.extensions.clone());
    params.ignore_patterns = (!build.ignore.is_empty()).then(|| build.ignore.clone());
    params
}

/// Waits for this process's build with a bar, and ends it cleanly at Ctrl-C.
async fn wait(service: &IndexService, started: ManageIndexResponse, bar: bool) -> ManageIndexResponse {
    let root = started.path.as_str();
    let progress = service.progress(root);
    let bar = if bar { new_bar() } else { ProgressBar::hidden() };
    let draw = async {
        let Some(mut progress) = progress else { return };
        while progress.changed().await.is_ok() {
            show(&bar, &progress.borrow_and_update());
        }
    };
    tokio::select! {
        () = service.wait(root) => {}
        () = async { draw.await; std::future::pending().await } => {}
        interrupted = tokio::signal::ctrl_c() => {
            if let Err(error) = interrupted {
                tracing::warn!(%error, "Ctrl-C cannot be caught");
                service.wait(root).await;
            }
            service.close().await;
        }
    }
    bar.finish_and_clear();
    service.finish(started).await
}

/// `--no-wait`: the Chartroom that serves this data folder builds, because this process ends now. No build is left behind
/// without somebody who answers for it, so that without a server there is nothing to hand over to.
fn hand_over(params: &ManageIndexParams, output: &Output) -> Result<Outcome, Failure> {
    let data = settings::data()?;
    let Some(origin) = data.running_server() else {
        return Err(Failure::impossible(
            "--no-wait needs a running Chartroom that builds the index; start one with `chartroom serve`, or leave --no-wait away",
        ));
    };
    let body = serde_json::to_string(params)
        .map_err(|error| Failure::impossible(format!("the request cannot be written ({error})")))?;
    let text = running::post(&data, &origin, "/api/index/manage", &body)
        .with_context(|| format!("the Chartroom at {origin} did not take the build; leave --no-wait away"))?;
    let response: ManageIndexResponse = serde_json::from_str(&text)
        .with_context(|| format!("the Chartroom at {origin} is of another version; leave --no-wait away"))?;
    print(&response, output)
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos:>3}% {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(100).with_style(style)
}

fn show(bar: &ProgressBar, progress: &IndexingProgress) {
    bar.set_position(progress.progress_pct.clamp(0.0, 100.0) as u64);
    let files = match (progress.files_done, progress.files_total) {
        (Some(done), Some(total)) => format!("{done}/{total} files"),
        _ => progress.phase.clone().unwrap_or_default(),
    };
    let speed = progress.chunks_per_second.map(|speed| format!(", {speed:.0} chunks/s")).unwrap_or_default();
    bar.set_message(format!("{files}{speed}"));
}

fn print(response: &ManageIndexResponse, output: &Output) -> Result<Outcome, Failure> {
    if output.json {
        print_json(response)?;
    } else {
        let mut text = in_own_words(&response.human_text, &response.path);
        for warning in &response.warnings {
            text.push_str(&format!("\n{}: {}", warning.code, warning.message));
        }
        answer(&format!("{text}\n"))?;
    }
    Ok(if response.status == IndexStatus::Ok { Outcome::Done } else { Outcome::NotOk })
}

async fn list(service: &IndexService, output: &Output) -> Result<Outcome, Failure> {
    let response = service.list().await;
    if output.json {
        print_json(&response)?;
    } else {
        answer(&format!("{}\n", in_own_words(&tools::render_list(&response), ".")))?;
    }
    Ok(Outcome::Done)
}

async fn prune(service: &IndexService, output: &Output) -> Result<Outcome, Failure> {
    let removed = service.prune().await.map_err(Failure::impossible)?;
    if output.json {
        print_json(&removed)?;
    } else if removed.is_empty() {
        answer("nothing to forget\n")?;
    } else {
        answer(&removed.iter().map(|root| format!("forgot {root}\n")).collect::<String>())?;
    }
    Ok(Outcome::Done)
}
