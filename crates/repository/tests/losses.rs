//! What a restore or a revert could take with it: files that no record holds, what changes while it runs, bytes that are no
//! text, contents that are gone. Nothing of a person's may be lost, and what cannot be done is told before anything changes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use bench::{Bench, write};
use chartroom_checkpoints::{CheckpointError, Detail, Kind, MAX_FILE_BYTES, Sight, Wanted, Words};
use chartroom_protocol::keep::{KeepParams, TurnOf};
use chartroom_repository::{RepositoryError, keep, worktrees};

fn make_large(bench: &Bench, name: &str) {
    std::fs::File::create(bench.path(name)).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
}

fn size(bench: &Bench, name: &str) -> u64 {
    bench.path(name).metadata().unwrap().len()
}

#[tokio::test]
async fn a_restore_leaves_files_alone_that_no_record_holds_even_if_it_is_forced() {
    let bench = Bench::new();
    bench.write("grown.bin", "small\n");
    bench.write("in/.env", "of the record\n");
    let first = bench.make().await;
    std::fs::remove_dir_all(bench.path("in")).unwrap();
    bench.make().await;
    make_large(&bench, "grown.bin");
    bench.write(".gitignore", ".env\n");
    bench.write("in/.env", "a person's\n");
    bench.write("a.txt", "changed\n");
    let restored = bench.restore(&first, true).await.unwrap();
    assert_eq!(restored.conflicts, ["grown.bin", "in/.env"]);
    assert_eq!((bench.read("in/.env").as_str(), bench.read("a.txt").as_str()), ("a person's\n", "one\n"));
    assert_eq!(size(&bench, "grown.bin"), MAX_FILE_BYTES + 1);
}

#[tokio::test]
async fn what_a_record_left_out_is_not_removed_by_restoring_it() {
    let bench = Bench::new();
    make_large(&bench, "shrunk.bin");
    bench.git(&["init", "-q", "inner"]);
    bench.write("inner/x.txt", "x\n");
    let first = bench.make().await;
    bench.write("shrunk.bin", "small\n");
    std::fs::remove_dir_all(bench.path("inner/.git")).unwrap();
    let restored = bench.restore(&first, true).await.unwrap();
    assert_eq!(restored.conflicts, ["inner/x.txt", "shrunk.bin"]);
    assert_eq!((bench.read("inner/x.txt").as_str(), bench.read("shrunk.bin").as_str()), ("x\n", "small\n"));
}

/// A file that is ignored and in the user's repository all the same: gone at one record, there again at the next.
async fn a_tracked_file_comes_again(name: &str, sight: &Sight) {
    let bench = Bench::new();
    bench.write(name, "committed\n");
    bench.commit("with a file");
    bench.write(".gitignore", "out/\n*.tmp\n");
    bench.commit("which is ignored now");
    let records = bench.records().await.seen_by(sight);
    let first = records.make(Words::default).await.unwrap();
    std::fs::remove_file(bench.path(name)).unwrap();
    let without = records.make(Words::default).await.unwrap();
    // Again until the look is older than the clock's tick, so that the next one may rest on it. Looks, not records: of
    // those a quick machine makes so many in this time that the first is thinned out.
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_millis(250) {
        records.look().await.unwrap();
    }
    bench.write(name, "a person's\n");
    let with = records.make(Words::default).await.unwrap();
    let differs = records.diff(&without, Some(&with), Detail::Counts).await.unwrap();
    assert_eq!(differs.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [name]);
    let restored = bench.restore(&first, true).await.unwrap();
    assert_eq!(bench.read(name), "committed\n");
    let undo = records.find_here(&restored.undo.unwrap()).unwrap();
    bench.restore(&undo, true).await.unwrap();
    assert_eq!(bench.read(name), "a person's\n");
}

#[tokio::test]
async fn a_tracked_file_that_is_ignored_is_recorded_when_it_comes_again() {
    a_tracked_file_comes_again("kept.tmp", &Sight::default()).await;
    a_tracked_file_comes_again("out/kept", &Sight::default()).await;
}

#[tokio::test]
async fn a_tracked_file_that_is_ignored_is_recorded_after_a_record_that_failed() {
    let mut bench = Bench::new();
    bench.write("kept.tmp", "committed\n");
    bench.write(".gitignore", "*.tmp\n");
    bench.git(&["add", "-f", "kept.tmp"]);
    bench.commit("ignored and tracked");
    let fails = bench.folder.path().join("fails");
    std::fs::write(&fails, "").unwrap();
    bench.with_git(&format!(
        "case \" $* \" in *\" update-index \"*) test ! -e '{0}' || {{ rm '{0}'; exit 1; }};; esac; exec $GIT \"$@\"",
        fails.display()
    ));
    bench.records().await.make(Words::default).await.unwrap_err();
    assert!(!fails.exists());
    let first = bench.make().await;
    bench.write("kept.tmp", "changed\n");
    bench.restore(&first, true).await.unwrap();
    assert_eq!(bench.read("kept.tmp"), "committed\n");
}

