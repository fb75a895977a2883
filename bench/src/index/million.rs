//! The memory of a process that searches a million chunks, no two alike.
//!
//! They are made up, since no source of that size is at hand: what a chunk takes in memory does not depend on what it says.
//! They are written by another process, so that the peak is that of who searches.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use chartroom_search::embed::StaticWords;
use chartroom_search::rank;
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::{Chunk, FileChange, FileRecord, FileStamp, VectorStore};

use super::{marker, memory_mb, request};
use crate::measurement::{Measurement, median_ms};

pub(crate) const COMMAND: &str = "index-million-writer";
const ROOT: &str = "/made-up";
const FILES: u64 = 100_000;
const CHUNKS: u64 = 10;
const WORDS: [&str; 12] = [
    "session", "cookie", "token", "query", "filter", "render", "parse", "socket", "retry", "colour",
    "folder", "index",
];

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let data = tempfile::tempdir().context("making a folder")?;
    let program = std::env::current_exe()?;
    #[allow(clippy::disallowed_methods, reason = "a benchmark starts itself")]
    let written = Command::new(program).arg(COMMAND).arg(data.path()).status()?;
    anyhow::ensure!(written.success(), "the chunks were not written");
    let store = SqliteStore::open(data.path())?;
    let embedder = StaticWords::built_in()?;
    let mut times = Vec::new();
    for round in 0..30 {
        let query = match round % 3 {
            0 => "how is a cookie of the session parsed".to_owned(),
            1 => format!("word{}", round * 7919),
            _ => format!("retry of the socket fails {}", "with a token in the query filter ".repeat(60)),
        };
        let started = std::time::Instant::now();
        let reader = store.open_reader(ROOT)?.context("the index is not there")?;
        let found = rank::search(&*reader, &embedder, &request(ROOT, &query))?;
        anyhow::ensure!(!found.results.is_empty(), "nothing is found");
        // The first of each kind reads what the others find in memory.
        if round >= 3 {
            times.push(started.elapsed());
        }
    }
    Ok(vec![
        Measurement::new("memory after searches of a million chunks (RSS)", memory_mb("VmRSS:"), "MB")
            .aim("500 MB"),
        Measurement::new("of it the process's own, without mapped files", memory_mb("RssAnon:"), "MB"),
        Measurement::new("search of a million chunks, median", median_ms(&mut times), "ms"),
    ])
}

/// Writes them, into the folder that is the last argument.
pub(crate) fn write() -> anyhow::Result<()> {
    let data = std::env::args().next_back().context("a folder is named")?;
    let store = SqliteStore::open(Path::new(&data))?;
    let mut writer = store.begin_generation(ROOT)?;
    let mut numbers = Numbers(0x5eed);
    for batch in 0..FILES / 500 {
        writer.apply((0..500).map(|at| made_up(&mut numbers, batch * 500 + at)).collect())?;
    }
    writer.write_marker(&marker(ROOT)?)?;
    let id = writer.id();
    drop(writer);
    Ok(store.publish(ROOT, id)?)
}

fn made_up(numbers: &mut Numbers, file: u64) -> FileChange {
    let rel_path = format!("src/part{}/folder{}/file{file}.py", file % 50, file % 1000);
    let mut chunks = Vec::new();
    let mut vectors = Vec::new();
    for at in 0..u32::try_from(CHUNKS).unwrap_or(u32::MAX) {
        let mut content = String::new();
        for _ in 0..10 {
            let (word, rare) = (numbers.next(), numbers.next() % 200_000);
            content.push_str(WORDS[word as usize % WORDS.len()]);
            content.push_str(&format!(" = word{rare}(other_{})\n", word % 5000));
        }
        let hash = format!("{:016x}", file * CHUNKS + u64::from(at) + 1);
        let line = at * 10 + 1;
        chunks.push(Chunk {
            id: format!("chunk_{hash}"),
            rel_path: rel_path.clone(),
            start_line: line,
            end_line: line + 9,
            language: "python".to_owned(),
            content,
            breadcrumbs: Vec::new(),
            symbol_id: None,
            symbol_label: None,
            content_hash: hash,
        });
        vectors.push((0..256).map(|_| (numbers.next() % 2001) as f32 / 1000.0 - 1.0).collect());
    }
    let stamp = FileStamp { hash: chunks[0].content_hash.clone(), size: 1, mtime_ns: 1, ctime_ns: 1 };
    let symbols = Vec::new();
    FileChange::Put(Box::new(FileRecord {
        rel_path,
        stamp,
        chunks,
        vectors,
        symbols,
        facts: Default::default(),
    }))
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}
