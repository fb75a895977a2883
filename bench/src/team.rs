//! A team's index beside the embedded one, on a large Python project: shared, adopted, unchanged, one file changed,
//! searched; and the bytes that go over the wire. The server is the lite Milvus of the tests, on this machine.
//!
//! Growth is shown on one and four copies of the sources; `CHARTROOM_BENCH_COPIES=16` adds sixteen.

mod fleet;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_index::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_milvus::{Address, MilvusServer, TeamStore};
use chartroom_protocol::index::{
    IndexConfig, IndexStatus, ManageAction, ManageIndexParams, ManageIndexResponse, SearchCodebaseParams,
};
use chartroom_search::embed::StaticWords;
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore;
use chartroom_testkit::milvus::Lite;
use chartroom_testkit::proxy::Proxy;
use tokio::runtime::Runtime;

use crate::index::{GROWTH, SHORT, copy_python, sources};
use crate::measurement::{Measurement, median_ms, p99_ms};

const PROJECT: &str = "bench/django";
const ROUNDS: usize = 10;
const SEARCHES: usize = 40;
const EMBEDDED: &str = "embedded";

/// What `cargo xtask bench` runs.
pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let sources = sources()?;
    let mut measurements = Vec::new();
    let most = std::env::var("CHARTROOM_BENCH_COPIES").ok().and_then(|copies| copies.parse().ok());
    for copies in GROWTH.into_iter().filter(|copies| *copies <= most.unwrap_or(4)) {
        let work = tempfile::tempdir().context("making a folder for the copies")?;
        let root = work.path().join("copies");
        let (files, _) = copy_python(&sources, &root, copies)?;
        let lite = Lite::start(&work.path().join("milvus"));
        let proxy = Proxy::before(lite.port());
        measurements.extend(measure(work.path(), &root, files, &proxy)?);
    }
    measurements.extend(fleet::run()?);
    Ok(measurements)
}

fn measure(work: &Path, root: &Path, files: usize, proxy: &Proxy) -> anyhow::Result<Vec<Measurement>> {
    let mut rows = Vec::new();
    let named = |what: &str, value: f64, unit: &'static str| {
        Measurement::new(&format!("team: {what}, {files} files"), value, unit)
    };
    let alone = Machine::new(&work.join("alone"), root, None)?;
    let ci = Machine::new(&work.join("ci"), root, Some(proxy))?;
    let laptop = Machine::new(&work.join("laptop"), root, Some(proxy))?;

    let (embedded, _) = timed(proxy, || alone.create())?;
    let (shared, wire) = timed(proxy, || ci.share())?;
    rows.push(named("cold share", ms(shared), "ms").beside(EMBEDDED, ms(embedded)));
    rows.push(named("cold share, over the wire", megabytes(wire), "MB"));
    let (adopted, wire) = timed(proxy, || laptop.adopt())?;
    rows.push(named("adopt", ms(adopted), "ms").beside(EMBEDDED, ms(embedded)));
    rows.push(named("adopt, over the wire", megabytes(wire), "MB"));

    let (ours, wire) = repeated(proxy, |_| ci.sync())?;
    let (theirs, _) = repeated(proxy, |_| alone.sync())?;
    rows.push(named("no-change sync of who shares, median", ours, "ms").beside(EMBEDDED, theirs));
    rows.push(named("no-change sync, over the wire", wire / 1e3, "kB"));

    let changed = root.join("copy-0/changed_by_the_benchmark.py");
    let change = |name: &str, round: usize| {
        std::fs::write(&changed, format!("def {name}_{round}():\n    return {round}\n"))
            .map_err(anyhow::Error::from)
    };
    let (ours, wire) = repeated(proxy, |round| {
        change("shared_marker", round)?;
        ci.sync()
    })?;
    let (theirs, _) = repeated(proxy, |round| {
        change("alone_marker", round)?;
        alone.sync()
    })?;
    rows.push(named("one changed file until it is shared, median", ours, "ms").beside(EMBEDDED, theirs));
    rows.push(named("one changed file, over the wire", wire / 1e3, "kB"));

    let (ours, wire) = searches(proxy, &laptop)?;
    let (theirs, _) = searches(proxy, &alone)?;
    rows.push(named("search, short query, median", ours.0, "ms").beside(EMBEDDED, theirs.0));
    rows.push(named("search, short query, p99", ours.1, "ms").beside(EMBEDDED, theirs.1));
    rows.push(named("search, over the wire", wire / 1e3, "kB"));
    Ok(rows)
}

