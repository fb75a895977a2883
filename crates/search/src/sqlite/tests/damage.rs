//! Damage is told, never a panic; what is derived is made again.

use super::{ROOT, find, marker, published, put, reader, writer};
use crate::sqlite::SqliteStore;
use crate::store::{FileChange, ProbeError, StoreError, VectorStore};
use std::fs;
use std::path::{Path, PathBuf};

fn file_named(data: &Path, part: &str) -> PathBuf {
    let folder = fs::read_dir(data.join("index")).unwrap().next().unwrap().unwrap().path();
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().ends_with(part))
        .unwrap()
}

#[test]
fn a_word_index_that_is_gone_or_damaged_is_built_again() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "def first(): pass\n")]));
    let folder = file_named(data.path(), ".tantivy");
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(find(&SqliteStore::open(data.path()).unwrap(), "first"), ["a.py"]);
    fs::write(folder.join("meta.json"), "{").unwrap();
    assert_eq!(find(&SqliteStore::open(data.path()).unwrap(), "first"), ["a.py"]);
}

#[test]
fn a_word_index_with_another_counter_is_brought_up_to_date() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "def first(): pass\n")]);
    let folder = file_named(data.path(), ".tantivy");
    let old = tempfile::tempdir().unwrap();
    copy(&folder, old.path());
    writer(&store)
        .apply(vec![put("a.py", "def second(): pass\n"), put("b.py", "def third(): pass\n")])
        .unwrap();
    writer(&store).apply(vec![FileChange::Remove("b.py".into())]).unwrap();
    drop(store);
    // The state a crash leaves: the database is ahead of its words.
    fs::remove_dir_all(&folder).unwrap();
    copy(old.path(), &folder);
    let store = SqliteStore::open(data.path()).unwrap();
    assert_eq!(find(&store, "first"), Vec::<String>::new());
    assert_eq!(find(&store, "second"), ["a.py"]);
    assert_eq!(find(&store, "third"), Vec::<String>::new());
}

#[test]
fn a_generation_that_cannot_be_looked_at_is_not_taken_for_absent() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "def first(): pass\n")]));
    let database = file_named(data.path(), ".sqlite");
    fs::remove_file(&database).unwrap();
    // A link to itself cannot be followed, by root neither: as a folder that may not be searched, for anybody else.
    std::os::unix::fs::symlink(&database, &database).unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    assert!(store.read_marker(ROOT).is_err(), "the probe could not look");
    assert!(store.open_reader(ROOT).is_err());
    assert!(store.open_writer(ROOT).is_err());
    fs::remove_file(&database).unwrap();
    assert_eq!(store.read_marker(ROOT), Ok(None), "now it is absent");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_damaged_database_is_a_probe_error_and_not_a_missing_marker() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "def first(): pass\n")]));
    let database = file_named(data.path(), ".sqlite");
    fs::write(&database, b"not a database at all, but long enough to be looked at by everybody").unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    assert!(matches!(store.read_marker(ROOT), Err(ProbeError::Corrupt(_))), "{:?}", store.read_marker(ROOT));
    assert!(matches!(store.open_reader(ROOT).map(|_| ()), Err(StoreError::Corrupt(_))));
}

#[test]
fn a_damaged_name_of_the_generation_is_a_probe_error() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "x = 1\n")]));
    fs::write(file_named(data.path(), "current.json"), "{").unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    assert!(matches!(store.read_marker(ROOT), Err(ProbeError::Corrupt(_))));
    assert_eq!(store.roots().unwrap(), Vec::<String>::new());
}

#[test]
fn of_a_format_before_this_one_the_marker_is_read_and_nothing_is_written() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "x = 1\n")]));
    let set = |format: i64| {
        let db = rusqlite::Connection::open(file_named(data.path(), ".sqlite")).unwrap();
        db.execute("UPDATE meta SET value = ?1 WHERE key = 'schema'", [format]).unwrap();
        SqliteStore::open(data.path()).unwrap()
    };
    let before = set(1);
    assert!(before.read_marker(ROOT).unwrap().is_some(), "its fingerprint says that it is to be built anew");
    assert!(matches!(before.open_writer(ROOT).map(|_| ()), Err(StoreError::Corrupt(_))));
    assert!(matches!(set(99).read_marker(ROOT), Err(ProbeError::Corrupt(_))), "of a later version");
}

#[test]
fn a_database_that_is_gone_is_no_marker() {
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "x = 1\n")]));
    fs::remove_file(file_named(data.path(), ".sqlite")).unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    assert_eq!(store.read_marker(ROOT), Ok(None));
}

#[test]
fn flipped_bytes_anywhere_never_panic() {
    let data = tempfile::tempdir().unwrap();
    let files: Vec<(String, String)> = (0..20)
        .map(|at| (format!("f{at}.py"), format!("def name_{at}(a):\n    return name_{}(a)\n", at + 1)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    drop(published(data.path(), &files));
    let database = file_named(data.path(), ".sqlite");
    let good = fs::read(&database).unwrap();
    for at in (0..good.len()).step_by(good.len() / 60) {
        let mut bad = good.clone();
        for byte in bad.iter_mut().skip(at).take(24) {
            *byte ^= 0x5a;
        }
        fs::write(&database, &bad).unwrap();
        let store = SqliteStore::open(data.path()).unwrap();
        let _marker = store.read_marker(ROOT);
        if let Ok(Some(reader)) = store.open_reader(ROOT) {
            let _counts = reader.counts();
            let _dense = reader.dense(&[0.1; 256], 5);
            for (path, _) in &files {
                let _chunks = reader.chunks_in(path);
                let _notes = reader.notes_in(path);
            }
            let _digest = reader.payload_digest();
        }
    }
}

#[test]
fn a_read_only_folder_can_still_be_searched() {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    drop(published(data.path(), &[("a.py", "def first(): pass\n")]));
    let folder = fs::read_dir(data.path().join("index")).unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    assert_eq!(find(&store, "first"), ["a.py"]);
    assert_eq!(reader(&store).counts().unwrap().files, 1);
    assert!(store.read_marker(ROOT).unwrap().is_some());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_cleared_marker_is_gone() {
    let data = tempfile::tempdir().unwrap();
    let store = published(data.path(), &[("a.py", "x = 1\n")]);
    writer(&store).clear_marker().unwrap();
    assert_eq!(store.read_marker(ROOT), Ok(None));
    writer(&store).write_marker(&marker()).unwrap();
    assert!(store.read_marker(ROOT).unwrap().is_some());
}
