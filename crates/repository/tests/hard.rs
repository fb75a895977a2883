//! Repositories that are hard: records, keep or undo, and worktrees each do what they do anywhere, or say what is wrong and
//! what to do; nothing is lost, and records change nothing in the repository.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]

#[path = "common/bench.rs"]
mod bench;
#[path = "sequences/files.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod files;

use std::os::unix::fs::symlink;
use std::path::Path;

use bench::{Bench, gate_on, git, write};
use chartroom_checkpoints::{CheckpointError, Detail, Scope};
use chartroom_protocol::keep::{CommitParams, KeepParams, SwitchParams};
use chartroom_repository::{RepositoryError, keep, worktrees};
use files::{bytes_of, tree};

/// What was not done, and why.
#[derive(Debug, Default)]
struct Answers {
    staged: Option<String>,
    reverted: Option<String>,
    worktree: Option<String>,
}

/// What changed since the last commit, as `status path`.
async fn changes(bench: &Bench) -> Vec<String> {
    let changes = bench.records().await.changes(&Scope::Uncommitted, Detail::Patch).await.unwrap();
    changes.files.iter().map(|file| format!("{:?} {}", file.status, file.path)).collect()
}

/// Does everything once: records leave no trace, what is taken back comes back, what is refused says why.
async fn walk_through(bench: &Bench) -> Answers {
    let (root, gate) = (bench.root(), &bench.gate);
    let dot_git = bench.path(".git");
    let repository = if dot_git.is_dir() { dot_git } else { bench.folder.path().join("moved.git") };
    let (before, git_before) = (tree(root.as_path()), bytes_of(&repository));
    let first = bench.make().await;
    let records = bench.records().await;
    records.diff(&first, None, Detail::Patch).await.unwrap();
    records.changes(&Scope::Uncommitted, Detail::Versions).await.unwrap();
    bench.write("a.txt", "by an agent\n");
    bench.write("made/by an agent.txt", "new\n");
    let restored = bench.restore(&first, false).await.unwrap();
    assert_eq!(restored.conflicts, [""; 0]);
    assert_eq!(tree(root.as_path()), before);
    assert_eq!(bytes_of(&repository), git_before, "records change nothing in the repository");

    let mut answers = Answers::default();
    if let Err(error) = keep::status(gate, &root).await {
        assert!(matches!(error, RepositoryError::Failed { .. }), "{error}");
    }
    let everything = KeepParams::default();
    let staged = keep::stage(gate, &root, &everything).await.unwrap();
    answers.staged = staged.reason;
    keep::unstage(gate, &root, &everything).await.unwrap();
    assert_eq!(tree(root.as_path()), before, "staging changes no file");
    let (reason, undo) = match keep::revert(gate, &root, &everything).await {
        Ok(reverted) => (reverted.reason, reverted.undo),
        Err(error) => (Some(error.to_string()), None),
    };
    answers.reverted = reason;
    if let Some(undo) = undo {
        let undo = bench.records().await.find_here(&undo).unwrap();
        let back = bench.restore(&undo, true).await.unwrap();
        assert_eq!(back.conflicts, [""; 0]);
    }
    assert_eq!(tree(root.as_path()), before, "what was taken back came back");
    match bench.try_add("try", None).await {
        Ok(added) => {
            let record = bench.record(&added.worktree.name);
            assert!(worktrees::remove(gate, &record, true).await.unwrap().removed);
        }
        Err(error) => {
            answers.worktree = Some(error.to_string());
            assert!(worktrees::list(gate, None).is_empty(), "nothing is left of it");
            assert_eq!(git(root.as_path(), &["branch", "--list", "try"]), "");
        }
    }
    assert_eq!(tree(root.as_path()), before);
    answers
}

