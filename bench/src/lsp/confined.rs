//! What the sandbox costs at the start of a language server: the first touch of a project with it, as by default, and
//! without, in turn.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::ours::Ours;
use super::{Client as _, Subject, pause, project};
use crate::measurement::{Measurement, median_ms};

const ROUNDS: usize = 9;
const WITHOUT: &str = "[sandbox]\nlanguageServers = \"off\"\n";

pub(super) fn start(subject: &Subject, tools: &Path) -> anyhow::Result<Measurement> {
    let folder = project(subject, tools)?;
    let root = folder.path().canonicalize().context("resolving the project")?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for (sandbox, times) in [("", &mut with), (WITHOUT, &mut without)] {
            times.push(first_touch(subject, &root, sandbox, round)?);
        }
    }
    let name = format!("{}: first touch in the sandbox, median of {ROUNDS}", subject.name);
    Ok(Measurement::new(&name, median_ms(&mut with), "ms")
        .beside("without a sandbox", median_ms(&mut without)))
}

/// A service and a server of their own each time: the data folder is a new one.
fn first_touch(subject: &Subject, root: &Path, sandbox: &str, round: usize) -> anyhow::Result<Duration> {
    let home = tempfile::tempdir().context("making a home folder")?;
    let mut ours = Ours::start_in(subject, root, home.path(), sandbox)?;
    let began = Instant::now();
    let limit = began + Duration::from_secs(120);
    let text = subject.broken.replace('N', &round.to_string());
    while !ours.check(&text)? {
        anyhow::ensure!(Instant::now() < limit, "{} finds no error", subject.name);
        pause();
    }
    Ok(began.elapsed())
}
