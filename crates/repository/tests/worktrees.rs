//! Worktrees of our making with the real git: made, trusted by their record alone, brought back, removed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use std::path::Path;

use bench::{Bench, commit, git, write};
use chartroom_protocol::worktree::{AddWorktreeParams, BringHow, BringParams, BringResponse};
use chartroom_repository::RepositoryError;
use chartroom_repository::worktrees::{self, Preparation, Record};
use chartroom_testkit::hostile::Hostile;
use chartroom_workspace::CanonicalRoot;

async fn bring(bench: &Bench, record: &Record, how: BringHow) -> BringResponse {
    let params = BringParams { onto: "main".to_owned(), how };
    worktrees::bring(&bench.gate, &bench.record(&record.name), &params).await.unwrap()
}

fn is_trusted(bench: &Bench, path: &Path) -> bool {
    bench.gate.is_trusted(&CanonicalRoot::open(path).unwrap())
}

#[tokio::test]
async fn a_worktree_is_made_below_the_data_folder_with_what_the_config_names() {
    let bench = Bench::new();
    bench.write(".gitignore", ".env\n");
    bench.commit("ignore");
    bench.write(".env", "KEY=1\n");
    bench.write("local/deep/x.toml", "x\n");
    std::os::unix::fs::symlink("/etc/passwd", bench.path("out")).unwrap();
    let names = [".env", "local", "missing", "../data/trust.json", "out", "/etc/passwd", "a.txt"];
    let preparation = Preparation {
        copy: names.iter().map(Into::into).collect(),
        setup: ["sh", "-c", "pwd; echo told >&2; cat .env; exit 3"].map(str::to_owned).to_vec(),
    };
    let params = AddWorktreeParams { branch: "feature/new one".replace(' ', "-"), from: None };
    let added = worktrees::add(&bench.gate, &bench.root(), &params, &preparation).await.unwrap();
    assert_eq!(added.worktree.name, "feature-new-one");
    assert_eq!(added.worktree.base, bench.git(&["rev-parse", "HEAD"]));
    let path = Path::new(&added.worktree.path);
    assert!(path.starts_with(bench.folder.path().canonicalize().unwrap().join("data/worktrees")));
    assert_eq!(git(path, &["symbolic-ref", "--short", "HEAD"]), "feature/new-one");
    assert_eq!(
        added.copied,
        [".env", "local/deep/x.toml"],
        "below the repository, and what git did not bring"
    );
    assert_eq!(std::fs::read_to_string(path.join(".env")).unwrap(), "KEY=1\n");
    let setup = added.setup.unwrap();
    assert!(!setup.ok && setup.output.contains("KEY=1") && setup.output.contains("told"), "{setup:?}");
    assert!(setup.output.starts_with(path.to_str().unwrap()), "{setup:?}");
    assert!(is_trusted(&bench, path));

    for (branch, from) in
        [("feature/new-one", None), ("main", None), ("no..name", None), ("-x", None), ("x", Some("nobody"))]
    {
        let refused = bench.try_add(branch, from).await;
        let is_told = matches!(refused, Err(RepositoryError::Refused(_) | RepositoryError::NotFound(_)));
        assert!(is_told, "{branch}: {refused:?}");
    }
    let listed: Vec<String> = worktrees::list(&bench.gate, None).into_iter().map(|it| it.name).collect();
    assert_eq!(listed, ["feature-new-one"]);
}

