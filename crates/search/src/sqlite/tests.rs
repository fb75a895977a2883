//! The store against its contract.

mod callbacks;
mod closures;
mod copies;
mod damage;
mod dispatch;
mod families;
mod graph;
mod places;
mod receivers;
mod resolution;
mod sequences;

use std::path::Path;

use crate::chunk::parse_file;
use crate::embed::{Embedder, StaticWords};
use crate::sqlite::SqliteStore;
use crate::store::{
    Among, FileChange, FileRecord, FileStamp, Fingerprint, GenerationReader, GenerationWriter, LexicalField,
    LexicalTerm, MarkerDoc, VectorStore,
};

pub(super) const ROOT: &str = "/repo";

pub(super) fn put(path: &str, text: &str) -> FileChange {
    let parsed = parse_file(path, text);
    let texts: Vec<&str> = parsed.chunks.iter().map(|chunk| chunk.content.as_str()).collect();
    let vectors = StaticWords::built_in().unwrap().embed(&texts).unwrap();
    FileChange::Put(Box::new(FileRecord {
        rel_path: path.to_owned(),
        stamp: stamp(text),
        chunks: parsed.chunks,
        vectors,
        symbols: parsed.symbols,
        facts: parsed.facts,
    }))
}

pub(super) fn stamp(text: &str) -> FileStamp {
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    FileStamp { hash, size: text.len() as u64, mtime_ns: 1, ctime_ns: 1 }
}

pub(super) fn marker() -> MarkerDoc {
    MarkerDoc {
        kind: MarkerDoc::KIND.to_owned(),
        codebase_path: ROOT.to_owned(),
        fingerprint: Fingerprint {
            embedding_provider: "static".into(),
            embedding_model: "code-words-256-v1".into(),
            embedding_dimension: 256,
            vector_store_provider: "embedded".into(),
            schema_version: "hybrid_v3".into(),
        },
        indexed_files: 1,
        total_chunks: 1,
        completed_at: "2026-11-15T00:00:00Z".into(),
        run_id: "run_1".into(),
    }
}

/// A published generation of these files.
pub(super) fn published(data: &Path, files: &[(&str, &str)]) -> SqliteStore {
    let store = SqliteStore::open(data).unwrap();
    let mut writer = store.begin_generation(ROOT).unwrap();
    writer.apply(files.iter().map(|(path, text)| put(path, text)).collect()).unwrap();
    writer.write_marker(&marker()).unwrap();
    store.publish(ROOT, writer.id()).unwrap();
    store
}

pub(super) fn reader(store: &SqliteStore) -> Box<dyn GenerationReader> {
    store.open_reader(ROOT).unwrap().expect("a published generation")
}

pub(super) fn writer(store: &SqliteStore) -> Box<dyn GenerationWriter> {
    store.open_writer(ROOT).unwrap().expect("a published generation")
}

/// The files that the word is found in, best first.
pub(super) fn find(store: &SqliteStore, word: &str) -> Vec<String> {
    let reader = reader(store);
    let term = LexicalTerm { text: word.to_owned(), field: LexicalField::Content, weight: 1.0 };
    let scored = reader.lexical(&[term], 10).unwrap();
    let ids: Vec<String> = scored.into_iter().map(|hit| hit.chunk_id).collect();
    reader.chunks(&ids).unwrap().into_iter().map(|stored| stored.chunk.rel_path).collect()
}

#[test]
fn what_was_put_is_read_back_found_and_counted() {
    let data = tempfile::tempdir().unwrap();
    let text = "def parse_header(line):\n    return line.split(':')\n";
    let store = published(data.path(), &[("a.py", text), ("b.py", "def other(): pass\n")]);
    let reader = reader(&store);
    let expected = parse_file("a.py", text);
    let chunks: Vec<_> = reader.chunks_in("a.py").unwrap().into_iter().map(|stored| stored.chunk).collect();
    assert_eq!(chunks, expected.chunks);
    assert_eq!(reader.symbols_in("a.py").unwrap(), expected.symbols);
    assert_eq!(reader.symbol(&expected.symbols[0].symbol_id).unwrap().as_ref(), Some(&expected.symbols[0]));
    assert_eq!(reader.symbols_named("parse_header").unwrap(), expected.symbols);
    assert_eq!(reader.manifest().unwrap().files["a.py"], stamp(text));
    let counts = reader.counts().unwrap();
    assert_eq!((counts.files, counts.chunks, counts.symbols, counts.edges), (2, 2, 2, 1));
    assert_eq!(find(&store, "header"), ["a.py"]);
    let query = StaticWords::built_in().unwrap().embed_query("parse the header line").unwrap();
    assert_eq!(reader.dense(&query, 1).unwrap()[0].chunk_id, chunks[0].id);
    let others = reader.dense_in(&query, 1, &Among::paths(&|path| path != "a.py")).unwrap();
    assert_eq!(others.iter().map(|(_, path)| path.as_str()).collect::<Vec<_>>(), ["b.py"]);
    assert_eq!(store.read_marker(ROOT).unwrap(), Some(serde_json::to_value(marker()).unwrap()));
    assert_eq!(store.roots().unwrap(), [ROOT]);
}

