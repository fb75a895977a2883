//! The index on a large Python project: cold, unchanged, one file changed, searched; beside ripgrep and semble.
//!
//! Everything runs through the library, without a server, so that the figures are those of the index itself. Growth is
//! shown on one, four and sixteen copies of the sources.

mod million;
mod watched;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_search::embed::{Embedder, StaticWords};
use chartroom_search::intake::changes_of;
use chartroom_search::parser::InProcess;
use chartroom_search::request::SearchRequest;
use chartroom_search::scan::{ScanOptions, ScannedFile};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::{FileChange, GenerationWriter, Manifest, VectorStore};
use chartroom_search::{chunk, rank, scan};

use crate::measurement::{Measurement, median_ms};

const BATCH_FILES: usize = 128;
const SEARCHES: usize = 40;
pub(crate) const GROWTH: [usize; 3] = [1, 4, 16];

pub(crate) const SHORT: &[&str] = &[
    "QuerySet",
    "get_object_or_404",
    "where is the session cookie age checked",
    "how are migrations ordered",
    "csrf token",
    "who uses force_str",
];

/// What `cargo xtask bench` runs.
pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let work = tempfile::tempdir().context("making a folder for the copies")?;
    let sources = sources()?;
    let mut measurements = Vec::new();
    // A quick look on a loaded machine: `CHARTROOM_BENCH_COPIES=1`.
    let most = std::env::var("CHARTROOM_BENCH_COPIES").ok().and_then(|copies| copies.parse().ok());
    for copies in GROWTH.into_iter().filter(|copies| *copies <= most.unwrap_or(usize::MAX)) {
        let root = work.path().join(format!("copies-{copies}"));
        let (files, bytes) = copy_python(&sources, &root, copies)?;
        let corpus = Corpus::index(&root, &work.path().join(format!("data-{copies}")))?;
        let named = |what: &str, value: f64, unit: &'static str| {
            Measurement::new(&format!("{what}, {files} files"), value, unit)
        };
        // These aims are for a corpus of one copy; the larger ones show how it grows.
        let row = |what: &str, value: f64, unit: &'static str, aim: &'static str| {
            let row = named(what, value, unit);
            if copies == 1 { row.aim(aim) } else { row }
        };
        let mut cold =
            row("cold index", corpus.cold.as_secs_f64() * 1000.0, "ms", "4000 ms, a fifth of semble");
        if copies == 1
            && let Some(semble) = semble(&root)
        {
            cold = cold.beside("semble", semble);
        }
        measurements.push(cold);
        let size = row("index size", corpus.size()? as f64 / 1e6, "MB", "under 2×");
        measurements.push(size.beside("the source", bytes as f64 / 1e6));
        measurements.push(row("no-change sync", corpus.unchanged()?, "ms", "100 ms"));
        measurements.push(row("one changed file until it is found", corpus.changed()?, "ms", "100 ms"));
        measurements
            .push(named("one file seen changing until it is found", corpus.seen()?, "ms").aim("80 ms"));
        let (median, worst) = corpus.search(SHORT)?;
        let mut short = named("search, short query, median", median, "ms").aim("8 ms");
        if let Some(ripgrep) = ripgrep(&root) {
            short = short.beside("rg -c csrf", ripgrep);
        }
        measurements.push(short);
        measurements.push(row("search, short query, p99", worst, "ms", "40 ms"));
        let long = long_query(&sources)?;
        let (median, worst) = corpus.search(&[long.as_str()])?;
        measurements.push(named("search, 2000 characters, median", median, "ms").aim("8 ms"));
        measurements.push(row("search, 2000 characters, p99", worst, "ms", "40 ms"));
        let watched = watched::measure(&root, &work.path().join(format!("watched-{copies}")))?;
        let what = "no-change sync and search of a watched folder";
        measurements.push(named(what, watched.unchanged, "ms").aim("60 ms"));
        let what = "one file written until a search of a watched folder finds it";
        measurements.push(named(what, watched.changed, "ms").aim("80 ms"));
        let what = "one new file until a search of a watched folder finds it";
        measurements.push(named(what, watched.created, "ms").aim("80 ms"));
        if copies == 1 {
            let embedded =
                Measurement::new("chunks embedded in a second, one thread", embedded(&root)?, "chunks");
            measurements.push(embedded.aim("15000 or more"));
            measurements.push(Measurement::new("peak memory (RSS)", memory_mb("VmHWM:"), "MB").aim("300 MB"));
        }
    }
    Ok(measurements)
}

/// The memory of a process that searches a million chunks.
pub(crate) use million::{COMMAND as MILLION_COMMAND, run as run_million, write as write_million};