#[tokio::test]
async fn a_file_that_changes_while_a_restore_runs_is_left_alone_even_if_it_is_forced() {
    let mut bench = Bench::new();
    bench.write("late.txt", "one\n");
    let first = bench.make().await;
    bench.write("late.txt", "two\n");
    bench.write("a.txt", "two\n");
    // When the contents are read, everything has been looked at.
    bench.with_git(&format!(
        "case \" $* \" in *\" cat-file --batch \"*) echo 'in between' > '{0}/late.txt'; echo 'in between' > '{0}/new.txt';; esac\n\
         exec $GIT \"$@\"",
        bench.root()
    ));
    let restored = bench.restore(&first, true).await.unwrap();
    assert_eq!(restored.conflicts, ["late.txt"]);
    assert_eq!(restored.written, ["a.txt"]);
    assert_eq!((bench.read("late.txt").as_str(), bench.read("a.txt").as_str()), ("in between\n", "one\n"));
    assert_eq!(bench.read("new.txt"), "in between\n");
}

#[tokio::test]
async fn a_list_with_a_half_written_line_and_bytes_that_are_no_text_keeps_its_records() {
    use std::io::Write as _;
    let bench = Bench::new();
    let first = bench.make().await;
    let mut list = std::fs::File::options().append(true).open(bench.store().join("records.jsonl")).unwrap();
    list.write_all(b"{\"id\":\"0123456789ab\",\"at\":17\xff\0\0").unwrap();
    bench.write("a.txt", "two\n");
    let second = bench.make().await;
    let ids: Vec<String> = bench.records().await.list(None).unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, [first.id.clone(), second.id]);
    bench.restore(&first, true).await.unwrap();
    assert_eq!(bench.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_content_that_the_users_git_threw_away_is_told_and_nothing_has_changed() {
    let bench = Bench::new();
    bench.write("staged.txt", "in the user's objects alone\n");
    bench.git(&["add", "staged.txt"]);
    let first = bench.make().await;
    bench.git(&["rm", "-q", "--cached", "staged.txt"]);
    bench.write("staged.txt", "two\n");
    bench.write("a.txt", "two\n");
    bench.git(&["prune", "--expire=now"]);
    let refused = bench.restore(&first, true).await.unwrap_err();
    assert!(matches!(refused, CheckpointError::Lost { .. }), "{refused}");
    assert!(refused.to_string().contains("staged.txt"), "{refused}");
    assert_eq!((bench.read("staged.txt").as_str(), bench.read("a.txt").as_str()), ("two\n", "two\n"));
    let only = Wanted { paths: vec!["a.txt".into()], force: true, dry_run: false };
    bench.records().await.restore(&first, &only).await.unwrap();
    assert_eq!(bench.read("a.txt"), "one\n");
}

#[tokio::test]
async fn records_go_on_after_the_users_git_threw_away_what_they_had_borrowed() {
    let bench = Bench::new();
    bench.write("deep/staged.txt", "in the user's objects alone\n");
    bench.git(&["add", "deep/staged.txt"]);
    bench.make().await;
    bench.git(&["rm", "-q", "--cached", "deep/staged.txt"]);
    bench.git(&["prune", "--expire=now"]);
    bench.write("deep/other.txt", "other\n");
    let second = bench.make().await;
    bench.write("deep/staged.txt", "two\n");
    bench.restore(&second, true).await.unwrap();
    assert_eq!(bench.read("deep/staged.txt"), "in the user's objects alone\n");
}

#[tokio::test]
async fn a_restore_that_stops_half_way_names_the_way_back() {
    let mut bench = Bench::new();
    bench.write("b.txt", "b\n");
    let first = bench.make().await;
    bench.write("a.txt", "two\n");
    bench.write("new.txt", "new\n");
    bench.with_git(
        "case \" $* \" in *\" cat-file --batch \"*) echo no room >&2; exit 1;; esac; exec $GIT \"$@\"",
    );
    let stopped = bench.restore(&first, false).await.unwrap_err();
    let CheckpointError::Stopped { undo, .. } = &stopped else { panic!("{stopped}") };
    assert!(
        stopped.to_string().contains(&format!("chartroom checkpoint restore {undo} --force")),
        "{stopped}"
    );
    bench.with_git("exec $GIT \"$@\"");
    let undo = bench.records().await.find_here(undo).unwrap();
    bench.restore(&undo, true).await.unwrap();
    assert_eq!((bench.read("a.txt").as_str(), bench.read("new.txt").as_str()), ("two\n", "new\n"));
}

#[tokio::test]
async fn many_large_files_come_back() {
    let bench = Bench::new();
    let names: Vec<String> = (0..33).map(|n| format!("large/{n:02}")).collect();
    std::fs::create_dir(bench.path("large")).unwrap();
    for name in &names {
        std::fs::File::create(bench.path(name)).unwrap().set_len(MAX_FILE_BYTES).unwrap();
    }
    let first = bench.make().await;
    std::fs::remove_dir_all(bench.path("large")).unwrap();
    let restored = bench.restore(&first, false).await.unwrap();
    assert_eq!(restored.written, names);
    assert!(names.iter().all(|name| size(&bench, name) == MAX_FILE_BYTES));
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_taken_back_whatever_bytes_its_name_has() {
    let bench = Bench::new();
    let odd = bench.root().as_path().join(OsStr::from_bytes(b"large \xff\n.bin"));
    std::fs::File::create(&odd).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let kept = keep::revert(&bench.gate, &bench.root(), &KeepParams::default()).await.unwrap();
    assert!(!kept.done && kept.reason.unwrap().contains("could not be recorded"));
    assert!(odd.exists());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_taken_back_as_they_were_or_not_at_all() {
    let bench = Bench::new();
    let latin = b"caf\xe9\nplain\n";
    std::fs::write(bench.path("latin.txt"), latin).unwrap();
    bench.commit("latin");
    bench.turn(Kind::Before, "one").await;
    bench.write("latin.txt", "coffee\nplain\n");
    bench.turn(Kind::After, "one").await;
    // As the page has it: what is no text is replaced.
    let hunk =
        "--- a/latin.txt\n+++ b/latin.txt\n@@ -1,2 +1,2 @@\n-caf\u{fffd}\n+coffee\n plain\n".to_owned();
    let hunk = KeepParams { patch: Some(hunk), ..KeepParams::default() };
    let kept = keep::revert(&bench.gate, &bench.root(), &hunk).await.unwrap();
    assert!(!kept.done && kept.reason.as_deref().unwrap().contains("no text"), "{kept:?}");
    assert_eq!(bench.read("latin.txt"), "coffee\nplain\n");
    let turn = Some(TurnOf { session: "s".to_owned(), turn: Some("one".into()) });
    let reverted = keep::revert(&bench.gate, &bench.root(), &KeepParams { turn, ..KeepParams::default() })
        .await
        .unwrap();
    assert!(reverted.done, "{reverted:?}");
    assert_eq!(std::fs::read(bench.path("latin.txt")).unwrap(), latin);
    for act in [0, 1] {
        let staged = match act {
            0 => keep::stage(&bench.gate, &bench.root(), &hunk).await.unwrap(),
            _ => keep::unstage(&bench.gate, &bench.root(), &hunk).await.unwrap(),
        };
        assert!(!staged.done && staged.reason.unwrap().contains("no text"));
    }
}

#[tokio::test]
async fn a_worktree_with_work_that_cannot_be_recorded_stays_even_if_it_is_forced() {
    let bench = Bench::new();
    let (record, path) = bench.add("work").await;
    write(&path, "b.txt", "b\n");
    std::fs::File::create(path.join("large.bin")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let refused = worktrees::remove(&bench.gate, &record, true).await.unwrap_err();
    assert!(matches!(&refused, RepositoryError::Refused(_)), "{refused}");
    assert!(refused.to_string().contains("large.bin"), "{refused}");
    assert!(path.join("large.bin").exists());
    std::fs::remove_file(path.join("large.bin")).unwrap();
    assert!(worktrees::remove(&bench.gate, &record, true).await.unwrap().removed);
}

#[tokio::test]
async fn a_record_that_was_thinned_out_meanwhile_is_told_and_nothing_has_changed() {
    let bench = Bench::new();
    let first = bench.make().await;
    bench.write("a.txt", "two\n");
    bench.make().await;
    // As thinning leaves the list while this restore waits for the lock.
    let list = bench.store().join("records.jsonl");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text.split_once('\n').unwrap().1).unwrap();
    let refused = bench.restore(&first, true).await.unwrap_err();
    assert!(matches!(refused, CheckpointError::Unknown { .. }), "{refused}");
    assert_eq!(bench.read("a.txt"), "two\n");
}

#[tokio::test]
async fn staging_means_the_files_that_are_named_whatever_of_an_input_a_kill_lets_through() {
    let mut bench = Bench::new();
    bench.write("b.txt", "b\n");
    bench.write("c.txt", "c\n");
    // A writer that is killed leaves an input that ends before it began.
    bench.with_git("exec $GIT \"$@\" < /dev/null");
    let only_b = KeepParams { paths: vec!["b.txt".to_owned()], ..KeepParams::default() };
    let staged = || bench.git(&["diff", "--cached", "--name-only"]);
    assert!(keep::stage(&bench.gate, &bench.root(), &only_b).await.unwrap().done);
    assert_eq!(staged(), "b.txt");
    bench.git(&["add", "c.txt"]);
    assert!(keep::unstage(&bench.gate, &bench.root(), &only_b).await.unwrap().done);
    assert_eq!(staged(), "c.txt");
}
