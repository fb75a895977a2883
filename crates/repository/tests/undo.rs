//! What was done can be undone with one word, also later: files, what was staged, commits, branches; and nothing that came
//! after it is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use bench::Bench;
use chartroom_protocol::keep::{CommitParams, KeepParams, SwitchParams};
use chartroom_protocol::undo::UndoResponse;
use chartroom_repository::{RepositoryError, keep, undo};

fn paths(paths: &[&str]) -> KeepParams {
    KeepParams { paths: paths.iter().map(|path| (*path).to_owned()).collect(), ..KeepParams::default() }
}

fn commit(message: &str) -> CommitParams {
    CommitParams { message: Some(message.to_owned()), amend: false, all: true }
}

fn status(bench: &Bench) -> String {
    let output = chartroom_testkit::hostile::git(bench.root().as_path(), &["status", "--porcelain"]);
    String::from_utf8(output.stdout).unwrap()
}

/// What can be undone, in words.
fn acts(bench: &Bench) -> Vec<String> {
    undo::list(&bench.gate, &bench.root()).unwrap().into_iter().map(|act| act.what).collect()
}

async fn undo_newest(bench: &Bench) -> UndoResponse {
    let newest = undo::list(&bench.gate, &bench.root()).unwrap().remove(0);
    undo::undo(&bench.gate, &bench.root(), &newest.act).await.unwrap()
}

#[tokio::test]
async fn a_revert_comes_back_with_what_was_staged_and_can_be_done_again() {
    let bench = Bench::new();
    bench.write("a.txt", "staged\n");
    bench.write("new.txt", "new\n");
    bench.git(&["add", "a.txt"]);
    bench.write("a.txt", "more\n");
    bench.write("other.txt", "other\n");
    let before = status(&bench);
    assert!(keep::revert(&bench.gate, &bench.root(), &paths(&["a.txt", "new.txt"])).await.unwrap().done);
    assert_eq!(status(&bench), "?? other.txt\n");
    assert_eq!(acts(&bench), ["reverted 2 files"]);
    // What comes later in another file stays.
    bench.write("later.txt", "later\n");
    bench.write("other.txt", "changed\n");
    let undone = undo_newest(&bench).await;
    assert!(undone.done, "{undone:?}");
    assert_eq!((bench.read("a.txt").as_str(), bench.read("new.txt").as_str()), ("more\n", "new\n"));
    assert_eq!(
        (bench.read("later.txt").as_str(), bench.read("other.txt").as_str()),
        ("later\n", "changed\n")
    );
    assert_eq!(status(&bench), format!("{}?? later.txt\n?? new.txt\n?? other.txt\n", &before[..9]));
    assert_eq!(bench.git(&["show", ":a.txt"]), "staged");
    // The undo is an act as well.
    assert_eq!(acts(&bench), ["undid: reverted 2 files"]);
    undo_newest(&bench).await;
    assert_eq!(bench.read("a.txt"), "one\n");
    assert!(!bench.path("new.txt").exists());
}

#[tokio::test]
async fn a_file_that_was_changed_since_is_left_alone_and_named() {
    let bench = Bench::new();
    bench.write("b.txt", "b\n");
    bench.commit("b");
    bench.write("a.txt", "mine\n");
    bench.write("b.txt", "mine too\n");
    keep::revert(&bench.gate, &bench.root(), &paths(&["a.txt", "b.txt"])).await.unwrap();
    bench.write("a.txt", "written since\n");
    let undone = undo_newest(&bench).await;
    assert_eq!(undone.files.unwrap().conflicts, ["a.txt"]);
    assert_eq!(
        (bench.read("a.txt").as_str(), bench.read("b.txt").as_str()),
        ("written since\n", "mine too\n")
    );
}

#[tokio::test]
async fn a_commit_is_undone_while_it_is_the_last_one() {
    let bench = Bench::new();
    let first = bench.git(&["rev-parse", "HEAD"]);
    bench.write("a.txt", "two\n");
    keep::commit(&bench.gate, &bench.root(), &commit("the second")).await.unwrap();
    assert_eq!(acts(&bench), ["committed “the second”"]);
    assert!(undo_newest(&bench).await.done);
    assert_eq!((bench.git(&["rev-parse", "HEAD"]), status(&bench)), (first, "M  a.txt\n".to_owned()));

    let second = keep::commit(&bench.gate, &bench.root(), &commit("the second")).await.unwrap();
    let amend = CommitParams { message: Some("better words".to_owned()), amend: true, all: false };
    keep::commit(&bench.gate, &bench.root(), &amend).await.unwrap();
    assert!(undo_newest(&bench).await.done);
    assert_eq!(Some(bench.git(&["rev-parse", "HEAD"])), second.commit);
    bench.write("a.txt", "three\n");
    bench.commit("by hand");
    let refused = undo_newest(&bench).await;
    assert!(!refused.done && refused.reason.unwrap().contains("other commits"));
    assert_eq!(bench.git(&["log", "-1", "--format=%s"]), "by hand");
}