#[test]
fn a_sync_is_seen_by_the_next_reader_and_not_by_the_last() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "def first(): pass\n")]);
    let before = reader(&store);
    let mut sync = writer(&store);
    sync.apply(vec![put("a.py", "def second(): pass\n"), put("b.py", "def third(): pass\n")]).unwrap();
    drop(sync);
    assert_eq!(before.symbols_named("second").unwrap(), []);
    assert_eq!(find(&store, "first"), Vec::<String>::new());
    assert_eq!(find(&store, "second"), ["a.py"]);
    assert_eq!(find(&store, "third"), ["b.py"]);
    let mut sync = writer(&store);
    sync.apply(vec![FileChange::Remove("a.py".into()), FileChange::Remove("never.py".into())]).unwrap();
    drop(sync);
    assert_eq!(find(&store, "second"), Vec::<String>::new());
    assert_eq!(reader(&store).manifest().unwrap().files.into_keys().collect::<Vec<_>>(), ["b.py"]);
}

#[test]
fn another_process_sees_what_this_one_writes() {
    let data = tempfile::tempdir().unwrap();
    let ours = published(data.path(), &[("a.py", "def first(): pass\n")]);
    // A store of its own has its own connections and snapshots, as another process would.
    let theirs = SqliteStore::open(data.path()).unwrap();
    assert_eq!(find(&theirs, "first"), ["a.py"]);
    let mut sync = writer(&ours);
    sync.apply(vec![put("b.py", "def second(): pass\n")]).unwrap();
    // Before the writer has brought the word index up to date: the reader does it.
    assert_eq!(find(&theirs, "second"), ["b.py"]);
    drop(sync);
    assert_eq!(find(&theirs, "second"), ["b.py"]);
    assert_eq!(find(&ours, "second"), ["b.py"]);
}

#[test]
fn a_snapshot_from_long_ago_is_brought_up_to_date() {
    let data = tempfile::tempdir().unwrap();
    let ours = published(data.path(), &[("a.py", "def first(): pass\n"), ("gone.py", "def gone(): pass\n")]);
    let theirs = SqliteStore::open(data.path()).unwrap();
    assert_eq!(reader(&theirs).symbols_named("gone").unwrap().len(), 1);
    let mut sync = writer(&ours);
    sync.apply(vec![FileChange::Remove("gone.py".into())]).unwrap();
    // More changes than are listed.
    for round in 0..600 {
        sync.apply(vec![put("a.py", &format!("def round_{round}(): pass\n"))]).unwrap();
    }
    drop(sync);
    for store in [&theirs, &ours] {
        let reader = reader(store);
        assert_eq!(reader.symbols_named("gone").unwrap(), []);
        assert_eq!(reader.symbols_named("round_598").unwrap(), []);
        assert_eq!(reader.symbols_named("round_599").unwrap().len(), 1);
        assert_eq!(reader.chunks_in("gone.py").unwrap(), []);
        assert_eq!(find(store, "599"), ["a.py"]);
        assert_eq!(find(store, "gone"), Vec::<String>::new());
    }
}

#[test]
fn the_old_generation_answers_until_the_new_one_is_published() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "def old(): pass\n")]);
    let mut rebuild = store.begin_generation(ROOT).unwrap();
    rebuild.apply(vec![put("a.py", "def new(): pass\n")]).unwrap();
    assert_eq!(find(&store, "old"), ["a.py"]);
    rebuild.write_marker(&marker()).unwrap();
    let id = rebuild.id();
    drop(rebuild);
    assert_eq!(find(&store, "old"), ["a.py"]);
    store.publish(ROOT, id).unwrap();
    assert_eq!(find(&store, "new"), ["a.py"]);
    assert_eq!(find(&store, "old"), Vec::<String>::new());
}

#[test]
fn what_a_killed_rebuild_left_is_dropped_and_nothing_else() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "def old(): pass\n")]);
    let mut left = store.begin_generation(ROOT).unwrap();
    left.apply(vec![put("a.py", "def new(): pass\n")]).unwrap();
    drop(left);
    store.drop_unfinished(ROOT).unwrap();
    assert_eq!(find(&store, "old"), ["a.py"]);
    let folder = std::fs::read_dir(data.path().join("index")).unwrap().next().unwrap().unwrap().path();
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().contains("generation-2")), "{names:?}");
}

#[test]
fn a_dropped_root_is_gone_and_dropping_it_again_is_fine() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "x = 1\n")]);
    store.drop_root(ROOT).unwrap();
    store.drop_root(ROOT).unwrap();
    assert!(store.open_reader(ROOT).unwrap().is_none());
    assert_eq!(store.read_marker(ROOT).unwrap(), None);
    assert_eq!(store.roots().unwrap(), Vec::<String>::new());
}

#[test]
fn unchanged_text_keeps_its_vector_wherever_it_moves() {
    let data = tempfile::tempdir().unwrap();
    let text = "def keep(): pass\n";
    let store = published(data.path(), &[("a.py", text)]);
    let hash = parse_file("a.py", text).chunks[0].content_hash.clone();
    let mut sync = writer(&store);
    sync.apply(vec![FileChange::Remove("a.py".into())]).unwrap();
    let known = sync.known_vectors(&[&hash, "other"]).unwrap();
    assert_eq!(known.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_touched_file_changes_the_manifest_alone() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "x = 1\n")]);
    let before = reader(&store).payload_digest().unwrap();
    let mut touched = stamp("x = 1\n");
    touched.mtime_ns = 99;
    writer(&store).apply(vec![FileChange::Touch("a.py".into(), touched.clone())]).unwrap();
    assert_eq!(reader(&store).manifest().unwrap().files["a.py"], touched);
    assert_eq!(reader(&store).payload_digest().unwrap(), before);
}