#[tokio::test]
async fn submodules_are_left_out_and_left_alone() {
    let bench = Bench::new();
    let library = bench.folder.path().join("library");
    std::fs::create_dir(&library).unwrap();
    git(&library, &["init", "-q", "-b", "main"]);
    write(&library, "lib.txt", "library\n");
    bench::commit(&library, "first");
    let from = library.to_str().unwrap();
    bench.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    bench.commit("with a submodule");
    bench.write("sub/lib.txt", "changed in the submodule\n");
    bench.write("sub/new.txt", "new in the submodule\n");
    let made = bench.make().await;
    assert_eq!(made.left_out.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["sub/"]);
    assert_eq!(changes(&bench).await, [""; 0], "it is no deletion");
    bench.write("a.txt", "changed\n");
    assert_eq!(changes(&bench).await, ["Modified a.txt"]);
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
    assert_eq!(bench.read("sub/lib.txt"), "changed in the submodule\n");
}

#[tokio::test]
async fn lfs_pointers_without_git_lfs_are_files_like_others_and_what_git_cannot_do_is_told() {
    let bench = Bench::new();
    bench.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
    bench.write("x.bin", pointer);
    bench.commit("a pointer");
    for (key, value) in [
        ("filter.lfs.clean", "git-lfs-that-is-not-there clean -- %f"),
        ("filter.lfs.smudge", "git-lfs-that-is-not-there smudge -- %f"),
        ("filter.lfs.process", "git-lfs-that-is-not-there filter-process"),
        ("filter.lfs.required", "true"),
    ] {
        bench.git(&["config", key, value]);
    }
    bench.write("x.bin", "new content\n");
    assert_eq!(changes(&bench).await, ["Modified x.bin"]);
    let answers = walk_through(&bench).await;
    for answer in [answers.staged, answers.reverted, answers.worktree] {
        let answer = answer.unwrap();
        assert!(answer.contains("git-lfs-that-is-not-there") || answer.contains("filter"), "{answer}");
    }
    assert_eq!(bench.read("x.bin"), "new content\n");
}

#[tokio::test]
async fn what_a_sparse_checkout_leaves_out_is_no_deletion() {
    let bench = Bench::new();
    bench.write("in/one.txt", "one\n");
    bench.write("out/two.txt", "two\n");
    bench.commit("two folders");
    bench.git(&["sparse-checkout", "set", "in"]);
    assert!(!bench.path("out").exists());
    assert_eq!(changes(&bench).await, [""; 0]);
    std::fs::remove_file(bench.path("in/one.txt")).unwrap();
    bench.write("a.txt", "changed\n");
    assert_eq!(changes(&bench).await, ["Modified a.txt", "Deleted in/one.txt"]);
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
    assert!(!bench.path("out").exists());
}

#[tokio::test]
async fn a_repository_without_a_commit_can_be_recorded_and_taken_back_but_has_no_worktree() {
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.path(".git")).unwrap();
    bench.git(&["init", "-q", "-b", "main"]);
    bench.write("b.txt", "b\n");
    bench.git(&["add", "b.txt"]);
    assert_eq!(changes(&bench).await, ["Untracked a.txt", "Added b.txt"]);
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted), (None, None));
    assert!(answers.worktree.unwrap().contains("no commit yet"));
    let amend = CommitParams { message: None, amend: true, all: false };
    let refused = keep::commit(&bench.gate, &bench.root(), &amend).await.unwrap_err();
    assert!(refused.to_string().contains("no commit yet"), "{refused}");
}

#[tokio::test]
async fn a_detached_head_is_recorded_and_kept_but_not_pushed() {
    let bench = Bench::new();
    bench.git(&["checkout", "-q", "--detach"]);
    bench.write("a.txt", "changed\n");
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
    let status = keep::status(&bench.gate, &bench.root()).await.unwrap();
    assert_eq!((status.branch, status.files.len()), (None, 1));
    let refused = keep::push(&bench.gate, &bench.root()).await.unwrap_err();
    assert!(refused.to_string().contains("no branch is checked out"), "{refused}");
}

