//! A repository of hostile files is added, indexed and searched: how soon the server answers something else meanwhile, and
//! what it takes, beside a repository of as many ordinary files.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_testkit::hostile_files;
use serde_json::json;

use crate::measurement::{Measurement, median_ms, p99_ms};
use crate::server::{Server, peak_kib};

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(5);
/// Between two looks at the build.
const POLL: Duration = Duration::from_millis(20);
/// A build that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(300);
const SEARCHES: usize = 20;

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let mut benign = measure(|folder| {
        for number in 0..50 {
            let text =
                format!("def function_{number}(value):\n    return value + {number}\n\n").repeat(1_000);
            std::fs::write(folder.join(format!("ordinary{number}.py")), text).context("writing a file")?;
        }
        Ok(())
    })?;
    let mut hostile = measure(|folder| {
        anyhow::ensure!(hostile_files::plant(folder) >= 50, "too few files");
        Ok(())
    })?;
    let beside = "50 ordinary files";
    Ok(vec![
        Measurement::new(
            "hostile repository: an answer while it is added, indexed and searched, median",
            median_ms(&mut hostile.answers),
            "ms",
        )
        .beside(beside, median_ms(&mut benign.answers)),
        Measurement::new("hostile repository: the same, p99", p99_ms(&mut hostile.answers), "ms")
            .beside(beside, p99_ms(&mut benign.answers))
            .aim("100 ms"),
        Measurement::new(
            "hostile repository: the server's memory above idle at its peak",
            hostile.memory_mb,
            "MB",
        )
        .beside(beside, benign.memory_mb)
        .aim("300 MB"),
        Measurement::new("hostile repository: all of it", hostile.took.as_secs_f64() * 1000.0, "ms")
            .beside(beside, benign.took.as_secs_f64() * 1000.0),
    ])
}

struct Measured {
    answers: Vec<Duration>,
    memory_mb: f64,
    took: Duration,
}

fn measure(fill: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<Measured> {
    let server = Server::start("")?;
    let home = tempfile::tempdir().context("making a repository")?;
    let folder = home.path().canonicalize()?.join("repository");
    std::fs::create_dir(&folder).context("making a repository")?;
    std::fs::write(folder.join("good.py"), "def good_function():\n    return 1\n")?;
    fill(&folder)?;
    server.get("/api/health")?;
    let idle = peak_kib(server.pid())?;
    let done = AtomicBool::new(false);
    let began = Instant::now();
    let (answers, worked) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&server, &done));
        let worked = work(&server, &folder);
        done.store(true, Ordering::Release);
        (asking.join(), worked)
    });
    let took = began.elapsed();
    worked?;
    let answers = answers.map_err(|_| anyhow::anyhow!("asking panicked"))??;
    let memory_mb = peak_kib(server.pid())?.saturating_sub(idle) as f64 / 1024.0;
    Ok(Measured { answers, memory_mb, took })
}

/// Asks for something small until the work is done.
fn ask(server: &Server, done: &AtomicBool) -> anyhow::Result<Vec<Duration>> {
    let mut answers = Vec::new();
    while !done.load(Ordering::Acquire) {
        let asked = Instant::now();
        server.get("/api/health")?;
        answers.push(asked.elapsed());
        pause(PAUSE);
    }
    Ok(answers)
}

fn work(server: &Server, folder: &Path) -> anyhow::Result<()> {
    server.post("/api/project", &json!({ "path": folder }))?;
    server.post("/api/index/manage", &json!({ "action": "create", "path": folder }))?;
    let began = Instant::now();
    loop {
        let status = server.post("/api/index/manage", &json!({ "action": "status", "path": folder }))?;
        match status["status"].as_str() {
            Some("not_ready") if began.elapsed() < LIMIT => pause(POLL),
            Some("ok") => break,
            _ => anyhow::bail!("the index is not built: {status}"),
        }
    }
    for _ in 0..SEARCHES {
        let found = server.post("/api/index/search", &json!({ "path": folder, "query": "good_function" }))?;
        anyhow::ensure!(found["results"][0]["file"] == "good.py", "the search answered {found}");
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the pace of the questions is part of the measurement")]
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
