//! `chartroom doctor`: what was found, what is missing, and the command that mends it.

mod checks;
mod index;
mod language_servers;
mod sandbox;

use chartroom_protocol::doctor::{DoctorCheck as Check, DoctorReport, DoctorState as State};

use super::answer;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let checks = checks::all();
    let ok = checks.iter().all(|check| check.state != State::Wrong);
    if args.json {
        let report = DoctorReport { version: env!("CARGO_PKG_VERSION").to_owned(), ok, checks };
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| Failure::impossible(format!("the report cannot be written ({error})")))?;
        answer(&format!("{text}\n"))?;
    } else {
        answer(&checks.iter().map(line).collect::<String>())?;
    }
    Ok(if ok { Outcome::Done } else { Outcome::NotOk })
}

fn line(check: &Check) -> String {
    let state = match check.state {
        State::Ok => "ok",
        State::Missing => "missing",
        State::Untrusted => "untrusted",
        State::Wrong => "wrong",
    };
    let mut line = format!("{state:<9}  {:<6}  {}: {}\n", check.area, check.name, check.detail);
    if let Some(mend) = &check.mend {
        line.push_str(&format!("                   -> {mend}\n"));
    }
    line
}