/// A conflict between two branches in `a.txt`, begun with this command on `main`.
fn conflicted(command: &[&str]) -> Bench {
    let bench = Bench::new();
    bench.git(&["switch", "-q", "-c", "other"]);
    bench.write("a.txt", "theirs\n");
    bench.commit("theirs");
    bench.git(&["switch", "-q", "main"]);
    bench.write("a.txt", "ours\n");
    bench.commit("ours");
    let begun = chartroom_testkit::hostile::git(bench.root().as_path(), command);
    assert!(!begun.status.success(), "there is a conflict");
    bench
}

#[tokio::test]
async fn a_merge_and_a_rebase_in_progress_are_told_and_go_on_afterwards() {
    for (command, name) in [(["merge", "other"], "merge"), (["rebase", "other"], "rebase")] {
        let bench = conflicted(&command);
        let status = keep::status(&bench.gate, &bench.root()).await.unwrap();
        assert_eq!(status.in_progress.as_deref(), Some(name));
        assert!(status.files.iter().any(|file| file.path == "a.txt" && file.conflicted), "{status:?}");
        let before = bench.read("a.txt");
        let first = bench.make().await;
        bench.write("a.txt", "resolved\n");
        bench.restore(&first, false).await.unwrap();
        assert_eq!(bench.read("a.txt"), before, "the marks of the conflict are there again");
        let switch = SwitchParams { branch: "other".to_owned(), create: false, from: None };
        let kept = keep::switch(&bench.gate, &bench.root(), &switch).await.unwrap();
        assert!(!kept.done && !kept.output.is_empty(), "{kept:?}");
        let reverted = keep::revert(&bench.gate, &bench.root(), &KeepParams::default()).await.unwrap();
        assert!(!reverted.done && reverted.reason.unwrap().contains("in conflict"));
        assert_eq!(bench.read("a.txt"), before);
        let status = keep::status(&bench.gate, &bench.root()).await.unwrap();
        assert_eq!(status.in_progress.as_deref(), Some(name));
        let (_, worktree) = bench.add("beside").await;
        assert!(worktree.join("a.txt").exists());
        bench.git(&[name, "--abort"]);
    }
}

#[tokio::test]
async fn names_that_differ_in_case_alone_are_two_names() {
    let bench = Bench::new();
    std::fs::rename(bench.path("a.txt"), bench.path("A.txt")).unwrap();
    assert_eq!(changes(&bench).await, ["Renamed A.txt"]);
    walk_through_without_a_txt(&bench).await;
    bench.git(&["config", "core.ignoreCase", "true"]);
    walk_through_without_a_txt(&bench).await;
    bench.write("a.txt", "both are here\n");
    walk_through(&bench).await;
    assert_eq!(bench.read("A.txt"), "one\n");
}

/// The walk through writes `a.txt`, which is not there: it goes again.
async fn walk_through_without_a_txt(bench: &Bench) {
    let answers = walk_through(bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
    assert!(!bench.path("a.txt").exists() && bench.path("A.txt").exists());
}

#[tokio::test]
async fn names_may_have_any_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    let names = [&b"new\nline"[..], b"\xff\xfe", b"quote\"tab\t", b" space ", b"-dash", b":(glob)*"];
    let write_all = |text: &str| {
        for name in names {
            std::fs::write(bench.root().as_path().join(std::ffi::OsStr::from_bytes(name)), text).unwrap();
        }
    };
    write_all("tracked\n");
    bench.commit("with odd names");
    write_all("changed\n");
    assert_eq!(changes(&bench).await.len(), 6);
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
}

#[tokio::test]
async fn links_are_links_wherever_they_lead() {
    let bench = Bench::new();
    let outside = bench.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a.txt"), "outside\n").unwrap();
    bench.write("dir/a.txt", "inside\n");
    symlink("a.txt", bench.path("to a file")).unwrap();
    bench.commit("with a link");
    symlink(&outside, bench.path("out")).unwrap();
    symlink("/nonexistent", bench.path("dangling")).unwrap();
    symlink(".", bench.path("circle")).unwrap();
    // A folder became a link to outside that has a file of the same name.
    std::fs::remove_dir_all(bench.path("dir")).unwrap();
    symlink(&outside, bench.path("dir")).unwrap();
    let answers = walk_through(&bench).await;
    assert_eq!((answers.staged, answers.reverted, answers.worktree), (None, None, None));
    assert_eq!(std::fs::read_to_string(outside.join("a.txt")).unwrap(), "outside\n");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read_link(bench.path("dir")).unwrap(), outside);
}