/// A data folder and the index service on it, with or without a server.
struct Machine {
    service: IndexService,
    runtime: Runtime,
    root: String,
}

impl Machine {
    fn new(data: &Path, root: &Path, server: Option<&Proxy>) -> anyhow::Result<Self> {
        std::fs::create_dir_all(data)?;
        let own = Arc::new(SqliteStore::open(data)?);
        let store: Arc<dyn VectorStore> = match server {
            None => own,
            Some(proxy) => {
                let address =
                    Address { uri: proxy.address(), token: None, database: None, ca_file: None::<PathBuf> };
                let server = MilvusServer::new(address)?.with_patience(Duration::from_secs(60));
                Arc::new(TeamStore::new(data, own, Arc::new(server)))
            }
        };
        let settings = IndexSettings {
            data: data.to_path_buf(),
            config: IndexConfig::default(),
            version: "bench".into(),
            long_running: false,
            git: GitProbe::none(),
            parser: Arc::new(chartroom_search::parser::InProcess::default()),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let service = IndexService::with_parts(settings, store, Arc::new(StaticWords::built_in()?))?;
        let root = root.canonicalize()?.to_str().context("the folder has a name in UTF-8")?.to_owned();
        Ok(Self { service, runtime, root })
    }

    fn create(&self) -> anyhow::Result<()> {
        ok(self.runtime.block_on(async {
            let started = self.service.manage(ManageIndexParams::new(ManageAction::Create, &self.root)).await;
            self.service.finish(started).await
        }))
    }

    fn share(&self) -> anyhow::Result<()> {
        ok(self.runtime.block_on(self.service.share(&self.root, Some(PROJECT))))
    }

    fn adopt(&self) -> anyhow::Result<()> {
        ok(self.runtime.block_on(self.service.adopt(&self.root, Some(PROJECT))))
    }

    /// A sync that was asked for, which shares where the machine shares.
    fn sync(&self) -> anyhow::Result<()> {
        let params = ManageIndexParams::new(ManageAction::Sync, &self.root);
        ok(self.runtime.block_on(self.service.manage(params)))
    }

    fn search(&self, query: &str) -> anyhow::Result<()> {
        let params: SearchCodebaseParams =
            serde_json::from_value(serde_json::json!({"path": self.root, "query": query}))?;
        let found = self.runtime.block_on(self.service.search(params));
        let found = found.map_err(|error| anyhow::anyhow!("{}", error.0))?;
        anyhow::ensure!(found.status == IndexStatus::Ok && !found.results.is_empty(), "{:?}", found.message);
        Ok(())
    }
}

fn ok(response: ManageIndexResponse) -> anyhow::Result<()> {
    anyhow::ensure!(response.status == IndexStatus::Ok, "{}", response.message);
    Ok(())
}

/// The time of some work, and the bytes that went over the wire meanwhile, in both directions.
fn timed(proxy: &Proxy, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<(Duration, f64)> {
    let sum = |(sent, received): (u64, u64)| (sent + received) as f64;
    let (before, started) = (sum(proxy.bytes()), Instant::now());
    work()?;
    Ok((started.elapsed(), sum(proxy.bytes()) - before))
}

/// The median time in milliseconds, and the bytes of one round.
fn repeated(proxy: &Proxy, mut work: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<(f64, f64)> {
    let (mut times, mut bytes) = (Vec::new(), 0.0);
    for round in 0..ROUNDS {
        let (time, wire) = timed(proxy, || work(round))?;
        times.push(time);
        bytes += wire;
    }
    Ok((median_ms(&mut times), bytes / ROUNDS as f64))
}

/// Median and 99th percentile, warm, and the bytes of one search.
fn searches(proxy: &Proxy, machine: &Machine) -> anyhow::Result<((f64, f64), f64)> {
    for query in SHORT {
        machine.search(query)?;
    }
    let (mut times, mut bytes) = (Vec::new(), 0.0);
    for query in SHORT.iter().cycle().take(SEARCHES * SHORT.len()) {
        let (time, wire) = timed(proxy, || machine.search(query))?;
        times.push(time);
        bytes += wire;
    }
    let n_searches = times.len() as f64;
    Ok(((median_ms(&mut times), p99_ms(&mut times)), bytes / n_searches))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn megabytes(bytes: f64) -> f64 {
    bytes / 1e6
}
