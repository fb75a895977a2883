//! The first touch of a project, from the start of everything to the first error: through Chartroom, and from the bare
//! server, in turn.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::bare::Bare;
use super::ours::Ours;
use super::{Client, Subject, pause, project, subjects};
use crate::measurement::{Measurement, median_ms};

const ROUNDS: usize = 9;
const AIM: &str = "1.1× the bare server";

/// Measures every server.
pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let tools = PathBuf::from(std::env::var_os("CHARTROOM_TEST_TOOLS").context("run `cargo xtask bench`")?);
    subjects().map(|subject| of(subject, &tools)).collect()
}

fn of(subject: &Subject, tools: &Path) -> anyhow::Result<Measurement> {
    let folder = project(subject, tools)?;
    let root = folder.path().canonicalize().context("resolving the project")?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        bare.push(first_error(subject, round, || Bare::start(subject, &root, tools))?);
        // A service and a server of their own each time: the data folder is a new one.
        let home = tempfile::tempdir().context("making a home folder")?;
        // That the user trusts the folder was said before.
        let config = Ours::trust(&root, home.path(), "")?;
        ours.push(first_error(subject, round, || Ours::start_trusted(subject, &root, home.path(), &config))?);
    }
    let name = format!("{}: first touch, cold, median of {ROUNDS}", subject.name);
    let measurement = Measurement::new(&name, median_ms(&mut ours), "ms");
    Ok(measurement.beside("the bare server", median_ms(&mut bare)).aim(AIM))
}

fn first_error<C: Client>(
    subject: &Subject,
    round: usize,
    start: impl FnOnce() -> anyhow::Result<C>,
) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let limit = began + Duration::from_secs(120);
    let mut client = start().with_context(|| format!("starting {}", subject.name))?;
    let text = subject.broken.replace('N', &round.to_string());
    // A cold server may say "clean" before it has looked.
    while !client.check(&text)? {
        anyhow::ensure!(Instant::now() < limit, "{} finds no error", subject.name);
        pause();
    }
    Ok(began.elapsed())
}
