//! `chartroom tries`: one message to several sessions, each in a worktree of its own; one is kept. Sessions are the running
//! server's, so it does the work.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use chartroom_protocol::project::ProjectListResponse;
use chartroom_protocol::tries::{
    EndTriesResponse, KeepTryParams, StartTriesParams, TestTriesParams, Tries, TriesListResponse, Try,
    TryAgent, TryState,
};
use chartroom_protocol::worktree::{BringHow, RunState};
use serde::de::DeserializeOwned;

use super::checkpoint::print;
use super::{running, settings, trust};
use crate::data::DataFolder;
use crate::exit::{Failure, Outcome};

/// How often it is asked how they stand.
const EVERY: Duration = Duration::from_millis(300);

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Give a message to two to four agents, each in a worktree of its own; exit code 1 if one of them did not begin
    Start {
        /// What each of them is told
        message: String,
        /// Who tries, e.g. `--agent claude-code --agent codex`; the same may be named more than once
        #[arg(long = "agent", value_name = "NAME", required = true)]
        agents: Vec<String>,
        /// The project (this folder)
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// What the branches begin with (made of the message)
        #[arg(long, value_name = "NAME")]
        branch: Option<String>,
        /// The branch, tag or commit that they begin with (the last commit)
        #[arg(long, value_name = "REF")]
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the tries of a project, the newest first
    List {
        /// The project (this folder)
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Test them with the command of your config; exit code 1 if a test fails
    Test {
        /// Their id
        id: String,
        /// Only this one
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        /// The project (this folder)
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring the work of one back and remove the others; exit code 1 and nothing changed if it does not fit, or if work
    /// would be lost
    Keep {
        /// Their id
        id: String,
        /// The one that is kept
        name: String,
        /// The branch that it comes to (the one of the project's folder)
        #[arg(long, value_name = "BRANCH")]
        onto: Option<String>,
        /// As a merge, as one commit, commit by commit, or as changes that are not committed
        #[arg(long, value_enum, default_value = "apply")]
        how: super::worktree::How,
        /// Remove the others also when work would be lost; what is not committed is recorded first
        #[arg(long)]
        force: bool,
        /// The project (this folder)
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove them all, but the one that was kept; exit code 1 and nothing changed if work would be lost
    Drop {
        /// Their id
        id: String,
        /// Also when work would be lost; what is not committed is recorded first
        #[arg(long)]
        force: bool,
        /// The project (this folder)
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.act {
        Act::Start { message, agents, path, branch, from, json } => {
            // New worktrees are trusted, and the set-up command runs.
            trust::refuse_agents(settings::data()?.path())?;
            let agents = agents.iter().map(|agent| TryAgent {
                cli_type: agent.as_str().into(),
                model: None,
                mode: None,
            });
            let params = StartTriesParams {
                message: message.clone(),
                agents: agents.collect(),
                branch: branch.clone(),
                from: from.clone(),
            };
            let server = Server::of(path.as_ref())?;
            let begun: Tries = server.post("", &params)?;
            let tries = server.until(&begun.tries_id, |tries| {
                tries.tries.iter().all(|one| one.state != TryState::Making)
            })?;
            print(*json, &tries, || text_of(&tries))?;
            let failed = tries.tries.iter().any(|one| one.state == TryState::Failed);
            Ok(if failed { Outcome::NotOk } else { Outcome::Done })
        }
        Act::List { path, json } => {
            let all: TriesListResponse = Server::of(path.as_ref())?.get("")?;
            print(*json, &all, || all.tries.iter().map(text_of).collect())?;
            Ok(Outcome::Done)
        }
        Act::Test { id, only, path, json } => {
            let server = Server::of(path.as_ref())?;
            let params = TestTriesParams { name: only.clone() };
            let _begun: Tries = server.post(&format!("{}/test", part(id)?), &params)?;
            let is_meant = |one: &&Try| only.as_ref().is_none_or(|name| one.name == *name);
            let state = |one: &Try| one.test.as_ref().map(|test| test.state);
            let tries = server.until(id, |tries| {
                !tries.tries.iter().filter(is_meant).any(|one| state(one) == Some(RunState::Running))
            })?;
            print(*json, &tries, || tests_of(&tries))?;
            let all_passed = tries
                .tries
                .iter()
                .filter(is_meant)
                .all(|one| matches!(state(one), None | Some(RunState::Passed)));
            Ok(if all_passed { Outcome::Done } else { Outcome::NotOk })
        }
        Act::Keep { id, name, onto, how, force, path, json } => {
            let params = KeepTryParams {
                name: name.clone(),
                how: Some(BringHow::from(*how)),
                onto: onto.clone(),
                force: *force,
            };
            let ended = Server::of(path.as_ref())?.post(&format!("{}/keep", part(id)?), &params)?;
            told(*json, &ended)
        }
        Act::Drop { id, force, path, json } => {
            let server = Server::of(path.as_ref())?;
            let force = if *force { "?force=true" } else { "" };
            let ended = server.delete(&format!("{}{force}", part(id)?))?;
            told(*json, &ended)
        }
    }
}

fn told(json: bool, ended: &EndTriesResponse) -> Result<Outcome, Failure> {
    print(json, ended, || ended_text(ended))?;
    Ok(if ended.done { Outcome::Done } else { Outcome::NotOk })
}

/// It becomes a part of an address.
fn part(id: &str) -> Result<&str, Failure> {
    match !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => Ok(id),
        false => Err(Failure::Usage(format!("{id:?} is no tries' id"))),
    }
}

/// The running server, and the tries of one of its projects.
struct Server {
    data: DataFolder,
    origin: String,
    route: String,
}

impl Server {
    fn of(path: Option<&PathBuf>) -> Result<Self, Failure> {
        let root = trust::open(path.map_or(std::path::Path::new("."), |path| path))?;
        let data = settings::data_to_read()?;
        let Some(origin) = data.running_server() else {
            return Err(Failure::impossible(
                "no Chartroom is running here; start one with `chartroom serve`",
            ));
        };
        let text = running::get(&data, &origin, "/api/project")?;
        let list: ProjectListResponse =
            serde_json::from_str(&text).context("the answer is no list of projects")?;
        let around = list.projects.iter().filter(|project| root.as_path().starts_with(&project.path));
        let Some(project) = around.max_by_key(|project| project.path.len()) else {
            return Err(Failure::impossible(format!(
                "{root} is in no project of the running Chartroom; add it there, or start it with `chartroom serve {root}`"
            )));
        };
        // A worktree's tries are its repository's.
        let of = project.worktree.as_ref().map(|worktree| worktree.repository.as_str());
        let main = of.and_then(|path| list.projects.iter().find(|project| project.path == path));
        let route = format!("/api/project/{}/tries", main.unwrap_or(project).project_id);
        Ok(Self { data, origin, route })
    }

    fn path(&self, rest: &str) -> String {
        if rest.is_empty() { self.route.clone() } else { format!("{}/{rest}", self.route) }
    }

    fn get<T: DeserializeOwned>(&self, rest: &str) -> Result<T, Failure> {
        read(&running::get(&self.data, &self.origin, &self.path(rest))?)
    }

    fn post<T: DeserializeOwned>(&self, rest: &str, params: &impl serde::Serialize) -> Result<T, Failure> {
        let body = serde_json::to_string(params).context("writing the request")?;
        read(&running::post(&self.data, &self.origin, &self.path(rest), &body)?)
    }

    fn delete<T: DeserializeOwned>(&self, rest: &str) -> Result<T, Failure> {
        read(&running::delete(&self.data, &self.origin, &self.path(rest))?)
    }

    /// Waits until they stand so.
    #[expect(
        clippy::disallowed_methods,
        reason = "the server has no signal for a command; it is asked again"
    )]
    fn until(&self, tries_id: &str, holds: impl Fn(&Tries) -> bool) -> Result<Tries, Failure> {
        loop {
            let tries: Tries = self.get(tries_id)?;
            if holds(&tries) {
                return Ok(tries);
            }
            std::thread::sleep(EVERY);
        }
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    Ok(serde_json::from_str(text).context("the answer does not say what was done")?)
}

fn text_of(tries: &Tries) -> String {
    let kept = tries.kept.as_ref().map(|kept| format!(" (kept: {kept})")).unwrap_or_default();
    let head = format!("{}  {}{kept}\n", tries.tries_id, tries.message.lines().next().unwrap_or_default());
    let lines = tries.tries.iter().map(|one| {
        let size = one
            .size
            .map(|size| format!("  {} files +{} -{}", size.files, size.added, size.removed))
            .unwrap_or_default();
        let cost = one.cost_usd.map(|cost| format!("  ${cost:.2}")).unwrap_or_default();
        let test = one.test.as_ref().map(|test| format!("  tests {}", word(test.state))).unwrap_or_default();
        let note = one.note.as_ref().map(|note| format!("  {note}")).unwrap_or_default();
        let state = match one.state {
            TryState::Making => "being made",
            TryState::Failed => "did not begin",
            TryState::Open => "rests",
            TryState::Working => "works",
            TryState::NeedsYou => "needs you",
            TryState::Dead => "ended",
            TryState::Removed => "removed",
        };
        format!("  {}  {}  {state}{size}{cost}{test}{note}\n", one.name, one.cli_type)
    });
    head + &lines.collect::<String>()
}

fn tests_of(tries: &Tries) -> String {
    let tested = tries.tries.iter().filter_map(|one| Some((one, one.test.as_ref()?)));
    tested.map(|(one, test)| format!("{}: {}\n{}\n", one.name, word(test.state), test.output)).collect()
}

fn word(state: RunState) -> &'static str {
    match state {
        RunState::Running => "run",
        RunState::Passed => "passed",
        RunState::Failed => "failed",
        RunState::Interrupted => "were interrupted",
    }
}

fn ended_text(ended: &EndTriesResponse) -> String {
    let mut text = String::new();
    if let Some(brought) = ended.brought.as_ref().filter(|brought| !brought.brought) {
        text.extend(brought.conflicts.iter().map(|path| format!("conflict: {path}\n")));
        text.push_str(&format!("nothing was changed: {}\n", brought.reason.as_deref().unwrap_or_default()));
        return text;
    }
    if let Some(undo) = ended.brought.as_ref().and_then(|brought| brought.undo.as_ref()) {
        text.push_str(&format!("brought back; the files before: checkpoint {undo}\n"));
    }
    for other in &ended.others {
        let removed = &other.removed;
        if removed.removed {
            let undo = removed.undo.as_ref().map(|undo| format!(", its files: checkpoint {undo}"));
            let undo = undo.unwrap_or_default();
            text.push_str(&format!("removed {}; its branch was {}{undo}\n", other.name, removed.commit));
            continue;
        }
        text.extend(
            removed.uncommitted.iter().map(|path| format!("{}: not committed: {path}\n", other.name)),
        );
        text.extend(
            removed.commits.iter().map(|commit| format!("{}: on no other branch: {commit}\n", other.name)),
        );
    }
    if !ended.done {
        text.push_str("nothing was changed: this would be lost; say --force if it may be\n");
    }
    text
}