#[tokio::test]
async fn the_first_commit_is_undone_too() {
    let bench = Bench::new();
    bench.git(&["update-ref", "-d", "HEAD"]);
    keep::commit(&bench.gate, &bench.root(), &commit("first")).await.unwrap();
    assert!(undo_newest(&bench).await.done);
    assert_eq!(status(&bench), "A  a.txt\n");
}

#[tokio::test]
async fn a_switch_goes_back_and_takes_a_branch_along_on_which_nothing_happened() {
    let bench = Bench::new();
    bench.write("a.txt", "not committed\n");
    let side = SwitchParams { branch: "side".to_owned(), create: true, from: None };
    keep::switch(&bench.gate, &bench.root(), &side).await.unwrap();
    assert_eq!(acts(&bench), ["switched from main to side"]);
    assert!(undo_newest(&bench).await.done);
    assert_eq!(bench.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(bench.read("a.txt"), "not committed\n");

    keep::switch(&bench.gate, &bench.root(), &side).await.unwrap();
    bench.commit("work");
    assert!(undo_newest(&bench).await.done);
    assert_eq!(bench.git(&["branch", "--format=%(refname:short)"]), "main\nside");
}

#[tokio::test]
async fn what_is_unknown_cannot_be_undone_and_old_acts_are_forgotten() {
    let bench = Bench::new();
    let unknown = undo::undo(&bench.gate, &bench.root(), "nothing").await;
    assert!(matches!(unknown, Err(RepositoryError::NotFound(_))), "{unknown:?}");
    for n in 0..30 {
        let act = undo::Act { what: format!("act {n}"), ..undo::Act::default() };
        undo::note(&bench.gate, &bench.root(), act).unwrap();
    }
    let acts = acts(&bench);
    assert_eq!((acts.len(), acts[0].as_str(), acts[19].as_str()), (20, "act 29", "act 10"));
}

#[tokio::test]
async fn a_file_in_conflict_is_not_reverted() {
    let bench = Bench::new();
    bench.git(&["switch", "-q", "-c", "side"]);
    bench.write("a.txt", "side\n");
    bench.commit("side");
    bench.git(&["switch", "-q", "main"]);
    bench.write("a.txt", "main\n");
    bench.commit("main");
    chartroom_testkit::hostile::git(bench.root().as_path(), &["merge", "side"]);
    let told = keep::status(&bench.gate, &bench.root()).await.unwrap();
    assert_eq!(told.in_progress.as_deref(), Some("merge"));
    let before = bench.read("a.txt");
    let refused = keep::revert(&bench.gate, &bench.root(), &paths(&["a.txt"])).await.unwrap();
    assert!(!refused.done && refused.reason.unwrap().contains("in conflict"));
    assert_eq!((bench.read("a.txt"), status(&bench)), (before, "UU a.txt\n".to_owned()));
}

#[tokio::test]
async fn everything_of_a_folder_is_not_everything_of_its_repository() {
    let bench = Bench::new();
    bench.write("sub/b.txt", "b\n");
    bench.commit("b");
    bench.write("a.txt", "mine\n");
    bench.write("sub/b.txt", "mine\n");
    let sub = chartroom_workspace::CanonicalRoot::open(bench.path("sub")).unwrap();
    bench.gate.trust().trust(&sub).unwrap();
    assert!(keep::stage(&bench.gate, &sub, &KeepParams::default()).await.unwrap().done);
    assert_eq!(status(&bench), " M a.txt\nM  sub/b.txt\n");
    assert!(keep::revert(&bench.gate, &sub, &KeepParams::default()).await.unwrap().done);
    assert_eq!(status(&bench), " M a.txt\n");
    let acts = undo::list(&bench.gate, &sub).unwrap();
    undo::undo(&bench.gate, &sub, &acts[0].act).await.unwrap();
    assert_eq!(status(&bench), " M a.txt\nM  sub/b.txt\n");
}

#[tokio::test]
async fn the_staged_hunks_of_a_file_are_told() {
    let bench = Bench::new();
    bench.write("a.txt", "staged\n");
    bench.git(&["add", "a.txt"]);
    bench.write("a.txt", "more\n");
    let told = keep::staged(&bench.gate, &bench.root(), "a.txt").await.unwrap();
    assert_eq!(told.patch, "@@ -1 +1 @@\n-one\n+staged\n");
    let nothing = keep::staged(&bench.gate, &bench.root(), "b.txt").await.unwrap();
    assert_eq!(nothing.patch, "");
}