/// An indexed folder.
struct Corpus {
    root: PathBuf,
    data: PathBuf,
    key: String,
    store: SqliteStore,
    cold: Duration,
}

impl Corpus {
    fn index(root: &Path, data: &Path) -> anyhow::Result<Self> {
        let store = SqliteStore::open(data)?;
        let key = root.display().to_string();
        let started = Instant::now();
        let options = ScanOptions { new_by_name: true, ..ScanOptions::default() };
        let scan = scan::scan(root, &Manifest::default(), &options)?;
        let mut writer = store.begin_generation(&key)?;
        for batch in scan.added.chunks(BATCH_FILES) {
            writer.apply(changes(root, batch)?)?;
        }
        writer.write_marker(&marker(&key)?)?;
        let id = writer.id();
        drop(writer);
        store.publish(&key, id)?;
        let cold = started.elapsed();
        Ok(Self { root: root.to_owned(), data: data.to_owned(), key, store, cold })
    }

    fn writer(&self) -> anyhow::Result<Box<dyn GenerationWriter>> {
        self.store.open_writer(&self.key)?.context("the index is not there")
    }

    fn sync(&self) -> anyhow::Result<usize> {
        let mut writer = self.writer()?;
        let scan = scan::scan(&self.root, &writer.manifest()?, &ScanOptions::default())?;
        let changed: Vec<ScannedFile> = scan.added.into_iter().chain(scan.modified).collect();
        if !changed.is_empty() {
            writer.apply(changes(&self.root, &changed)?)?;
        }
        Ok(changed.len())
    }

    fn unchanged(&self) -> anyhow::Result<f64> {
        let mut times = Vec::new();
        for _ in 0..10 {
            let started = Instant::now();
            anyhow::ensure!(self.sync()? == 0, "nothing had changed");
            times.push(started.elapsed());
        }
        Ok(median_ms(&mut times))
    }

    fn changed(&self) -> anyhow::Result<f64> {
        let file = self.root.join("copy-0/changed_by_the_benchmark.py");
        let mut times = Vec::new();
        for round in 0..10 {
            fs::write(&file, format!("def benchmark_marker_{round}():\n    return {round}\n"))?;
            let started = Instant::now();
            self.sync()?;
            let found = self.ask(&format!("benchmark_marker_{round}"))?;
            times.push(started.elapsed());
            anyhow::ensure!(found > 0, "the change is not found");
        }
        Ok(median_ms(&mut times))
    }

    /// As a server does it that watches the folder: only the file is looked at.
    fn seen(&self) -> anyhow::Result<f64> {
        let name = "copy-0/changed_by_the_benchmark.py";
        let mut times = Vec::new();
        for round in 0..10 {
            fs::write(self.root.join(name), format!("def seen_marker_{round}():\n    return {round}\n"))?;
            let started = Instant::now();
            let mut writer = self.writer()?;
            let stamp = writer.stamps(&[name])?.pop().flatten().context("the file is indexed")?;
            let scan =
                scan::scan_files(&self.root, vec![(name.to_owned(), stamp)], &[], &ScanOptions::default())?;
            anyhow::ensure!(scan.modified.len() == 1, "the change is not seen");
            writer.apply(changes(&self.root, &scan.modified)?)?;
            drop(writer);
            let found = self.ask(&format!("seen_marker_{round}"))?;
            times.push(started.elapsed());
            anyhow::ensure!(found > 0, "the change is not found");
        }
        Ok(median_ms(&mut times))
    }

    fn ask(&self, query: &str) -> anyhow::Result<usize> {
        let reader = self.store.open_reader(&self.key)?.context("the index is not there")?;
        Ok(rank::search(&*reader, &StaticWords::built_in()?, &request(&self.key, query))?.results.len())
    }

