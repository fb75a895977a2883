//! What ten agents on one folder hold in memory: ten `chartroom mcp` with one language server, beside ten servers.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;

use super::bare::Bare;
use super::ours::Ours;
use super::{Client, Subject, project};
use crate::measurement::Measurement;

const AGENTS: usize = 10;

pub(super) fn of_ten_agents(subject: &Subject, tools: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = project(subject, tools)?;
    let root = folder.path().canonicalize().context("resolving the project")?;
    let home = tempfile::tempdir().context("making a home folder")?;
    let text = |n: usize| subject.broken.replace('N', &n.to_string());
    let (bare, n_bare) = {
        let mut servers = Vec::new();
        for n in 0..AGENTS {
            let mut server = Bare::start(subject, &root, tools)?;
            server.check(&text(n))?;
            servers.push(server);
        }
        let trees = below(servers.iter().map(Bare::pid).collect());
        (resident_mb(&trees), n_servers(&trees))
    };
    let mut agents = Vec::new();
    for n in 0..AGENTS {
        let mut agent = Ours::start(subject, &root, home.path())?;
        anyhow::ensure!(agent.check(&text(n))?, "agent {n} finds no error");
        agents.push(agent);
    }
    let trees = below(agents.iter().map(Ours::pid).collect());
    let (ours, n_ours) = (resident_mb(&trees), n_servers(&trees));
    Ok(vec![
        Measurement::new("ten agents on one folder, all processes (RSS)", ours, "MB")
            .beside("ten bare servers", bare),
        Measurement::new("ten agents on one folder, language servers", n_ours, "processes")
            .beside("ten bare servers", n_bare)
            .aim("1"),
    ])
}

/// These processes and everything below them.
fn below(mut pids: BTreeSet<u32>) -> BTreeSet<u32> {
    let all: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    loop {
        let n_before = pids.len();
        let found = all.iter().filter(|(_, parent)| pids.contains(parent)).map(|(pid, _)| *pid);
        let found: Vec<u32> = found.collect();
        pids.extend(found);
        if pids.len() == n_before {
            return pids;
        }
    }
}

fn resident_mb(pids: &BTreeSet<u32>) -> f64 {
    let of_one = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()
    };
    pids.iter().filter_map(of_one).sum::<f64>() / 1024.0
}

/// The language servers among them: a launcher and what it launched are one.
fn n_servers(pids: &BTreeSet<u32>) -> f64 {
    let is_server = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.contains(&&b"--lsp"[..]) && !words.contains(&&b"keeper"[..])
    };
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let servers: Vec<u32> = pids.iter().copied().filter(|pid| is_server(*pid)).collect();
    let first = servers.iter().filter(|pid| parent(**pid).is_none_or(|parent| !servers.contains(&parent)));
    first.count() as f64
}
