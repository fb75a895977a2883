//! A fleet on one server: generated projects, each with the collection, the alias and the marker of a generation, and
//! what a laptop's probe of one of them takes when there are few and when there are many.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_milvus::{Address, Columns, Kind, MilvusServer, Row, Server};
use chartroom_testkit::milvus::Lite;

use crate::measurement::{Measurement, median_ms};

/// Projects at each look.
const SIZES: [usize; 3] = [10, 100, 400];
const PROBES: usize = 50;

pub(super) fn run() -> anyhow::Result<Vec<Measurement>> {
    let work = tempfile::tempdir().context("making a folder for the server")?;
    let data = work.path().join("milvus");
    let lite = Lite::start(&data);
    let address = Address { uri: lite.address(), token: None, database: None, ca_file: None };
    let server = MilvusServer::new(address)?.with_patience(Duration::from_secs(60));
    let (mut rows, mut made) = (Vec::new(), 0);
    for size in SIZES {
        let mut times = Vec::new();
        while made < size {
            let started = Instant::now();
            make(&server, made)?;
            times.push(started.elapsed());
            made += 1;
        }
        let named = |what: &str, value: f64, unit: &'static str| {
            Measurement::new(&format!("team: {what}, {size} projects"), value, unit)
        };
        rows.push(named("making a generation, median", median_ms(&mut times), "ms"));
        let mut probes = Vec::new();
        for round in 0..PROBES {
            let started = Instant::now();
            let alias = alias(round * 7 % size);
            let found = server.get(Kind::Probe, &alias, &["marker".to_owned()], Columns::Data)?;
            anyhow::ensure!(found.len() == 1, "the marker of {alias} is gone");
            probes.push(started.elapsed());
        }
        rows.push(named("a probe, median", median_ms(&mut probes), "ms"));
        rows.push(named("a project's bytes on the server", bytes(&data)? as f64 / 1e3 / size as f64, "kB"));
    }
    Ok(rows)
}

fn alias(project: usize) -> String {
    format!("fleet_{project}")
}

/// What a share makes besides the files: a collection with its list of files and its marker, and the alias.
fn make(server: &MilvusServer, project: usize) -> anyhow::Result<()> {
    let collection = format!("fleet_{project}_g1");
    server.create(&collection, Row::NO_VECTOR)?;
    let list = "0123456789abcdef".repeat(3000);
    server.put(&collection, vec![Row::plain("files", list), Row::plain("marker", "{}")])?;
    anyhow::ensure!(server.claim(&alias(project), &collection)?, "the alias is taken");
    Ok(())
}

fn bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let stat = entry.metadata()?;
        size += if stat.is_dir() { bytes(&entry.path())? } else { stat.len() };
    }
    Ok(size)
}
