//! Which commit a line came with, asked of the real git.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chartroom_testkit::hostile::git as plain_git;
use chartroom_transport::Keeper;
use chartroom_workspace::git::{BlameRun, GitError, blame};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate, TrustStore, boundary};

fn git(root: &Path, args: &[&str]) {
    let output = plain_git(root, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

struct Fixture {
    _folder: tempfile::TempDir,
    root: CanonicalRoot,
    gate: SpawnGate,
}

/// A trusted repository without commits.
fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("repository/sub")).unwrap();
    let data = folder.path().join("data");
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let env = [("PATH".into(), "/usr/bin:/bin".into())].into_iter().collect();
    let gate = SpawnGate::with_environment(keeper, Arc::new(TrustStore::open(&data).unwrap()), &data, env);
    let root = CanonicalRoot::open(folder.path().join("repository")).unwrap();
    git(root.as_path(), &["init", "--quiet"]);
    gate.trust().trust(&root).unwrap();
    Fixture { _folder: folder, root, gate }
}

impl Fixture {
    fn write(&self, path: &str, text: &str) {
        fs::write(self.root.as_path().join(path), text).unwrap();
    }

    fn commit(&self, message: &str) {
        git(self.root.as_path(), &["add", "."]);
        git(self.root.as_path(), &["commit", "--quiet", "--message", message]);
    }

    async fn blame(&self, path: &str) -> Result<Vec<BlameRun>, GitError> {
        let file = boundary::inside(&self.root, Path::new(path)).unwrap();
        blame(&self.gate, &self.root, &file).await
    }
}

#[tokio::test]
async fn each_run_of_lines_has_its_commit_and_what_is_not_committed_has_none() {
    let fixture = fixture();
    let path = "sub/-odd name:1.txt";
    fixture.write(path, "one\ntwo\nthree\n");
    fixture.commit("the first");
    fixture.write(path, "one\nTWO\nthree\n");
    fixture.commit("the second\n\nwith a body");
    fixture.write(path, "one\nTWO\nthree\nfour\n");
    let runs = fixture.blame(path).await.unwrap();
    let told: Vec<_> = runs
        .iter()
        .map(|run| (run.line, run.n_lines, run.commit.is_some().then_some(run.summary.as_str())))
        .collect();
    assert_eq!(
        told,
        [(1, 1, Some("the first")), (2, 1, Some("the second")), (3, 1, Some("the first")), (4, 1, None)]
    );
    assert!(runs.iter().all(|run| run.at > 0 && !run.author.is_empty()));
}

#[tokio::test]
async fn a_file_that_a_filter_cannot_read_is_told_as_it_was_committed() {
    let fixture = fixture();
    fixture.write("a.txt", "one\n");
    fixture.commit("the first");
    fixture.write(".gitattributes", "a.txt filter=broken\n");
    git(fixture.root.as_path(), &["config", "filter.broken.clean", "false"]);
    git(fixture.root.as_path(), &["config", "filter.broken.required", "true"]);
    fixture.write("a.txt", "one\nnot committed\n");
    let runs = fixture.blame("a.txt").await.unwrap();
    let told: Vec<_> = runs.iter().map(|run| (run.line, run.n_lines, run.summary.as_str())).collect();
    assert_eq!(told, [(1, 1, "the first")]);
}

#[tokio::test]
async fn a_file_that_git_does_not_know_and_a_folder_that_is_no_repository_are_errors() {
    let fixture = fixture();
    fixture.write("a.txt", "one\n");
    fixture.commit("a");
    fixture.write("new.txt", "two\n");
    assert!(fixture.blame("new.txt").await.is_err());
    fs::remove_dir_all(fixture.root.as_path().join(".git")).unwrap();
    assert!(fixture.blame("a.txt").await.is_err());
}

#[tokio::test]
async fn an_untrusted_repository_is_not_asked_and_a_trusted_one_runs_no_textconv() {
    let fixture = fixture();
    fixture.write("a.txt", "one\n");
    fixture.write(".gitattributes", "*.txt diff=evil\n");
    fixture.commit("a");
    let marker = fixture.root.as_path().join("marker");
    let command = format!("touch {}; cat", marker.display());
    git(fixture.root.as_path(), &["config", "diff.evil.textconv", &command]);
    assert_eq!(fixture.blame("a.txt").await.unwrap().len(), 1);
    assert!(!marker.exists(), "the textconv ran");
    // The vector is alive.
    git(fixture.root.as_path(), &["blame", "a.txt"]);
    assert!(marker.exists());
    fixture.gate.trust().revoke(fixture.root.as_path()).unwrap();
    let refused = fixture.blame("a.txt").await;
    assert!(matches!(refused, Err(GitError::Gate(GateError::Untrusted { .. }))), "{refused:?}");
}
