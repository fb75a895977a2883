//! The last commits, asked of the real git.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chartroom_testkit::hostile::git as plain_git;
use chartroom_transport::Keeper;
use chartroom_workspace::git::{GitError, Log, history};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate, TrustStore};

struct Fixture {
    folder: tempfile::TempDir,
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
    let fixture = Fixture { folder, gate };
    git(fixture.root().as_path(), &["init", "--quiet"]);
    fixture.gate.trust().trust(&fixture.root()).unwrap();
    fixture
}

fn git(root: &Path, args: &[&str]) -> String {
    let output = plain_git(root, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Fixture {
    fn root(&self) -> CanonicalRoot {
        CanonicalRoot::open(self.folder.path().join("repository")).unwrap()
    }

    /// Changes a file and commits it; the commit's name.
    fn commit(&self, path: &str, message: &str) -> String {
        let root = self.root();
        fs::write(root.as_path().join(path), message).unwrap();
        git(root.as_path(), &["add", "."]);
        git(root.as_path(), &["commit", "--quiet", "--message", message]);
        git(root.as_path(), &["rev-parse", "HEAD"])
    }

    async fn ask(&self, root: &CanonicalRoot, known: Option<&str>, most: usize) -> Result<Log, GitError> {
        history(&self.gate, root, known, "--format=<%s>", most).await
    }
}

/// The answer in one line, without what git puts between its parts.
fn shown(log: Result<Log, GitError>) -> String {
    let text = |log: Vec<u8>| {
        let text = String::from_utf8(log).unwrap().replace('\0', " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    match log {
        Ok(Log::Unchanged) => "unchanged".to_owned(),
        Ok(Log::Newer { log, .. }) => format!("newer {}", text(log)),
        Ok(Log::Whole { log, .. }) => format!("whole {}", text(log)),
        Err(error) => format!("{error}"),
    }
}

#[tokio::test]
async fn only_what_is_newer_is_read_and_a_rewritten_branch_is_read_anew() {
    let fixture = fixture();
    let root = fixture.root();
    fixture.commit("a.rs", "one");
    let second = fixture.commit("sub/b.rs", "two");
    assert_eq!(shown(fixture.ask(&root, None, 9).await), "whole <two> sub/b.rs <one> a.rs");
    assert_eq!(shown(fixture.ask(&root, None, 1).await), "whole <two> sub/b.rs", "no more than asked for");
    assert_eq!(shown(fixture.ask(&root, Some(&second), 9).await), "unchanged");
    let third = fixture.commit("c.rs", "three");
    assert_eq!(shown(fixture.ask(&root, Some(&second), 9).await), "newer <three> c.rs");
    git(root.as_path(), &["commit", "--quiet", "--amend", "--message", "other"]);
    assert!(shown(fixture.ask(&root, Some(&third), 9).await).starts_with("whole <other> c.rs <two>"));
    let unknown = "0".repeat(40);
    for known in [unknown.as_str(), "--output=x", "HEAD", ""] {
        assert!(shown(fixture.ask(&root, Some(known), 9).await).starts_with("whole <other>"), "{known}");
    }
}

// However many commits there are, five hundred thousand too, no more are read than are asked for.
#[tokio::test]
async fn the_walk_ends_with_the_last_commit_that_is_asked_for() {
    let fixture = fixture();
    let root = fixture.root();
    let first = fixture.commit("a.rs", "one");
    for message in ["two", "three", "four", "five", "six"] {
        fixture.commit("a.rs", message);
    }
    // What lies long before cannot even be read any more.
    fs::remove_file(root.as_path().join(".git/objects").join(&first[..2]).join(&first[2..])).unwrap();
    assert_eq!(shown(fixture.ask(&root, None, 2).await), "whole <six> a.rs <five> a.rs");
    let all = fixture.ask(&root, None, 9).await;
    assert!(matches!(all, Err(GitError::Failed { .. })), "a walk to the end would have failed: {all:?}");
}

#[tokio::test]
async fn a_folder_of_a_repository_has_its_own_files_by_its_own_paths() {
    let fixture = fixture();
    fixture.commit("a.rs", "one");
    fixture.commit("sub/b.rs", "two");
    let sub = CanonicalRoot::open(fixture.root().as_path().join("sub")).unwrap();
    fixture.gate.trust().trust(&sub).unwrap();
    let log = shown(fixture.ask(&sub, None, 9).await);
    assert!(log.contains("<two> b.rs") && !log.contains("a.rs"), "{log}");
}

#[tokio::test]
async fn without_a_repository_a_commit_or_trust_there_is_an_error_and_a_shallow_clone_ends() {
    let fixture = fixture();
    let empty = fixture.ask(&fixture.root(), None, 9).await;
    assert!(matches!(empty, Err(GitError::Failed { .. })), "{empty:?}");
    fixture.commit("a.rs", "one");
    fixture.commit("a.rs", "two");
    let shallow = fixture.folder.path().join("shallow");
    let from = format!("file://{}", fixture.root());
    git(fixture.folder.path(), &["clone", "--quiet", "--depth", "1", &from, shallow.to_str().unwrap()]);
    let shallow = CanonicalRoot::open(shallow).unwrap();
    let untrusted = fixture.ask(&shallow, None, 9).await;
    assert!(matches!(untrusted, Err(GitError::Gate(GateError::Untrusted { .. }))), "{untrusted:?}");
    fixture.gate.trust().trust(&shallow).unwrap();
    assert_eq!(shown(fixture.ask(&shallow, None, 9).await), "whole <two> a.rs");
    let plain = fixture.folder.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let plain = CanonicalRoot::open(plain).unwrap();
    fixture.gate.trust().trust(&plain).unwrap();
    let nothing = fixture.ask(&plain, None, 9).await;
    assert!(matches!(nothing, Err(GitError::NotARepository { .. })), "{nothing:?}");
}

#[tokio::test]
async fn nothing_that_a_repository_configures_runs_while_its_history_is_read() {
    let fixture = fixture();
    let root = fixture.root();
    let mark = fixture.folder.path().join("ran");
    let script = fixture.folder.path().join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fixture.commit(".gitattributes", "* diff=evil filter=evil");
    fixture.commit("a.rs", "one");
    // A commit that says it is signed, so that a check of signatures would have something to check.
    let raw = git(root.as_path(), &["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----";
    let signed = raw.replacen("\n\n", &format!("\n{signature}\n\n"), 1);
    fs::write(fixture.folder.path().join("signed"), format!("{signed}\n")).unwrap();
    let signed = fixture.folder.path().join("signed");
    let object = git(root.as_path(), &["hash-object", "-t", "commit", "-w", signed.to_str().unwrap()]);
    git(root.as_path(), &["update-ref", "HEAD", &object]);
    let script = script.to_str().unwrap();
    for (key, value) in [
        ("gpg.program", script),
        ("log.showSignature", "true"),
        ("diff.external", script),
        ("diff.evil.textconv", script),
        ("diff.evil.command", script),
        ("filter.evil.clean", script),
        ("filter.evil.smudge", script),
        ("core.fsmonitor", script),
        ("core.pager", script),
        ("pager.log", script),
        ("core.sshCommand", script),
        ("alias.log", &format!("!{script}")),
        ("diff.orderFile", "/nonexistent/order"),
    ] {
        git(root.as_path(), &["config", key, value]);
    }
    let log = shown(fixture.ask(&root, None, 9).await);
    assert!(log.contains("<one> a.rs"), "{log}");
    assert!(!mark.exists(), "something of the repository ran");
    // The vector is alive: plain git asks the program for the signature.
    plain_git(root.as_path(), &["log", "-1"]);
    assert!(mark.exists());
}
