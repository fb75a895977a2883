//! Keep or undo in the user's own repository, with the real git: what is asked for happens, files are recorded first, and
//! nothing else changes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use std::os::unix::fs::PermissionsExt as _;

use bench::{Bench, git};
use chartroom_checkpoints::{Kind, Records, Wanted, Words};
use chartroom_protocol::keep::{
    CommitParams, KeepParams, KeepResponse, PullRequestParams, SwitchParams, TurnOf,
};
use chartroom_repository::{RepositoryError, keep};
use chartroom_testkit::hostile::Hostile;
use chartroom_workspace::CanonicalRoot;

fn paths(paths: &[&str]) -> KeepParams {
    KeepParams { paths: paths.iter().map(|path| (*path).to_owned()).collect(), ..KeepParams::default() }
}

fn patch(patch: String) -> KeepParams {
    KeepParams { patch: Some(patch + "\n"), ..KeepParams::default() }
}

fn status(bench: &Bench) -> String {
    // Without the trimming of the helper: the first column counts.
    let output = chartroom_testkit::hostile::git(bench.root().as_path(), &["status", "--porcelain"]);
    String::from_utf8(output.stdout).unwrap()
}

async fn undo(bench: &Bench, done: &KeepResponse) {
    let records = Records::of(&bench.gate, &bench.root()).await.unwrap();
    let checkpoint = records.find_here(done.undo.as_deref().unwrap()).unwrap();
    let restored = records.restore(&checkpoint, &Wanted { force: true, ..Wanted::default() }).await.unwrap();
    assert_eq!(restored.conflicts, [""; 0]);
}

#[tokio::test]
async fn files_and_hunks_are_staged_and_unstaged() {
    let bench = Bench::new();
    let lines: String = (1..=30).map(|n| format!("{n}\n")).collect();
    bench.write("long.txt", &lines);
    bench.commit("long");
    bench.write("long.txt", &lines.replace("2\n3\n", "2\nthree\n").replace("28\n", "twenty-eight\n"));
    bench.write("new [x].txt", "new\n");
    let told = keep::status(&bench.gate, &bench.root()).await.unwrap();
    assert_eq!(told.branch.as_deref(), Some("main"));
    assert_eq!(told.branches, ["main"]);
    let files: Vec<(&str, bool)> =
        told.files.iter().map(|file| (file.path.as_str(), file.untracked)).collect();
    assert_eq!(files, [("long.txt", false), ("new [x].txt", true)]);

    assert!(keep::stage(&bench.gate, &bench.root(), &paths(&["new [x].txt"])).await.unwrap().done);
    assert_eq!(status(&bench), " M long.txt\nA  \"new [x].txt\"\n");
    assert!(keep::unstage(&bench.gate, &bench.root(), &KeepParams::default()).await.unwrap().done);
    assert_eq!(status(&bench), " M long.txt\n?? \"new [x].txt\"\n");
    // The first of two hunks.
    let whole = bench.git(&["diff"]);
    let first = whole[..whole.rfind("@@ -2").unwrap()].trim_end().to_owned();
    assert!(keep::stage(&bench.gate, &bench.root(), &patch(first.clone())).await.unwrap().done);
    let staged = bench.git(&["diff", "--cached"]);
    assert!(staged.contains("+three") && !staged.contains("twenty-eight"), "{staged}");
    let again = keep::stage(&bench.gate, &bench.root(), &patch(first.clone())).await.unwrap();
    assert!(!again.done && again.reason.is_some(), "it does not fit twice");
    assert!(keep::unstage(&bench.gate, &bench.root(), &patch(first)).await.unwrap().done);
    assert_eq!(bench.git(&["diff", "--cached"]), "");
    for wrong in ["../x", "/etc/passwd", "", ".git/../x"] {
        let refused = keep::stage(&bench.gate, &bench.root(), &paths(&[wrong])).await;
        assert!(matches!(refused, Err(RepositoryError::Refused(_))), "{wrong}");
    }
}

#[tokio::test]
async fn what_is_taken_back_is_recorded_first_and_comes_back() {
    let bench = Bench::new();
    bench.write("dir/b.txt", "b\n");
    bench.write(".gitignore", "ignored\n");
    bench.commit("more");
    let change = |bench: &Bench| {
        bench.write("a.txt", "changed\n");
        bench.write("staged.txt", "staged\n");
        bench.git(&["add", "staged.txt"]);
        bench.write("un/tracked.txt", "untracked\n");
        bench.write("ignored", "stays\n");
        std::fs::remove_dir_all(bench.path("dir")).unwrap();
    };
    change(&bench);
    let reverted = keep::revert(&bench.gate, &bench.root(), &paths(&["a.txt", "un"])).await.unwrap();
    assert!(reverted.done, "{reverted:?}");
    assert_eq!(bench.read("a.txt"), "one\n");
    assert!(!bench.path("un").exists() && bench.path("staged.txt").exists() && !bench.path("dir").exists());
    undo(&bench, &reverted).await;
    assert_eq!(
        (bench.read("a.txt").as_str(), bench.read("un/tracked.txt").as_str()),
        ("changed\n", "untracked\n")
    );

    let reverted = keep::revert(&bench.gate, &bench.root(), &KeepParams::default()).await.unwrap();
    assert!(reverted.done, "{reverted:?}");
    assert_eq!(status(&bench), "");
    assert_eq!((bench.read("dir/b.txt").as_str(), bench.read("ignored").as_str()), ("b\n", "stays\n"));
    undo(&bench, &reverted).await;
    assert_eq!((bench.read("staged.txt").as_str(), bench.read("a.txt").as_str()), ("staged\n", "changed\n"));
    assert!(!bench.path("dir").exists());
}

