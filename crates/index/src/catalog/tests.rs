//! The catalog on a real disk: merge, damage, two writers, a read-only folder.

use std::fs;

use super::*;

fn indexed(generation: u64) -> CodebaseInfo {
    let state =
        CodebaseState::Indexed { indexed_files: 1, total_chunks: 2, index_status: BuildStatus::Completed };
    let mut info = CodebaseInfo::new(state, &jiff::Timestamp::now().to_string());
    info.lease_generation = generation;
    info
}

#[test]
fn a_missing_file_is_an_empty_catalog_and_reading_makes_none() {
    let dir = tempfile::tempdir().unwrap();
    let view = Catalog::new(dir.path()).read();
    assert_eq!(view.doc, CatalogDoc::default());
    assert_eq!(view.damage, None);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let data = dir.path();
            scope.spawn(move || {
                let catalog = CatalogWriter::new(data);
                for n in 0..10 {
                    let root = format!("/w{writer}/r{n}");
                    // A busy lock leaves the change pending; the next save carries it.
                    while catalog.set(&root, indexed(1)).is_err() {}
                }
            });
        }
    });
    assert_eq!(Catalog::new(dir.path()).read().doc.codebases.len(), 40);
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["codebases.json"], "no lock and no temporary file is left");
}

#[test]
fn a_damaged_file_is_set_aside_with_a_reason_and_readers_go_on_with_what_they_knew() {
    let dir = tempfile::tempdir().unwrap();
    let (catalog, writer) = (Catalog::new(dir.path()), CatalogWriter::new(dir.path()));
    writer.set("/repo", indexed(1)).unwrap();
    assert!(catalog.read().doc.codebases.contains_key("/repo"));
    fs::write(catalog.path(), b"{\"formatVersion\":").unwrap();

    let view = catalog.read();
    assert!(view.damage.unwrap().contains("is damaged"));
    assert!(view.doc.codebases.contains_key("/repo"), "membership holds for a reader");
    assert_eq!(fs::read(catalog.path()).unwrap(), b"{\"formatVersion\":", "a reader does not repair");

    let quarantined = writer.quarantine_if_damaged().unwrap().unwrap();
    assert_eq!(fs::read(&quarantined.to).unwrap(), b"{\"formatVersion\":");
    assert!(quarantined.to.file_name().unwrap().to_str().unwrap().starts_with("codebases.json.corrupt-"));
    assert_eq!(writer.quarantine_if_damaged().unwrap(), None);
}

#[test]
fn an_entry_that_cannot_be_understood_survives_a_save() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("codebases.json");
    fs::write(&path, r#"{"formatVersion":"v3","codebases":{"/odd":{"status":"from_the_future","x":1}}}"#)
        .unwrap();
    CatalogWriter::new(dir.path()).set("/repo", indexed(1)).unwrap();
    let view = Catalog::new(dir.path()).read();
    assert!(view.doc.unreadable.contains_key("/odd"));
    assert!(view.doc.codebases.contains_key("/repo"));
}

#[test]
fn a_change_that_cannot_be_saved_stays_pending_and_is_merged_later() {
    let dir = tempfile::tempdir().unwrap();
    let writer = CatalogWriter::new(dir.path());
    let lock = crate::file_lock::FileLock::acquire(
        &dir.path().join("codebases.json.lock"),
        std::time::Duration::ZERO,
    )
    .unwrap();
    assert!(matches!(writer.set("/first", indexed(1)), Err(SaveError::Busy(_))));
    drop(lock);
    writer.set("/second", indexed(1)).unwrap();
    let doc = Catalog::new(dir.path()).read().doc;
    assert_eq!(doc.codebases.keys().collect::<Vec<_>>(), ["/first", "/second"]);
}

#[test]
fn an_older_writer_does_not_overwrite_a_later_one() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (CatalogWriter::new(dir.path()), CatalogWriter::new(dir.path()));
    two.set("/repo", indexed(2)).unwrap();
    let mut late = indexed(1);
    late.state = CodebaseState::IndexFailed { error_message: "late".into(), last_attempted_percentage: None };
    one.set("/repo", late).unwrap();
    assert_eq!(Catalog::new(dir.path()).read().doc.codebases["/repo"].state.name(), "indexed");
}
