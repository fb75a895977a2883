//! What has changed, asked of the real git.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::sync::Arc;

use chartroom_testkit::hostile::git as plain_git;
use chartroom_transport::Keeper;
use chartroom_workspace::git::{Change, GitError, changed_files};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate, TrustStore};

struct Fixture {
    folder: tempfile::TempDir,
    gate: SpawnGate,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("repository/sub")).unwrap();
    let data = folder.path().join("data");
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    // What a shell with a git alias or a hook around us may have set must not reach git.
    let env = [("PATH", "/usr/bin:/bin"), ("GIT_DIR", "/nonexistent"), ("GIT_INDEX_FILE", "/nonexistent")];
    let env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let gate = SpawnGate::with_environment(keeper, Arc::new(TrustStore::open(&data).unwrap()), &data, env);
    Fixture { folder, gate }
}

impl Fixture {
    fn root(&self) -> CanonicalRoot {
        CanonicalRoot::open(self.folder.path().join("repository")).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root().as_path().join(path), text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let output = plain_git(self.root().as_path(), args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    async fn changed(&self, root: &CanonicalRoot) -> Vec<(String, Change)> {
        let changed = changed_files(&self.gate, root).await.unwrap();
        let relative =
            |path: &std::path::Path| self.root().relative(path).unwrap().to_str().unwrap().to_owned();
        changed.iter().map(|file| (relative(&file.path), file.change)).collect()
    }
}

#[tokio::test]
async fn changes_are_told_by_kind_and_only_those_inside_the_root() {
    let fixture = fixture();
    fixture.git(&["init", "--quiet"]);
    for path in ["modified", "deleted", "renamed-from", "untouched", "sub/below"] {
        fixture.write(path, &format!("{path}\n").repeat(10));
    }
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "--quiet", "--message", "first"]);
    fixture.write("modified", "changed\n");
    fs::remove_file(fixture.root().as_path().join("deleted")).unwrap();
    fixture.git(&["mv", "renamed-from", "renamed-to"]);
    fixture.write("added", "added\n");
    fixture.git(&["add", "added"]);
    fixture.write("un tracked\n\u{fc}", "");
    fixture.write("sub/below", "changed\n");
    let root = fixture.root();
    fixture.gate.trust().trust(&root).unwrap();
    let expected = [
        ("added", Change::Added),
        ("deleted", Change::Deleted),
        ("modified", Change::Modified),
        ("renamed-to", Change::Renamed),
        ("sub/below", Change::Modified),
        ("un tracked\n\u{fc}", Change::Untracked),
    ];
    assert_eq!(fixture.changed(&root).await, expected.map(|(path, change)| (path.to_owned(), change)));
    let sub = CanonicalRoot::open(root.as_path().join("sub")).unwrap();
    fixture.gate.trust().trust(&sub).unwrap();
    assert_eq!(fixture.changed(&sub).await, [("sub/below".to_owned(), Change::Modified)]);
}

#[tokio::test]
async fn no_repository_and_no_trust_are_told_apart() {
    let fixture = fixture();
    let root = fixture.root();
    let untrusted = changed_files(&fixture.gate, &root).await;
    assert!(matches!(untrusted, Err(GitError::Gate(GateError::Untrusted { .. }))), "{untrusted:?}");
    fixture.gate.trust().trust(&root).unwrap();
    let nothing = changed_files(&fixture.gate, &root).await;
    assert!(matches!(nothing, Err(GitError::NotARepository { .. })), "{nothing:?}");
}

/// A repository with a clean filter that leaves a mark, a commit and a changed file in a subfolder.
fn with_a_filter(fixture: &Fixture) -> std::path::PathBuf {
    let mark = fixture.folder.path().join("filter-ran");
    fixture.git(&["init", "--quiet"]);
    fixture.write(".gitattributes", "* filter=evil\n");
    fixture.write("sub/below", "old\n");
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "--quiet", "--message", "first"]);
    fixture.git(&["config", "filter.evil.clean", &format!("sh -c 'touch {}; cat'", mark.display())]);
    // The same size: git has to look into the file, and the filter is how it looks.
    fixture.write("sub/below", "new\n");
    mark
}

#[tokio::test]
async fn a_filter_of_an_untrusted_repository_around_a_trusted_folder_does_not_run() {
    let fixture = fixture();
    let mark = with_a_filter(&fixture);
    let sub = CanonicalRoot::open(fixture.root().as_path().join("sub")).unwrap();
    fixture.gate.trust().trust(&sub).unwrap();
    let asked = changed_files(&fixture.gate, &sub).await;
    assert!(!mark.exists(), "the filter ran: {asked:?}");
    let Err(GitError::Gate(GateError::Untrusted { root, .. })) = &asked else { panic!("{asked:?}") };
    assert_eq!(root, &fixture.root(), "the repository is named, which would have to be trusted");
    // The vector is alive: once the repository is trusted too, its filter is what git has to ask.
    fixture.gate.trust().trust(&fixture.root()).unwrap();
    assert_eq!(fixture.changed(&sub).await, [("sub/below".to_owned(), Change::Modified)]);
    assert!(mark.exists());
}

#[tokio::test]
async fn a_worktree_asks_nothing_of_an_untrusted_main_repository() {
    let fixture = fixture();
    let mark = with_a_filter(&fixture);
    let linked = fixture.folder.path().join("linked");
    fixture.git(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    fs::remove_file(&mark).ok();
    fs::write(linked.join("sub/below"), "new\n").unwrap();
    let linked = CanonicalRoot::open(linked).unwrap();
    fixture.gate.trust().trust(&linked).unwrap();
    let asked = changed_files(&fixture.gate, &linked).await;
    assert!(!mark.exists(), "the filter ran: {asked:?}");
    assert!(matches!(&asked, Err(GitError::Gate(GateError::Untrusted { .. }))), "{asked:?}");
    fixture.gate.trust().trust(&fixture.root()).unwrap();
    assert_eq!(changed_files(&fixture.gate, &linked).await.unwrap().len(), 1);
}