#[tokio::test]
async fn a_hunk_is_taken_back_alone_and_only_where_it_fits() {
    let bench = Bench::new();
    let lines: String = (1..=30).map(|n| format!("{n}\n")).collect();
    bench.write("long.txt", &lines);
    bench.commit("long");
    let both = lines.replace("2\n3\n", "2\nthree\n").replace("28\n", "twenty-eight\n");
    bench.write("long.txt", &both);
    let whole = bench.git(&["diff"]);
    let first = whole[..whole.rfind("@@ -2").unwrap()].trim_end().to_owned();
    let reverted = keep::revert(&bench.gate, &bench.root(), &patch(first.clone())).await.unwrap();
    assert!(reverted.done, "{reverted:?}");
    assert_eq!(bench.read("long.txt"), lines.replace("28\n", "twenty-eight\n"));
    let again = keep::revert(&bench.gate, &bench.root(), &patch(first)).await.unwrap();
    assert!(!again.done && again.reason.is_some());
    assert_eq!(bench.read("long.txt"), lines.replace("28\n", "twenty-eight\n"));
    undo(&bench, &reverted).await;
    assert_eq!(bench.read("long.txt"), both);
}

#[tokio::test]
async fn a_turn_is_taken_back_without_what_came_later() {
    let bench = Bench::new();
    let records = Records::of(&bench.gate, &bench.root()).await.unwrap();
    let record = async |kind, turn: &str| {
        let words =
            || Words { kind, session: Some("s".to_owned()), turn: Some(turn.to_owned()), ..Words::default() };
        records.make(words).await.unwrap();
    };
    record(Kind::Before, "one").await;
    bench.write("a.txt", "by turn one\n");
    bench.write("new.txt", "new\n");
    record(Kind::After, "one").await;
    record(Kind::Before, "two").await;
    bench.write("b.txt", "by turn two\n");
    record(Kind::After, "two").await;
    let turn = |turn: &str| KeepParams {
        turn: Some(TurnOf { session: "s".to_owned(), turn: Some(turn.into()) }),
        ..KeepParams::default()
    };
    let reverted = keep::revert(&bench.gate, &bench.root(), &turn("one")).await.unwrap();
    assert!(reverted.done, "{reverted:?}");
    assert_eq!((bench.read("a.txt").as_str(), bench.read("b.txt").as_str()), ("one\n", "by turn two\n"));
    assert!(!bench.path("new.txt").exists());
    undo(&bench, &reverted).await;
    bench.write("a.txt", "by me, later\n");
    let kept = keep::revert(&bench.gate, &bench.root(), &turn("one")).await.unwrap();
    assert!(!kept.done, "{kept:?}");
    assert_eq!((bench.read("a.txt").as_str(), bench.read("new.txt").as_str()), ("by me, later\n", "new\n"));
    assert!(keep::revert(&bench.gate, &bench.root(), &turn("nobodys")).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_taken_back() {
    let bench = Bench::new();
    let large = vec![b'x'; usize::try_from(chartroom_checkpoints::MAX_FILE_BYTES).unwrap() + 1];
    std::fs::write(bench.path("large.bin"), &large).unwrap();
    bench.write("a.txt", "changed\n");
    let kept = keep::revert(&bench.gate, &bench.root(), &KeepParams::default()).await.unwrap();
    assert!(!kept.done && kept.reason.unwrap().contains("large.bin"));
    assert_eq!(
        (std::fs::read(bench.path("large.bin")).unwrap() == large, bench.read("a.txt")),
        (true, "changed\n".to_owned())
    );
    assert!(keep::revert(&bench.gate, &bench.root(), &paths(&["a.txt"])).await.unwrap().done);
}

#[tokio::test]
async fn a_commit_runs_the_hooks_and_tells_what_they_said() {
    let bench = Bench::new();
    let hook = bench.path(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho looked at by the hook >&2\ntest ! -e forbidden.txt\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let commit = async |message: Option<&str>, amend, all| {
        let params = CommitParams { message: message.map(str::to_owned), amend, all };
        keep::commit(&bench.gate, &bench.root(), &params).await
    };
    let first = bench.git(&["rev-parse", "HEAD"]);
    bench.write("b.txt", "b\n");
    let made = commit(Some("second\n\nwith 'quotes' and #marks"), false, true).await.unwrap();
    assert!(made.committed && made.output.contains("looked at by the hook"), "{made:?}");
    assert_eq!((made.before, made.commit), (Some(first), Some(bench.git(&["rev-parse", "HEAD"]))));
    assert_eq!(bench.git(&["log", "-1", "--format=%an %B"]), "U second\n\nwith 'quotes' and #marks");
    bench.write("c.txt", "c\n");
    let amended = commit(None, true, true).await.unwrap();
    assert!(amended.committed, "{amended:?}");
    assert_eq!(bench.git(&["show", "--format=%s", "--name-only"]), "second\n\nb.txt\nc.txt");

    // A hook that refuses: nothing is committed, and what was staged is staged.
    bench.write("forbidden.txt", "x\n");
    bench.write("staged.txt", "x\n");
    bench.git(&["add", "staged.txt"]);
    let refused = commit(Some("third"), false, true).await.unwrap();
    assert!(!refused.committed && refused.output.contains("looked at"), "{refused:?}");
    assert_eq!(refused.commit, amended.commit);
    assert_eq!(status(&bench), "A  staged.txt\n?? forbidden.txt\n");
    assert!(matches!(commit(Some("  "), false, false).await, Err(RepositoryError::Refused(_))));
    std::fs::remove_file(bench.path("forbidden.txt")).unwrap();
    assert!(commit(Some("third"), false, false).await.unwrap().committed);
    let nothing = commit(Some("fourth"), false, false).await.unwrap();
    assert!(!nothing.committed && !nothing.output.is_empty(), "{nothing:?}");
}

#[tokio::test]
async fn branches_are_made_and_switched_and_open_changes_are_not_lost() {
    let bench = Bench::new();
    let switch = async |branch: &str, create| {
        let params = SwitchParams { branch: branch.to_owned(), create, from: None };
        keep::switch(&bench.gate, &bench.root(), &params).await
    };
    assert!(switch("work", true).await.unwrap().done);
    bench.write("a.txt", "on work\n");
    bench.commit("work");
    bench.write("a.txt", "open\n");
    let kept = switch("main", false).await.unwrap();
    assert!(!kept.done && kept.output.contains("a.txt"), "{kept:?}");
    assert_eq!(bench.read("a.txt"), "open\n");
    bench.git(&["checkout", "-q", "a.txt"]);
    assert!(switch("main", false).await.unwrap().done);
    assert_eq!(bench.read("a.txt"), "one\n");
    for (branch, create) in [("nobody", false), ("--orphan", true), ("a..b", true)] {
        assert!(switch(branch, create).await.is_err(), "{branch}");
    }
    assert!(!switch("work", true).await.unwrap().done, "it is there already");
}

#[tokio::test]
async fn a_branch_is_pushed_and_a_pull_request_has_an_address() {
    let bench = Bench::new();
    let refused = keep::push(&bench.gate, &bench.root()).await.unwrap_err();
    assert!(refused.to_string().contains("no remote"), "{refused}");
    let remote = bench.folder.path().join("remote.git");
    git(bench.folder.path(), &["init", "-q", "--bare", remote.to_str().unwrap()]);
    bench.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    bench.git(&["switch", "-q", "-c", "work"]);
    let pushed = keep::push(&bench.gate, &bench.root()).await.unwrap();
    assert!(pushed.done, "{pushed:?}");
    assert_eq!(git(&remote, &["rev-parse", "work"]), bench.git(&["rev-parse", "work"]));
    let told = keep::status(&bench.gate, &bench.root()).await.unwrap();
    assert_eq!((told.upstream.as_deref(), told.ahead), (Some("origin/work"), 0));
    bench.git(&["remote", "set-url", "origin", "git@github.com:o/n.git"]);
    // gh is not on the PATH of this gate.
    let asked = keep::pull_request(&bench.gate, &bench.root(), &PullRequestParams::default()).await.unwrap();
    assert!(!asked.made && asked.output.contains("gh was not found"), "{asked:?}");
    assert_eq!(asked.url.as_deref(), Some("https://github.com/o/n/compare/work?expand=1"));
}

#[tokio::test]
async fn nothing_of_an_untrusted_repository_runs_for_any_act() {
    let hostile = Hostile::new();
    let data = tempfile::tempdir().unwrap();
    let gate = bench::gate(data.path());
    let root = CanonicalRoot::open(hostile.root()).unwrap();
    hostile.clear_markers();
    let everything = KeepParams::default();
    let commit = CommitParams { message: Some("m".to_owned()), amend: false, all: true };
    let switch = SwitchParams { branch: "work".to_owned(), create: true, from: None };
    let refusals = [
        keep::status(&gate, &root).await.err(),
        keep::stage(&gate, &root, &everything).await.err(),
        keep::unstage(&gate, &root, &everything).await.err(),
        keep::revert(&gate, &root, &everything).await.err(),
        keep::commit(&gate, &root, &commit).await.err(),
        keep::switch(&gate, &root, &switch).await.err(),
        keep::push(&gate, &root).await.err(),
        keep::pull_request(&gate, &root, &PullRequestParams::default()).await.err(),
    ];
    for refusal in refusals {
        let refusal = refusal.expect("it is refused").to_string();
        assert!(refusal.contains("is not trusted"), "{refusal}");
    }
    assert_eq!(hostile.markers(), Default::default());
}
