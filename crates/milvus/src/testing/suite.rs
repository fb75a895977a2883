//! One suite for every store: what the trait promises, over the embedded one, the team's on the model and the team's on a
//! real server (`real`).

use std::sync::Arc;

use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::team::{Binding, Role};
use chartroom_search::store::*;
use serde_json::json;

use super::model::Model;
use crate::store::TeamStore;

const ROOT: &str = "/repo";

fn record(path: &str, text: &str) -> FileRecord {
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    let chunk = Chunk {
        id: format!("chunk_{}", &blake3::hash(format!("{path}\n{text}").as_bytes()).to_hex()[..24]),
        rel_path: path.into(),
        start_line: 1,
        end_line: 1,
        language: "rust".into(),
        content: text.into(),
        breadcrumbs: Vec::new(),
        symbol_id: None,
        symbol_label: None,
        content_hash: hash.clone(),
    };
    FileRecord {
        rel_path: path.into(),
        stamp: FileStamp { hash, size: text.len() as u64, mtime_ns: 1, ctime_ns: 2 },
        chunks: vec![chunk],
        vectors: vec![vec![0.6, 0.8]],
        symbols: Vec::new(),
        facts: Default::default(),
    }
}

fn put(path: &str, text: &str) -> FileChange {
    FileChange::Put(Box::new(record(path, text)))
}

fn marker(store: &dyn VectorStore) -> MarkerDoc {
    MarkerDoc {
        kind: MarkerDoc::KIND.into(),
        codebase_path: ROOT.into(),
        fingerprint: Fingerprint {
            embedding_provider: "test".into(),
            embedding_model: "m".into(),
            embedding_dimension: 2,
            vector_store_provider: store.provider().into(),
            schema_version: "hybrid_v7".into(),
        },
        indexed_files: 1,
        total_chunks: 1,
        completed_at: "2026-01-01T00:00:00Z".into(),
        run_id: "run_1".into(),
    }
}

/// The suite. A store with a team shares what it publishes.
pub(super) fn suite(store: &dyn VectorStore) {
    let share = |marker: &MarkerDoc| {
        if let Some(team) = store.team() {
            team.share(ROOT, "suite", marker).unwrap();
            team.bind(ROOT, &Binding { project: "suite".into(), role: Role::Writer }).unwrap();
        }
    };
    // Nothing is there, and that is no error.
    assert_eq!(store.read_marker(ROOT), Ok(None));
    assert!(store.open_reader(ROOT).unwrap().is_none() && store.open_writer(ROOT).unwrap().is_none());
    assert_eq!(store.roots().unwrap(), [""; 0]);

    // A generation beside nothing is not seen until it is published.
    let mut writer = store.begin_generation(ROOT).unwrap();
    let applied = writer.apply(vec![put("a.rs", "fn alpha() {}"), put("b.rs", "fn beta() {}")]).unwrap();
    assert_eq!(applied.chunks_written, 2);
    writer.write_marker(&marker(store)).unwrap();
    assert_eq!(store.read_marker(ROOT), Ok(None), "it exists, which proves nothing");
    let first = writer.id();
    drop(writer);
    store.publish(ROOT, first).unwrap();
    share(&marker(store));
    let found = store.read_marker(ROOT).unwrap().unwrap();
    assert_eq!((&found["kind"], &found["codebasePath"]), (&json!(MarkerDoc::KIND), &json!(ROOT)));
    assert_eq!(store.roots().unwrap(), [ROOT]);

    // What was put comes back.
    let reader = store.open_reader(ROOT).unwrap().unwrap();
    let back = reader.record("a.rs").unwrap().unwrap();
    let (wanted, near) = (record("a.rs", "fn alpha() {}"), |a: &f32, b: &f32| (a - b).abs() < 0.01);
    assert_eq!((back.chunks, back.stamp, back.facts), (wanted.chunks, wanted.stamp, wanted.facts));
    assert!(back.vectors[0].iter().zip(&wanted.vectors[0]).all(|(a, b)| near(a, b)));
    assert!(reader.record("none.rs").unwrap().is_none());

    // A sync changes the published one: another version, a file that goes, the same bytes touched.
    let mut writer = store.open_writer(ROOT).unwrap().unwrap();
    let touched = FileStamp { mtime_ns: 9, ..record("a.rs", "fn alpha() {}").stamp };
    let changes = vec![
        FileChange::Touch("a.rs".into(), touched.clone()),
        FileChange::Remove("b.rs".into()),
        put("c.rs", "fn gamma() {}"),
    ];
    writer.apply(changes).unwrap();
    assert_eq!(writer.stamps(&["a.rs", "b.rs"]).unwrap(), [Some(touched), None]);
    let known = [record("", "fn gamma() {}"), record("", "fn unknown() {}")].map(|file| file.stamp.hash);
    let vectors = writer.known_vectors(&known.each_ref().map(String::as_str)).unwrap();
    assert!(vectors[0].is_some() && vectors[1].is_none());
    drop(writer);
    share(&marker(store));
    let reader = store.open_reader(ROOT).unwrap().unwrap();
    let files: Vec<String> = reader.manifest().unwrap().files.into_keys().collect();
    assert_eq!(files, ["a.rs", "c.rs"]);

    // A build that is given up leaves what is published.
    let mut writer = store.begin_generation(ROOT).unwrap();
    writer.apply(vec![put("z.rs", "fn zeta() {}")]).unwrap();
    let (left, digest) = (writer.id(), reader.payload_digest().unwrap());
    drop(writer);
    store.discard(ROOT, left).unwrap();
    store.drop_unfinished(ROOT).unwrap();
    assert_eq!(store.open_reader(ROOT).unwrap().unwrap().payload_digest().unwrap(), digest);
    assert!(store.read_marker(ROOT).unwrap().is_some());

    // What is dropped is gone, here.
    store.drop_root(ROOT).unwrap();
    assert_eq!(store.read_marker(ROOT), Ok(None));
    assert_eq!(store.roots().unwrap(), [""; 0]);
}

#[test]
fn the_embedded_store_keeps_its_promises() {
    let data = tempfile::tempdir().unwrap();
    suite(&SqliteStore::open(data.path()).unwrap());
}

#[test]
fn the_teams_store_on_the_model_keeps_them() {
    let data = tempfile::tempdir().unwrap();
    let own = Arc::new(SqliteStore::open(data.path()).unwrap());
    suite(&TeamStore::new(data.path(), own, Arc::new(Model::default())));
}