#[tokio::test]
async fn a_worktree_is_trusted_by_its_record_and_a_forged_one_is_not() {
    let bench = Bench::new();
    let (_, path) = bench.add("work").await;
    assert!(is_trusted(&bench, &path));

    // One that somebody else made beside it, with everything that git writes, has no record.
    let forged = path.parent().unwrap().join("forged");
    bench.git(&["worktree", "add", "-q", "-b", "forged", forged.to_str().unwrap()]);
    assert!(!is_trusted(&bench, &forged));
    std::fs::create_dir(path.parent().unwrap().join("plain")).unwrap();
    assert!(!is_trusted(&bench, &path.parent().unwrap().join("plain")));
    assert!(!is_trusted(&bench, path.parent().unwrap()), "nothing above it");
    std::fs::create_dir(path.join("below")).unwrap();
    assert!(!is_trusted(&bench, &path.join("below")), "nothing below it");

    // Its own pointer leads to another repository, or is a link.
    let pointer = std::fs::read_to_string(path.join(".git")).unwrap();
    let other = bench.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    let git_dir = bench.root().as_path().join(".git");
    for forged in [
        format!("gitdir: {}/.git\n", other.display()),
        format!("gitdir: {}\n", git_dir.display()),
        format!("gitdir: {}/worktrees/forged\n", git_dir.display()),
        format!("gitdir: {}/worktrees/../worktrees/work\n", git_dir.display()),
        String::new(),
    ] {
        std::fs::write(path.join(".git"), &forged).unwrap();
        assert!(!is_trusted(&bench, &path), "{forged}");
    }
    std::fs::remove_file(path.join(".git")).unwrap();
    std::fs::write(other.join("pointer"), &pointer).unwrap();
    std::os::unix::fs::symlink(other.join("pointer"), path.join(".git")).unwrap();
    assert!(!is_trusted(&bench, &path), "a link");
    std::fs::remove_file(path.join(".git")).unwrap();
    std::fs::write(path.join(".git"), &pointer).unwrap();
    assert!(is_trusted(&bench, &path), "as it was");

    // The repository's note of it leads elsewhere.
    let back = git_dir.join("worktrees/work/gitdir");
    let note = std::fs::read_to_string(&back).unwrap();
    std::fs::write(&back, format!("{}/.git\n", forged.display())).unwrap();
    assert!(!is_trusted(&bench, &path));
    std::fs::write(&back, note).unwrap();
    assert!(is_trusted(&bench, &path));

    // Another folder in its place; the repository replaced; the user's trust taken back.
    let aside = bench.folder.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join(".git"), &pointer).unwrap();
    assert!(!is_trusted(&bench, &path));
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::rename(&aside, &path).unwrap();
    assert!(is_trusted(&bench, &path));
    let moved = bench.folder.path().join("moved");
    std::fs::rename(&git_dir, &moved).unwrap();
    git(bench.root().as_path(), &["init", "-q"]);
    assert!(!is_trusted(&bench, &path), "another repository");
    std::fs::remove_dir_all(&git_dir).unwrap();
    std::fs::rename(&moved, &git_dir).unwrap();
    assert!(is_trusted(&bench, &path));
    bench.gate.trust().revoke(bench.root().as_path()).unwrap();
    assert!(!is_trusted(&bench, &path));
    bench.gate.trust().trust(&bench.root()).unwrap();
    assert!(is_trusted(&bench, &path), "the record is there still, and holds again");
    bench.gate.trust().revoke(&path).unwrap();
    assert!(!is_trusted(&bench, &path));
}

#[tokio::test]
async fn a_worktree_of_a_worktree_depends_on_the_folder_that_the_user_trusts() {
    let bench = Bench::new();
    let (_, first) = bench.add("first").await;
    let params = AddWorktreeParams { branch: "second".to_owned(), from: None };
    let root = CanonicalRoot::open(&first).unwrap();
    let added = worktrees::add(&bench.gate, &root, &params, &Preparation::default()).await.unwrap();
    assert_eq!(added.worktree.repository, bench.root().to_string());
    assert!(is_trusted(&bench, Path::new(&added.worktree.path)));
    bench.gate.trust().revoke(bench.root().as_path()).unwrap();
    assert!(!is_trusted(&bench, Path::new(&added.worktree.path)));
}

