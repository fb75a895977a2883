//! The main file and its log: together they are the store, and a stop leaves everything in the main file.

use super::*;

/// The files of a store with one project whose server was killed: everything is still in the log.
async fn killed(folder: &Path) -> PathBuf {
    let live = folder.join("live");
    std::fs::create_dir(&live).unwrap();
    let opened = store_in(&live);
    opened.store.add_project(folder).await.unwrap();
    let left = folder.join("left");
    std::fs::create_dir(&left).unwrap();
    for suffix in ["", "-wal", "-tail-a", "-tail-b"] {
        let name = format!("store.db{suffix}");
        std::fs::copy(live.join(&name), left.join(&name)).unwrap();
    }
    left
}

#[tokio::test]
async fn what_a_killed_server_left_in_the_log_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let opened = store_in(&killed(folder.path()).await);
    assert_eq!((opened.set_aside, opened.store.projects().await.unwrap().len()), (None, 1));
}

#[tokio::test]
async fn a_main_file_that_is_missing_empty_or_cut_beside_its_log_is_set_aside_and_told() {
    for length in [None, Some(0), Some(50), Some(2_000)] {
        let folder = tempfile::tempdir().unwrap();
        let left = killed(folder.path()).await;
        let path = left.join("store.db");
        match length {
            None => std::fs::remove_file(&path).unwrap(),
            Some(length) => {
                std::fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap()
            }
        }
        let log = std::fs::read(left.join("store.db-wal")).unwrap();
        let opened = store_in(&left);
        let set_aside = opened.set_aside.unwrap_or_else(|| panic!("{length:?}: nothing was said"));
        let kept = std::fs::read(format!("{}-wal", set_aside.kept_as.display())).unwrap();
        assert!(kept == log, "{length:?}: the log is kept as it was");
        opened.store.add_project(folder.path()).await.unwrap();
    }
}

#[tokio::test]
async fn after_a_checkpoint_the_main_file_alone_is_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let opened = store_in(folder.path());
    opened.store.add_project(folder.path()).await.unwrap();
    opened.store.checkpoint().await.unwrap();
    assert_eq!(folder.path().join("store.db-wal").metadata().unwrap().len(), 0);
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(folder.path().join("store.db"), copy.join("store.db")).unwrap();
    assert_eq!(store_in(&copy).store.projects().await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_empty_file_without_a_log_is_a_new_store() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("store.db"), "").unwrap();
    assert_eq!(store_in(folder.path()).set_aside, None);
}

#[tokio::test]
async fn a_database_that_is_not_ours_is_left_alone_and_told_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE projects (x)").unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path).err().unwrap().to_string();
    let expected = format!(
        "cannot use {}: it is a database without a version of ours; move it away, and a new one is begun",
        path.display()
    );
    assert_eq!(error, expected);
    assert!(std::fs::read(&path).unwrap() == before);
}
