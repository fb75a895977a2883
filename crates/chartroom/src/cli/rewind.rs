//! `chartroom rewind` and `chartroom fork`: back to before a turn, or on from an earlier one. Sessions are the running
//! server's, so it does the work.

use anyhow::Context as _;
use chartroom_protocol::changes::{ForkParams, ForkResponse, RewindParams, RewindResponse};
use chartroom_protocol::ids::TurnId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checkpoint::{print, restored_text};
use super::{running, settings};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session
    session: String,
    /// The turn that is undone, with all after it
    #[arg(long, value_name = "TURN")]
    before: String,
    /// Make the files what they were before it (files and conversation, if neither is named)
    #[arg(long)]
    files: bool,
    /// Go on without what was said since, in a session of its own; the old one is archived
    #[arg(long)]
    conversation: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Replace files too that somebody else changed since
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub struct ForkArgs {
    /// The session
    session: String,
    /// The last turn that the new one knows of (the session's last)
    #[arg(long, value_name = "TURN")]
    at: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// 1 if files were left alone, or the agent cannot go back.
pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let both = !args.files && !args.conversation;
    let params = RewindParams {
        before: TurnId::new(args.before.clone()),
        files: args.files || both,
        conversation: args.conversation || both,
        dry_run: args.dry_run,
        force: args.force,
    };
    let done: RewindResponse = ask(&args.session, "rewind", &params)?;
    print(args.json, &done, || {
        let files = done.files.as_ref().map(|files| restored_text(files, args.dry_run)).unwrap_or_default();
        let session = done.session.as_ref().map(|session| format!("the conversation goes on in {session}\n"));
        format!("{files}{}{}", session.unwrap_or_default(), told(done.cannot.as_deref()))
    })?;
    let left_alone = done.files.is_some_and(|files| !files.conflicts.is_empty());
    Ok(if left_alone || done.cannot.is_some() { Outcome::NotOk } else { Outcome::Done })
}

/// 1 if the agent cannot.
pub(super) fn fork(args: &ForkArgs) -> Result<Outcome, Failure> {
    let params = ForkParams { at: args.at.clone().map(TurnId::new) };
    let done: ForkResponse = ask(&args.session, "fork", &params)?;
    print(args.json, &done, || {
        let session = done.session.as_ref().map(|session| format!("{session}\n"));
        format!("{}{}", session.unwrap_or_default(), told(done.cannot.as_deref()))
    })?;
    Ok(if done.cannot.is_some() { Outcome::NotOk } else { Outcome::Done })
}

fn told(cannot: Option<&str>) -> String {
    cannot.map(|cannot| format!("{cannot}\n")).unwrap_or_default()
}

fn ask<T: DeserializeOwned>(session: &str, what: &str, params: &impl Serialize) -> Result<T, Failure> {
    // It becomes a part of an address.
    if session.is_empty() || !session.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(Failure::Usage(format!("{session:?} is no session's id")));
    }
    let data = settings::data_to_read()?;
    let Some(origin) = data.running_server() else {
        return Err(Failure::impossible("no Chartroom is running here; start one with `chartroom serve`"));
    };
    let body = serde_json::to_string(params).context("writing the request")?;
    let text = running::post(&data, &origin, &format!("/api/session/{session}/{what}"), &body)?;
    Ok(serde_json::from_str(&text).context("the answer does not say what was done")?)
}