#[tokio::test]
async fn a_repository_that_lies_elsewhere_is_found_by_its_pointer() {
    let bench = Bench::new();
    let moved = bench.folder.path().join("moved.git");
    std::fs::rename(bench.path(".git"), &moved).unwrap();
    bench.write(".git", &format!("gitdir: {}\n", moved.display()));
    bench.write("a.txt", "changed\n");
    assert_eq!(changes(&bench).await, ["Modified a.txt"]);
    let refused = keep::status(&bench.gate, &bench.root()).await.unwrap_err();
    assert!(refused.to_string().contains("is not trusted"), "its config is not below the folder: {refused}");
    let first = bench.make().await;
    bench.write("a.txt", "again\n");
    bench.restore(&first, false).await.unwrap();
    assert_eq!(bench.read("a.txt"), "changed\n");
}

#[tokio::test]
async fn without_git_everything_says_so() {
    let mut bench = Bench::new();
    let empty = bench.folder.path().join("no programs");
    std::fs::create_dir(&empty).unwrap();
    bench.gate = gate_on(bench.folder.path(), empty.to_str().unwrap());
    for refusal in refusals(&bench).await {
        assert!(refusal.contains("git was not found"), "{refusal}");
    }
    assert_eq!(bench.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_git_that_is_too_old_is_named_with_what_is_needed() {
    let mut bench = Bench::new();
    // It does not know the options, and echoes those of rev-parse.
    bench.with_git(
        "case \" $* \" in *\" version \"*) echo git version 2.20.1;;\n\
         *\" rev-parse \"*) shift $(($# - 4)); printf '%s\\n' \"$1\" /; exit 0;;\n\
         *) echo error: unknown option >&2; exit 129;; esac",
    );
    for refusal in refusals(&bench).await {
        assert!(refusal.contains("git version 2.20.1 is too old"), "{refusal}");
        assert!(refusal.contains("install git 2.31 or later"), "{refusal}");
    }
    assert_eq!(bench.read("a.txt"), "one\n");
}

/// What each act says where none can be done.
async fn refusals(bench: &Bench) -> Vec<String> {
    let (root, gate) = (bench.root(), &bench.gate);
    let everything = KeepParams::default();
    let commit = CommitParams { message: Some("m".to_owned()), amend: false, all: true };
    let switch = SwitchParams { branch: "b".to_owned(), create: true, from: None };
    let records: CheckpointError = match chartroom_checkpoints::Records::of(gate, &root).await {
        Ok(records) => records.make(Default::default).await.unwrap_err(),
        Err(error) => error,
    };
    let mut said = vec![records.to_string()];
    let acts = [
        keep::status(gate, &root).await.err(),
        keep::stage(gate, &root, &everything).await.err(),
        keep::revert(gate, &root, &everything).await.err(),
        keep::commit(gate, &root, &commit).await.err(),
        keep::switch(gate, &root, &switch).await.err(),
        keep::push(gate, &root).await.err(),
        bench.try_add("try", None).await.err(),
    ];
    said.extend(acts.into_iter().map(|refusal| refusal.unwrap().to_string()));
    said
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_recorded_and_nothing_else() {
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.path(".git")).unwrap();
    let first = bench.make().await;
    bench.write("a.txt", "changed\n");
    bench.restore(&first, false).await.unwrap();
    assert_eq!(bench.read("a.txt"), "one\n");
    let refused = bench.records().await.changes(&Scope::Uncommitted, Detail::Counts).await.unwrap_err();
    assert!(refused.to_string().contains("is in no git repository"), "{refused}");
    let refused = keep::status(&bench.gate, &bench.root()).await.unwrap_err();
    assert!(refused.to_string().contains("is not a git repository"), "{refused}");
    assert!(!Path::new(&bench.path(".git")).exists());
}
