//! A server that nobody uses: how soon it listens, and how much memory it holds.
//!
//! Start-up is the time from spawn to the ready line, beside a shell that prints a line: what is above it is ours.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::measurement::{Measurement, median_ms};

const ROUNDS: usize = 20;
const TOKEN: &str = "a-token-of-the-benchmark";

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let program = server_program()?;
    let (mut ours, mut shell, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    let home = tempfile::tempdir().context("making a home folder")?;
    // The first start makes the data folder and warms the file cache; it is measured on its own.
    let (first, _) = start_once(&program, home.path())?;
    for _ in 0..ROUNDS {
        shell.push(start_shell()?);
        let (elapsed, resident) = start_once(&program, home.path())?;
        ours.push(elapsed);
        memory.push(resident);
    }
    memory.sort_unstable();
    let resident = memory.get(memory.len() / 2).copied().unwrap_or_default();
    let shell = median_ms(&mut shell);
    Ok(vec![
        Measurement::new("start to listening, median", median_ms(&mut ours), "ms")
            .beside("sh -c 'echo ready'", shell)
            .aim("100 ms"),
        Measurement::new("first start with an empty data folder", first.as_secs_f64() * 1000.0, "ms")
            .beside("sh -c 'echo ready'", shell),
        Measurement::new("idle memory after one request (RSS)", resident as f64 / 1024.0, "MB").aim("40 MB"),
    ])
}

/// The binary that was built beside this one.
fn server_program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("finding this program")?;
    let program = own.with_file_name("chartroom");
    anyhow::ensure!(program.exists(), "{} is missing; run `cargo xtask bench`", program.display());
    Ok(program)
}

/// Starts the server, waits for its line, asks once, and returns the time to the line and the memory in KiB.
fn start_once(program: &Path, home: &Path) -> anyhow::Result<(Duration, u64)> {
    let mut command = command(program);
    command
        .args(["serve", "--port", "0"])
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("CHARTROOM_HOME", home.join("data"))
        .env("CHARTROOM_TOKEN", TOKEN);
    let (elapsed, mut child, line) = first_line(command)?;
    let measured = line
        .split_once("http://")
        .and_then(|(_, link)| link.split('/').next())
        .context("the server printed no link")
        .and_then(ask)
        .and_then(|()| resident_kib(child.id()));
    child.kill().context("ending the server")?;
    child.wait().context("waiting for the server")?;
    Ok((elapsed, measured?))
}

fn start_shell() -> anyhow::Result<Duration> {
    let mut command = command(Path::new("/bin/sh"));
    command.args(["-c", "echo ready"]).env_clear();
    let (elapsed, mut child, _) = first_line(command)?;
    child.wait().context("waiting for the shell")?;
    Ok(elapsed)
}

fn first_line(mut command: Command) -> anyhow::Result<(Duration, Child, String)> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting")?;
    let stdout = child.stdout.take().context("stdout is piped")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).context("reading the first line")?;
    Ok((started.elapsed(), child, line))
}

fn ask(host: &str) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(host).context("connecting")?;
    let request = format!(
        "GET /api/health HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).context("asking")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).context("reading the answer")?;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 200"), "the server answered {answer}");
    Ok(())
}

fn resident_kib(pid: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).context("reading its memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    line.trim().trim_end_matches(" kB").trim().parse().context("VmRSS is a number")
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts programs as a shell would")]
fn command(program: &Path) -> Command {
    Command::new(program)
}