#[tokio::test]
async fn work_comes_back_as_a_merge_one_commit_commit_by_commit_or_uncommitted() {
    for how in [BringHow::Merge, BringHow::Squash, BringHow::Rebase, BringHow::Apply] {
        let bench = Bench::new();
        let (record, path) = bench.add("work").await;
        bench.write("mine.txt", "mine\n");
        bench.commit("mine");
        let before = bench.git(&["rev-parse", "main"]);
        write(&path, "b.txt", "b\n");
        commit(&path, "work one");
        write(&path, "c.txt", "c\n");
        commit(&path, "work two");
        if how == BringHow::Apply {
            write(&path, "d.txt", "not committed\n");
            std::fs::remove_file(path.join("c.txt")).unwrap();
        }
        // What the user has not committed stays as it is.
        bench.write("open.txt", "open\n");
        let brought = bring(&bench, &record, how).await;
        assert!(brought.brought && brought.undo.is_some(), "{how:?}: {brought:?}");
        assert_eq!(brought.before.as_deref(), Some(before.as_str()));
        assert_eq!((bench.read("b.txt"), bench.read("open.txt")), ("b\n".to_owned(), "open\n".to_owned()));
        let log = bench.git(&["log", "--first-parent", "--reverse", "--format=%s"]);
        let expected = match how {
            BringHow::Merge => "first\nmine\nMerge branch 'work'",
            BringHow::Squash => "first\nmine\nwork",
            BringHow::Rebase => "first\nmine\nwork one\nwork two",
            BringHow::Apply => "first\nmine",
        };
        assert_eq!(log, expected, "{how:?}");
        let status = bench.git(&["status", "--porcelain"]);
        let expected = if how == BringHow::Apply { "?? b.txt\n?? d.txt\n?? open.txt" } else { "?? open.txt" };
        assert_eq!(status, expected, "{how:?}");

        // Nothing is lost now: it goes without a second word.
        let removed = worktrees::remove(&bench.gate, &bench.record("work"), false).await.unwrap();
        assert!(removed.removed, "{how:?}: {removed:?}");
        assert!(!path.exists() && worktrees::list(&bench.gate, None).is_empty());
        assert_eq!(bench.git(&["branch", "--format=%(refname:short)"]), "main");
    }
}

