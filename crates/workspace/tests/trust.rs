//! The trust store: what is remembered, what is forgotten, and what cannot be forged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_workspace::{CanonicalRoot, TrustError, TrustStore};

struct Fixture {
    folder: tempfile::TempDir,
    store: TrustStore,
    root: CanonicalRoot,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("project")).unwrap();
    let root = CanonicalRoot::open(folder.path().join("project")).unwrap();
    let store = TrustStore::open(&folder.path().join("data")).unwrap();
    Fixture { folder, store, root }
}

impl Fixture {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self) -> PathBuf {
        self.data().join("trust.json")
    }

    /// Whether a store that is opened now, as by another process, trusts the root.
    fn trusted_elsewhere(&self) -> bool {
        TrustStore::open(&self.data()).unwrap().is_trusted(&self.root)
    }

    fn set_aside(&self) -> Vec<String> {
        let names = fs::read_dir(self.data()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("trust.json.damaged-")).collect()
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_workspace_is_untrusted_until_it_is_trusted_and_after_it_is_revoked() {
    let fixture = fixture();
    assert!(!fixture.store.is_trusted(&fixture.root));
    fixture.store.trust(&fixture.root).unwrap();
    assert!(fixture.store.is_trusted(&fixture.root));
    assert!(fixture.trusted_elsewhere());
    let listed: Vec<PathBuf> = fixture.store.list().unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(listed, [fixture.root.as_path()]);
    assert!(fixture.store.revoke(fixture.root.as_path()).unwrap());
    assert!(!fixture.store.is_trusted(&fixture.root));
    assert!(!fixture.store.revoke(fixture.root.as_path()).unwrap());
}

#[test]
fn the_file_is_private_and_so_is_its_folder() {
    let fixture = fixture();
    fixture.store.trust(&fixture.root).unwrap();
    assert_eq!((mode(&fixture.file()), mode(&fixture.data())), (0o600, 0o700));
    fs::set_permissions(fixture.data(), fs::Permissions::from_mode(0o777)).unwrap();
    TrustStore::open(&fixture.data()).unwrap();
    assert_eq!(mode(&fixture.data()), 0o700);
}

#[test]
fn another_process_s_decision_counts_at_the_next_check() {
    let fixture = fixture();
    let other = TrustStore::open(&fixture.data()).unwrap();
    other.trust(&fixture.root).unwrap();
    assert!(fixture.store.is_trusted(&fixture.root));
    other.revoke(fixture.root.as_path()).unwrap();
    assert!(!fixture.store.is_trusted(&fixture.root));
}

#[test]
fn nothing_is_inherited_from_parents_or_handed_to_children() {
    let fixture = fixture();
    fs::create_dir(fixture.root.as_path().join("below")).unwrap();
    let below = CanonicalRoot::open(fixture.root.as_path().join("below")).unwrap();
    fixture.store.trust(&fixture.root).unwrap();
    assert!(!fixture.store.is_trusted(&below));
    fixture.store.revoke(fixture.root.as_path()).unwrap();
    fixture.store.trust(&below).unwrap();
    assert!(!fixture.store.is_trusted(&fixture.root));
}

#[test]
fn a_replaced_folder_is_untrusted_even_when_it_gets_the_same_inode() {
    let fixture = fixture();
    fixture.store.trust(&fixture.root).unwrap();
    // Some file systems hand out the inode of a removed folder at once; then the birth time tells.
    for _ in 0..20 {
        fs::remove_dir(fixture.root.as_path()).unwrap();
        assert!(!fixture.store.is_trusted(&fixture.root), "a folder that is gone");
        fs::create_dir(fixture.root.as_path()).unwrap();
        assert!(!fixture.store.is_trusted(&fixture.root), "a folder that was replaced");
    }
}

#[test]
fn a_link_in_the_place_of_the_folder_is_untrusted() {
    let fixture = fixture();
    fixture.store.trust(&fixture.root).unwrap();
    let aside = fixture.folder.path().join("aside");
    fs::rename(fixture.root.as_path(), &aside).unwrap();
    symlink(&aside, fixture.root.as_path()).unwrap();
    assert!(!fixture.store.is_trusted(&fixture.root));
}

#[test]
fn a_renamed_folder_is_untrusted_at_its_new_place() {
    let fixture = fixture();
    fixture.store.trust(&fixture.root).unwrap();
    let moved = fixture.folder.path().join("moved");
    fs::rename(fixture.root.as_path(), &moved).unwrap();
    assert!(!fixture.store.is_trusted(&CanonicalRoot::open(&moved).unwrap()));
}

#[test]
fn a_folder_that_holds_the_store_cannot_be_trusted() {
    let fixture = fixture();
    let above = CanonicalRoot::open(fixture.folder.path()).unwrap();
    for root in [&above, &CanonicalRoot::open(fixture.data()).unwrap()] {
        assert!(matches!(fixture.store.trust(root), Err(TrustError::HoldsStore { .. })), "{root}");
        assert!(!fixture.store.is_trusted(root));
    }
}

#[test]
fn a_folder_that_is_gone_cannot_be_trusted() {
    let fixture = fixture();
    fs::remove_dir(fixture.root.as_path()).unwrap();
    assert!(matches!(fixture.store.trust(&fixture.root), Err(TrustError::Gone { .. })));
}

#[test]
fn a_damaged_file_is_set_aside_and_trusts_nothing() {
    let good = {
        let fixture = fixture();
        fixture.store.trust(&fixture.root).unwrap();
        fs::read_to_string(fixture.file()).unwrap()
    };
    for damage in
        ["", "{", "[]", "{\"version\":1}", "\u{0}", &good.replace("\"version\": 1", "\"version\": 2")]
    {
        let fixture = fixture();
        fixture.store.trust(&fixture.root).unwrap();
        fs::write(fixture.file(), damage).unwrap();
        assert!(!fixture.store.is_trusted(&fixture.root), "{damage:?}");
        assert_eq!(fixture.set_aside().len(), 1, "{damage:?}");
        // It works again afterwards, and the damaged one is still there to be looked at.
        fixture.store.trust(&fixture.root).unwrap();
        assert!(fixture.trusted_elsewhere());
        assert_eq!(fs::read_to_string(fixture.data().join(&fixture.set_aside()[0])).unwrap(), damage);
    }
}

#[test]
fn a_file_that_others_could_write_or_that_is_a_link_trusts_nothing() {
    let fixture = fixture();
    fixture.store.trust(&fixture.root).unwrap();
    fs::set_permissions(fixture.file(), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!fixture.store.is_trusted(&fixture.root));
    fixture.store.trust(&fixture.root).unwrap();
    let elsewhere = fixture.folder.path().join("elsewhere.json");
    fs::rename(fixture.file(), &elsewhere).unwrap();
    symlink(&elsewhere, fixture.file()).unwrap();
    assert!(!fixture.store.is_trusted(&fixture.root));
}

#[test]
fn many_changes_at_once_lose_none() {
    let fixture = fixture();
    let roots: Vec<CanonicalRoot> = (0..8)
        .map(|n| {
            let path = fixture.folder.path().join(format!("project-{n}"));
            fs::create_dir(&path).unwrap();
            CanonicalRoot::open(path).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for root in &roots {
            // Each with a store of its own, as processes have.
            let store = TrustStore::open(&fixture.data()).unwrap();
            scope.spawn(move || {
                for _ in 0..10 {
                    store.trust(root).unwrap();
                    store.revoke(root.as_path()).unwrap();
                }
                store.trust(root).unwrap();
            });
        }
    });
    assert_eq!(fixture.store.list().unwrap().len(), 8);
    assert!(roots.iter().all(|root| fixture.store.is_trusted(root)));
}

#[tokio::test]
async fn a_revocation_is_heard_by_those_who_listen() {
    let fixture = fixture();
    let store = Arc::new(fixture.store);
    let mut revocations = store.subscribe();
    store.trust(&fixture.root).unwrap();
    store.revoke(fixture.root.as_path()).unwrap();
    assert_eq!(revocations.recv().await.unwrap(), fixture.root.as_path());
}

#[test]
fn a_store_in_a_place_that_cannot_be_is_an_error_that_names_it() {
    let fixture = fixture();
    let file = fixture.folder.path().join("a-file");
    fs::write(&file, "").unwrap();
    let error = TrustStore::open(&file.join("data")).unwrap_err().to_string();
    assert!(error.contains("a-file/data"), "{error}");
}