    /// The median and the 99th percentile, warm.
    fn search(&self, queries: &[&str]) -> anyhow::Result<(f64, f64)> {
        for query in queries {
            self.ask(query)?;
        }
        let mut times = Vec::new();
        for query in queries.iter().cycle().take(SEARCHES * queries.len()) {
            let started = Instant::now();
            self.ask(query)?;
            times.push(started.elapsed());
        }
        let median = median_ms(&mut times);
        let worst = times.get(times.len() * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
        Ok((median, worst))
    }

    fn size(&self) -> anyhow::Result<u64> {
        folder_size(&self.data)
    }
}

fn request(root: &str, query: &str) -> SearchRequest {
    SearchRequest {
        root: root.to_owned(),
        below: None,
        query: query.to_owned(),
        ask: Default::default(),
        scope: Default::default(),
        result_mode: Default::default(),
        group_by: Default::default(),
        ranking_mode: Default::default(),
        history: None,
        changed_files: Default::default(),
        limit: 10,
        debug: false,
        now_ms: 0,
    }
}

fn changes(root: &Path, files: &[ScannedFile]) -> anyhow::Result<Vec<FileChange>> {
    Ok(changes_of(&InProcess::default(), &StaticWords::built_in()?, root, files, &[])?.changes)
}

/// How many chunks one thread embeds in a second.
fn embedded(root: &Path) -> anyhow::Result<f64> {
    let scan = scan::scan(root, &Manifest::default(), &ScanOptions::default())?;
    let mut texts = Vec::new();
    for file in scan.added.iter().take(1000) {
        let text = fs::read_to_string(root.join(&file.rel_path)).unwrap_or_default();
        texts.extend(chunk::parse_file(&file.rel_path, &text).chunks.iter().map(chunk::embedded_text));
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = StaticWords::built_in()?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        anyhow::ensure!(embedder.embed(&texts)?.len() == texts.len(), "a vector for each chunk");
        times.push(started.elapsed());
    }
    Ok(texts.len() as f64 * 1000.0 / median_ms(&mut times))
}

fn marker(root: &str) -> anyhow::Result<chartroom_search::store::MarkerDoc> {
    use chartroom_search::store::{Fingerprint, MarkerDoc};
    let embedder = StaticWords::built_in()?;
    Ok(MarkerDoc {
        kind: MarkerDoc::KIND.to_owned(),
        codebase_path: root.to_owned(),
        fingerprint: Fingerprint {
            embedding_provider: embedder.provider().to_owned(),
            embedding_model: embedder.model().to_owned(),
            embedding_dimension: 256,
            vector_store_provider: "embedded".to_owned(),
            schema_version: "hybrid_v3".to_owned(),
        },
        indexed_files: 0,
        total_chunks: 0,
        completed_at: "2026-01-01T00:00:00Z".to_owned(),
        run_id: "run_bench".to_owned(),
    })
}

fn tools() -> PathBuf {
    std::env::var_os("CHARTROOM_TEST_TOOLS").map_or_else(|| PathBuf::from("target/test-tools"), PathBuf::from)
}

/// Django's sources, as `cargo xtask tools` puts them.
pub(crate) fn sources() -> anyhow::Result<PathBuf> {
    let folder = tools().join("sources");
    let entries = fs::read_dir(&folder)
        .with_context(|| format!("{} is missing; run `cargo xtask tools`", folder.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("django"))
        })
        .collect();
    found.sort();
    found
        .pop()
        .with_context(|| format!("there is no django in {}; run `cargo xtask tools`", folder.display()))
}

/// Copies the Python files so many times; gives their number and bytes.
pub(crate) fn copy_python(from: &Path, to: &Path, copies: usize) -> anyhow::Result<(usize, u64)> {
    let (mut count, mut bytes) = (0, 0);
    let mut pending = vec![from.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                for copy in 0..copies {
                    let target = to.join(format!("copy-{copy}")).join(path.strip_prefix(from)?);
                    fs::create_dir_all(target.parent().context("a file has a folder")?)?;
                    bytes += fs::copy(&path, &target)?;
                    count += 1;
                }
            }
        }
    }
    Ok((count, bytes))
}

/// The text of a page of the sources, as an issue would quote it.
fn long_query(sources: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(sources.join("django/contrib/sessions/middleware.py"))?;
    Ok(text.chars().take(2000).collect())
}

fn folder_size(folder: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let stat = entry.metadata()?;
        size += if stat.is_dir() { folder_size(&entry.path())? } else { stat.len() };
    }
    Ok(size)
}

/// A line of what the system says of this process's memory.
fn memory_mb(line: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap_or_default();
    let kib: f64 = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
    kib / 1024.0
}

/// The time of one ripgrep over the folder, in milliseconds.
fn ripgrep(root: &Path) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        command("rg").args(["-c", "csrf"]).arg(root).output().ok()?;
        times.push(started.elapsed());
    }
    Some(median_ms(&mut times))
}

/// The time semble takes to index the folder, in milliseconds, when it is installed. The script says what is measured.
fn semble(root: &Path) -> Option<f64> {
    let python = tools().join("semble/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("index_with_semble.py");
    // Its cache would make the second run another benchmark.
    let home = tempfile::tempdir().ok()?;
    let done = command(python).arg(script).arg(root).env("HOME", home.path()).output().ok()?;
    if !done.status.success() {
        eprintln!("semble: {}", String::from_utf8_lossy(&done.stderr));
    }
    String::from_utf8_lossy(&done.stdout).trim().parse().ok()
}

#[allow(clippy::disallowed_methods, reason = "a benchmark starts its peers itself")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