#[tokio::test]
async fn work_comes_to_a_branch_that_is_checked_out_nowhere() {
    let bench = Bench::new();
    bench.git(&["branch", "release"]);
    let (record, path) = bench.add("work").await;
    write(&path, "b.txt", "b\n");
    commit(&path, "work");
    let params = BringParams { onto: "release".to_owned(), how: BringHow::Rebase };
    let brought = worktrees::bring(&bench.gate, &record, &params).await.unwrap();
    assert!(brought.brought && brought.undo.is_none(), "{brought:?}");
    assert_eq!(bench.git(&["show", "release:b.txt"]), "b");
    assert!(!bench.path("b.txt").exists());
    let apply = BringParams { onto: "release".to_owned(), how: BringHow::Apply };
    let refused = worktrees::bring(&bench.gate, &record, &apply).await;
    assert!(matches!(refused, Err(RepositoryError::Refused(_))), "{refused:?}");
    for onto in ["nobody", "work", "--help"] {
        let params = BringParams { onto: onto.to_owned(), how: BringHow::Merge };
        assert!(worktrees::bring(&bench.gate, &record, &params).await.is_err(), "{onto}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_told_and_nothing_has_changed() {
    for how in [BringHow::Merge, BringHow::Squash, BringHow::Rebase, BringHow::Apply] {
        let bench = Bench::new();
        let (record, path) = bench.add("work").await;
        write(&path, "a.txt", "theirs\n");
        write(&path, "b.txt", "b\n");
        commit(&path, "theirs");
        bench.write("a.txt", "mine\n");
        bench.commit("mine");
        let state = |bench: &Bench| {
            (
                bench.git(&["rev-parse", "main", "work"]),
                bench.git(&["status", "--porcelain"]),
                bench.read("a.txt"),
            )
        };
        let before = state(&bench);
        let brought = bring(&bench, &record, how).await;
        assert_eq!((brought.brought, brought.conflicts), (false, vec!["a.txt".to_owned()]), "{how:?}");
        assert!(brought.reason.is_some());
        assert_eq!(state(&bench), before, "{how:?}");
        assert!(!bench.path("b.txt").exists());
    }
}

#[tokio::test]
async fn what_the_user_has_open_in_the_same_file_is_not_overwritten() {
    let bench = Bench::new();
    let (record, path) = bench.add("work").await;
    write(&path, "a.txt", "theirs\n");
    commit(&path, "theirs");
    bench.write("a.txt", "open\n");
    for how in [BringHow::Merge, BringHow::Squash, BringHow::Rebase, BringHow::Apply] {
        let main = bench.git(&["rev-parse", "main"]);
        let brought = bring(&bench, &record, how).await;
        assert!(!brought.brought && brought.reason.is_some(), "{how:?}: {brought:?}");
        assert_eq!((bench.read("a.txt").as_str(), bench.git(&["rev-parse", "main"])), ("open\n", main));
    }
    // What is not committed in the worktree is not left behind silently either.
    write(&path, "c.txt", "c\n");
    bench.git(&["checkout", "-q", "--", "a.txt"]);
    let brought = bring(&bench, &record, BringHow::Merge).await;
    assert!(brought.reason.unwrap().contains("not committed"));
}

#[tokio::test]
async fn nothing_is_removed_that_would_be_lost_without_a_second_word() {
    let bench = Bench::new();
    let (record, path) = bench.add("work").await;
    write(&path, "b.txt", "b\n");
    let kept = worktrees::remove(&bench.gate, &record, false).await.unwrap();
    assert_eq!((kept.removed, kept.uncommitted), (false, vec!["b.txt".to_owned()]));
    commit(&path, "work");
    let tip = git(&path, &["rev-parse", "HEAD"]);
    let kept = worktrees::remove(&bench.gate, &record, false).await.unwrap();
    assert_eq!((kept.removed, kept.commits), (false, vec![tip.clone()]));
    // A commit on no branch at all.
    git(&path, &["checkout", "-q", "--detach"]);
    write(&path, "c.txt", "c\n");
    commit(&path, "detached");
    let kept = worktrees::remove(&bench.gate, &record, false).await.unwrap();
    assert_eq!((kept.removed, kept.commits.len()), (false, 2));
    assert!(path.join("c.txt").exists() && is_trusted(&bench, &path));

    write(&path, "d.txt", "not committed\n");
    let removed = worktrees::remove(&bench.gate, &record, true).await.unwrap();
    assert!(removed.removed && removed.undo.is_some(), "{removed:?}");
    assert!(!path.exists());
    assert!(bench.gate.trust().list().unwrap().iter().all(|entry| entry.path != path));
    // The way back: its commit is told, its files are recorded.
    let again = bench.try_add("work", Some(&removed.commit)).await.unwrap();
    assert_eq!(again.worktree.path, path.display().to_string());
    let root = CanonicalRoot::open(&path).unwrap();
    let records = chartroom_checkpoints::Records::of(&bench.gate, &root).await.unwrap();
    let undo = records.find_here(&removed.undo.unwrap()).unwrap();
    records
        .restore(&undo, &chartroom_checkpoints::Wanted { force: true, ..Default::default() })
        .await
        .unwrap();
    assert_eq!(std::fs::read_to_string(path.join("d.txt")).unwrap(), "not committed\n");
    assert_eq!(std::fs::read_to_string(path.join("c.txt")).unwrap(), "c\n");
}

#[tokio::test]
async fn a_worktree_whose_folder_is_gone_or_half_made_can_be_removed() {
    let bench = Bench::new();
    let (record, path) = bench.add("work").await;
    std::fs::remove_dir_all(&path).unwrap();
    assert!(worktrees::remove(&bench.gate, &record, false).await.unwrap().removed);
    let (record, path) = bench.add("work").await;
    std::fs::remove_file(path.join(".git")).unwrap();
    assert!(worktrees::remove(&bench.gate, &record, false).await.unwrap().removed);
    assert!(!path.exists());
    bench.add("work").await;
}

#[tokio::test]
async fn a_worktree_that_was_never_finished_can_be_removed_though_it_is_not_trusted() {
    let bench = Bench::new();
    let (record, path) = bench.add("work").await;
    write(&path, "b.txt", "b\n");
    // As a death between git's work and the note of trust leaves it.
    bench.gate.trust().revoke(&path).unwrap();
    let note = path.parent().unwrap().join(".records/work.json");
    let text = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, text.replacen('{', "{\"halfMade\": true,", 1)).unwrap();
    let removed = worktrees::remove(&bench.gate, &bench.record(&record.name), true).await.unwrap();
    assert!(removed.removed && removed.undo.is_some(), "{removed:?}");
    assert!(!path.exists());
    assert_eq!(bench.git(&["branch", "--list", "work"]), "");
}

#[tokio::test]
async fn a_copy_that_is_as_it_came_is_no_work() {
    let bench = Bench::new();
    bench.write(".env", "KEY=1\n");
    let preparation = Preparation { copy: vec![".env".into()], setup: Vec::new() };
    let params = AddWorktreeParams { branch: "work".to_owned(), from: None };
    let added = worktrees::add(&bench.gate, &bench.root(), &params, &preparation).await.unwrap();
    write(Path::new(&added.worktree.path), ".env", "KEY=2\n");
    assert!(!worktrees::remove(&bench.gate, &bench.record("work"), false).await.unwrap().removed);
    write(Path::new(&added.worktree.path), ".env", "KEY=1\n");
    assert!(worktrees::remove(&bench.gate, &bench.record("work"), false).await.unwrap().removed);
}

#[tokio::test]
async fn nothing_of_an_untrusted_repository_runs_for_a_worktree() {
    let hostile = Hostile::new();
    let data = tempfile::tempdir().unwrap();
    let gate = bench::gate(data.path());
    let root = CanonicalRoot::open(hostile.root()).unwrap();
    hostile.clear_markers();
    let params = AddWorktreeParams { branch: "work".to_owned(), from: None };
    let preparation = Preparation { copy: Vec::new(), setup: vec!["true".to_owned()] };
    let refused = worktrees::add(&gate, &root, &params, &preparation).await.unwrap_err();
    assert!(refused.to_string().contains("is not trusted"), "{refused}");
    assert_eq!(hostile.markers(), Default::default());
    // Made while it was trusted: neither brought nor removed after that is over.
    gate.trust().trust(&root).unwrap();
    let added = worktrees::add(&gate, &root, &params, &Preparation::default()).await.unwrap();
    gate.trust().revoke(root.as_path()).unwrap();
    hostile.clear_markers();
    let record = worktrees::find(&gate, Some(&root), &added.worktree.name).unwrap();
    let onto = BringParams { onto: "main".to_owned(), how: BringHow::Merge };
    assert!(
        worktrees::bring(&gate, &record, &onto).await.unwrap_err().to_string().contains("is not trusted")
    );
    assert!(
        worktrees::remove(&gate, &record, true).await.unwrap_err().to_string().contains("is not trusted")
    );
    assert_eq!(hostile.markers(), Default::default());
    assert!(Path::new(&added.worktree.path).exists());
}

#[tokio::test]
async fn hard_repositories_have_a_clear_answer() {
    // No commit yet.
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.path(".git")).unwrap();
    let refused = bench.try_add("work", None).await.unwrap_err();
    assert!(refused.to_string().contains("is not a git repository"), "{refused}");
    bench.git(&["init", "-q", "-b", "main"]);
    let refused = bench.try_add("work", None).await.unwrap_err();
    assert!(refused.to_string().contains("no commit yet"), "{refused}");
    bench.git(&["config", "user.name", "U"]);
    bench.git(&["config", "user.email", "u@example.org"]);
    bench.commit("first");
    // A detached HEAD, and a merge in progress with what does not fit.
    bench.git(&["checkout", "-q", "--detach"]);
    let (_, detached) = bench.add("from-detached").await;
    write(&detached, "a.txt", "theirs\n");
    commit(&detached, "theirs");
    bench.git(&["checkout", "-q", "main"]);
    bench.write("a.txt", "mine\n");
    bench.commit("mine");
    let conflicted = chartroom_testkit::hostile::git(bench.root().as_path(), &["merge", "from-detached"]);
    assert!(!conflicted.status.success());
    let merging = bench.read("a.txt");
    let (record, path) = bench.add("work").await;
    write(&path, "b.txt", "b\n");
    commit(&path, "work");
    let brought = bring(&bench, &record, BringHow::Merge).await;
    assert!(!brought.brought, "a merge in progress is not disturbed: {brought:?}");
    assert_eq!(bench.read("a.txt"), merging);
}

#[tokio::test]
async fn what_git_noted_of_a_worktree_that_it_was_killed_making_goes_with_it() {
    // Before and after git has written where the worktree lies.
    for has_gitdir in [false, true] {
        let bench = Bench::new();
        let (record, path) = bench.add("work").await;
        let note = bench.path(".git/worktrees/work");
        std::fs::write(note.join("locked"), "initializing\n").unwrap();
        std::fs::write(note.join("HEAD"), "").unwrap();
        if !has_gitdir {
            std::fs::remove_file(note.join("gitdir")).unwrap();
        }
        std::fs::remove_file(path.join(".git")).unwrap();
        // Another one that is being made, by whomever.
        let other = bench.path(".git/worktrees/other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("locked"), "initializing\n").unwrap();
        assert!(worktrees::remove(&bench.gate, &record, true).await.unwrap().removed);
        assert!(!note.exists() && other.join("locked").exists(), "with gitdir: {has_gitdir}");
    }
}
