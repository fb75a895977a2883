//! `chartroom checkpoint` and `chartroom changes` with the real git: every byte comes back, and nothing in the user's
//! repository changes or runs.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

#[path = "common/program.rs"]
mod program;
#[path = "common/records.rs"]
mod records;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use program::{Home, finish};
use records::{Story, Tree};
use serde_json::json;

#[test]
fn a_restore_brings_every_byte_back_and_can_be_undone_without_a_trace_in_the_repository() {
    let story = Story::repository();
    // Attributes by which the user's own git would store other bytes than those in the folder.
    story.write(".gitattributes", "*.txt text eol=crlf\n*.bin filter=upper\n*.id ident\n");
    story.write("crlf.txt", "a\r\nb\r\n");
    story.write("mixed.txt", "a\r\nb\nc\r");
    story.write("x.bin", b"\0lower\xff");
    story.write("k.id", "$Id$\n");
    story.write("deep/er/run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(story.path("deep/er/run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    story.write("secret.txt", "s");
    std::fs::set_permissions(story.path("secret.txt"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("a.txt", story.path("link")).unwrap();
    let odd = PathBuf::from(OsString::from_vec(b"new\nline \xff\t\"q\"".to_vec()));
    std::fs::write(story.project.join(&odd), "odd").unwrap();
    let (before, git_before) = (story.tree(), story.dot_git());
    let first = story.make();
    assert_eq!((story.tree(), story.dot_git()), (before.clone(), git_before.clone()));

    story.write("a.txt", "changed");
    story.write("mixed.txt", "x");
    story.write("x.bin", "y");
    story.write("secret.txt", "t");
    story.write("new/folder/file.txt", "new");
    std::fs::remove_file(story.project.join(&odd)).unwrap();
    std::fs::remove_dir_all(story.path("deep")).unwrap();
    std::fs::remove_file(story.path("link")).unwrap();
    std::fs::create_dir(story.path("link")).unwrap();
    story.write("link/inside.txt", "a folder where a link was");
    let changed = story.tree();
    let restored = story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!(restored["checkpoint"], first.as_str());
    assert_eq!(restored["conflicts"], json!([]));
    assert_eq!(story.tree(), before);
    assert!(!story.path("new").exists(), "folders that are empty then go too");
    let mode = story.path("secret.txt").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "what others could not read they cannot read now");

    let undo = restored["undo"].as_str().unwrap().to_owned();
    story.json(0, &["checkpoint", "restore", &undo]);
    assert_eq!(story.tree(), changed);
    assert_eq!(story.dot_git(), git_before);
    let listed = story.json(0, &["checkpoint", "list"]);
    let kinds: Vec<&str> =
        listed["checkpoints"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["made", "undo", "undo"]);
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let story = Story::repository();
    let marker = story.home.path().join("marker");
    let run = format!("touch {}; cat", marker.display());
    for (key, value) in [
        ("filter.evil.clean", run.as_str()),
        ("filter.evil.smudge", &run),
        ("diff.evil.textconv", &run),
        ("diff.evil.command", &run),
        ("core.fsmonitor", &run),
        ("core.hooksPath", "hooks"),
        ("diff.external", &run),
    ] {
        story.git(&["config", key, value]);
    }
    for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"] {
        let name = format!("hooks/{hook}");
        story.write(&name, format!("#!/bin/sh\ntouch {}\n", marker.display()));
        std::fs::set_permissions(story.path(&name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    story.write(".gitattributes", "* filter=evil diff=evil\n");
    story.write("a.txt", "changed\n");
    let first = story.make();
    story.write("a.txt", "again\n");
    story.json(0, &["checkpoint", "diff", &first, "--patch"]);
    story.json(0, &["changes", "--patch"]);
    story.json(0, &["changes", "--scope", "main"]);
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!(story.read("a.txt"), "changed\n");
    assert!(!marker.exists());
}

#[test]
fn a_folder_that_is_no_repository_is_recorded_too() {
    let story = Story::new();
    story.write("notes.md", "one");
    story.write(".gitignore", "*.log\n");
    story.write("a.log", "ignored");
    let first = story.make();
    story.write("notes.md", "two");
    story.write("b.md", "new");
    story.write("a.log", "changed");
    let changes = story.json(0, &["checkpoint", "diff", &first]);
    assert_eq!(
        changes,
        json!({"base": first, "head": "working tree", "files": [
            {"path": "b.md", "status": "added", "added": 1, "removed": 0, "binary": false},
            {"path": "notes.md", "status": "modified", "added": 1, "removed": 1, "binary": false},
        ]})
    );
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!((story.read("notes.md"), story.read("a.log")), ("one".to_owned(), "changed".to_owned()));
    assert!(!story.path("b.md").exists());
    assert!(!story.path(".git").exists());
    let (code, stdout, stderr) = story.run(&["changes"]);
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("is in no git repository"), "{stderr}");
}

#[test]
fn records_begin_anew_where_a_death_left_a_repository_of_ours_half_made() {
    let story = Story::new();
    story.write("a.txt", "one");
    story.make();
    let stores = story.home.data().join("checkpoints");
    let store = std::fs::read_dir(stores).unwrap().next().unwrap().unwrap().path();
    // As a death in git's own first steps leaves it.
    for done in ["git/made", "git/HEAD", "records.jsonl", "snapshot.json", "known", "index"] {
        std::fs::remove_file(store.join(done)).unwrap();
    }
    std::fs::write(store.join("git/HEAD.lock"), "").unwrap();
    let first = story.make();
    story.write("a.txt", "two");
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!(story.read("a.txt"), "one");
}

#[test]
fn what_somebody_else_changed_since_is_left_alone_unless_it_is_forced() {
    let story = Story::repository();
    story.write("b.txt", "b\n");
    let first = story.make();
    story.write("a.txt", "recorded change\n");
    story.make();
    story.write("b.txt", "by somebody else\n");
    let planned = story.json(1, &["checkpoint", "restore", &first, "--dry-run"]);
    assert_eq!((&planned["written"], &planned["conflicts"]), (&json!(["a.txt"]), &json!(["b.txt"])));
    assert_eq!(planned.get("undo"), None);
    assert_eq!(story.read("a.txt"), "recorded change\n", "a dry run changes nothing");
    let restored = story.json(1, &["checkpoint", "restore", &first]);
    assert_eq!(restored["conflicts"], json!(["b.txt"]));
    assert_eq!(
        (story.read("a.txt"), story.read("b.txt")),
        ("one\ntwo\n".into(), "by somebody else\n".into())
    );
    let (code, stdout, _) = story.run(&["checkpoint", "restore", &first, "--path", "b.txt", "--force"]);
    assert_eq!(code, 0, "{stdout}");
    assert_eq!(story.read("b.txt"), "b\n");
}

#[test]
fn only_the_paths_that_are_asked_for_are_restored() {
    let story = Story::new();
    for name in ["in/a", "in/b", "out/c"] {
        story.write(name, "1");
    }
    let first = story.make();
    for name in ["in/a", "in/b", "out/c"] {
        story.write(name, "2");
    }
    let restored = story.json(0, &["checkpoint", "restore", &first, "--path", "in"]);
    assert_eq!(restored["written"], json!(["in/a", "in/b"]));
    assert_eq!(story.read("out/c"), "2");
    let (code, _, stderr) = story.run(&["checkpoint", "restore", &first, "--path", "../elsewhere"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("is not in"), "{stderr}");
}

#[test]
fn changes_are_told_with_what_happened_to_each_file() {
    let story = Story::repository();
    story.write("gone.txt", "g\n");
    story.write("old name.txt", "a text that is long enough\nto be known again\nafter a rename\n");
    story.write("p.bin", b"\0\x01");
    story.commit();
    let head = story.git(&["rev-parse", "HEAD"]);
    story.write("a.txt", "one\n2\nthree\n");
    std::fs::remove_file(story.path("gone.txt")).unwrap();
    std::fs::rename(story.path("old name.txt"), story.path("new name.txt")).unwrap();
    story.write("p.bin", b"\0\x02");
    story.write("staged.txt", "s\n");
    story.git(&["add", "staged.txt"]);
    story.write("untracked.txt", "u\n");
    let git_before = story.dot_git();
    let changes = story.json(0, &["changes"]);
    assert_eq!(
        changes,
        json!({"base": head, "head": "working tree", "files": [
            {"path": "a.txt", "status": "modified", "added": 2, "removed": 1, "binary": false},
            {"path": "gone.txt", "status": "deleted", "added": 0, "removed": 1, "binary": false},
            {"path": "new name.txt", "status": "renamed", "from": "old name.txt", "added": 0, "removed": 0, "binary": false},
            {"path": "p.bin", "status": "modified", "added": 0, "removed": 0, "binary": true},
            {"path": "staged.txt", "status": "added", "added": 1, "removed": 0, "binary": false},
            {"path": "untracked.txt", "status": "untracked", "added": 1, "removed": 0, "binary": false},
        ]})
    );
    assert_eq!(story.dot_git(), git_before);
    let patch = story.json(0, &["changes", "--patch"]);
    assert!(patch["patch"].as_str().unwrap().contains("-two\n+2\n+three\n"), "{patch}");
    let (code, stdout, _) = story.run(&["changes"]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains("M a.txt +2 -1\n") && stdout.contains("R old name.txt → new name.txt"),
        "{stdout}"
    );
}

#[test]
fn a_branch_is_compared_from_where_it_parted() {
    let story = Story::repository();
    story.git(&["switch", "-q", "-c", "feature"]);
    story.write("mine.txt", "m\n");
    story.commit();
    story.git(&["switch", "-q", "main"]);
    story.write("theirs.txt", "t\n");
    story.commit();
    story.git(&["switch", "-q", "feature"]);
    story.git(&["pack-refs", "--all"]);
    story.write("open.txt", "o\n");
    assert_eq!(story.changes(&["--scope", "main"]), ["added mine.txt", "untracked open.txt"]);
    let (code, _, stderr) = story.run(&["changes", "--scope", "nowhere"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("no branch, tag or commit nowhere"), "{stderr}");
}

#[test]
fn a_folder_inside_a_repository_is_recorded_by_the_rules_of_the_whole() {
    let story = Story::repository();
    story.write(".gitignore", "ignored/\n*.tmp\n");
    story.write("pkg/src.txt", "1\n");
    story.write("pkg/ignored/x", "1");
    story.write("pkg/kept.tmp", "in the repository all the same\n");
    story.git(&["add", "-f", "pkg/kept.tmp"]);
    story.commit();
    story.write("a.txt", "outside of the folder\n");
    story.write("pkg/src.txt", "2\n");
    story.write("pkg/kept.tmp", "changed\n");
    assert_eq!(story.changes(&["pkg"]), ["modified pkg/kept.tmp", "modified pkg/src.txt"]);
    let first = story.json(0, &["checkpoint", "make", "pkg"])["checkpoint"].as_str().unwrap().to_owned();
    story.write("pkg/src.txt", "3\n");
    story.write("pkg/kept.tmp", "changed again\n");
    story.write("a.txt", "still outside\n");
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!(story.read("pkg/src.txt"), "2\n");
    assert_eq!(story.read("pkg/kept.tmp"), "changed\n");
    assert_eq!(story.read("a.txt"), "still outside\n");
}

#[test]
fn what_is_left_out_is_told_and_never_touched() {
    let story = Story::repository();
    let large = story.path("large.bin");
    std::fs::File::create(&large).unwrap().set_len((16 << 20) + 1).unwrap();
    std::fs::create_dir(story.path("inner")).unwrap();
    let inner = Story { home: Home::new(), project: story.path("inner") };
    inner.git(&["init", "-q"]);
    inner.write("x", "x");
    inner.commit();
    let made = story.json(0, &["checkpoint", "make", "--label", "with a large file"]);
    assert_eq!(
        made["leftOut"],
        json!([{"path": "inner/", "reason": "repository"}, {"path": "large.bin", "reason": "too-large"}])
    );
    assert_eq!(made["label"], "with a large file");
    inner.write("x", "changed");
    story.write("a.txt", "changed");
    let id = made["checkpoint"].as_str().unwrap();
    story.json(0, &["checkpoint", "restore", id]);
    assert_eq!(story.read("a.txt"), "one\ntwo\n");
    assert_eq!(inner.read("x"), "changed");
    assert!(large.exists());
}

#[test]
fn repositories_that_are_hard_have_an_answer() {
    // No commit yet.
    let story = Story::new();
    story.git(&["init", "-q"]);
    story.write("first.txt", "f\n");
    assert_eq!(story.changes(&[]), ["untracked first.txt"]);
    // A detached HEAD, and a merge in the middle.
    let story = Story::repository();
    story.git(&["switch", "-q", "-c", "other"]);
    story.write("a.txt", "theirs\n");
    story.commit();
    story.git(&["switch", "-q", "--detach", "main"]);
    story.write("a.txt", "ours\n");
    story.commit();
    let merge = Command::new("git")
        .args(["-c", "user.name=U", "-c", "user.email=u@example.org", "merge", "-q", "other"])
        .current_dir(&story.project)
        .output()
        .unwrap();
    assert!(!merge.status.success(), "the merge has a conflict");
    let (tree, git_before) = (story.tree(), story.dot_git());
    let first = story.make();
    assert_eq!(story.changes(&[]), ["modified a.txt"]);
    story.write("a.txt", "resolved\n");
    story.json(0, &["checkpoint", "restore", &first]);
    assert_eq!((story.tree(), story.dot_git()), (tree, git_before));
    // A worktree: its HEAD is its own, its objects are the repository's.
    story.git(&["merge", "--abort"]);
    let elsewhere = story.home.path().join("elsewhere");
    story.git(&["worktree", "add", "-q", elsewhere.to_str().unwrap(), "other"]);
    let worktree = Story { home: Home::new(), project: elsewhere };
    worktree.write("a.txt", "in the worktree\n");
    assert_eq!(worktree.changes(&[]), ["modified a.txt"]);
}

#[test]
fn a_record_that_is_not_there_a_folder_that_is_not_there_and_no_git_are_told() {
    let story = Story::repository();
    for (args, code, words) in [
        (&["checkpoint", "restore", "ffffffffffff"][..], 3, "there is no checkpoint ffffffffffff"),
        (&["checkpoint", "diff", "nonsense"], 3, "there is no checkpoint nonsense"),
        (&["checkpoint", "make", "not/there"], 3, "cannot be opened"),
        (&["changes", "a.txt"], 3, "is not a folder"),
        (&["changes", "--scope", "session"], 3, "no checkpoint of session"),
        (&["checkpoint", "restore"], 2, "required"),
    ] {
        let (got, stdout, stderr) = story.run(args);
        assert_eq!((got, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    let empty = story.home.path().join("no programs");
    std::fs::create_dir(&empty).unwrap();
    let mut command = story.home.command(&["checkpoint", "make"]);
    let (code, _, stderr) = finish(command.current_dir(&story.project).env("PATH", &empty).output().unwrap());
    assert_eq!(code, 3);
    assert!(stderr.contains("git was not found"), "{stderr}");
}

/// Random acts against a model of what each record holds.
#[test]
fn whatever_is_done_each_record_brings_its_tree_back() {
    let story = Story::repository();
    let mut random = Random(20_261_117);
    let mut records: Vec<(String, Tree)> = Vec::new();
    for step in 0..60 {
        match random.below(10) {
            0..=5 => story.random_act(&mut random, step),
            6 | 7 => records.push((story.make(), story.tree())),
            8 => story.commit_if_changed(),
            _ if records.is_empty() => {}
            _ => {
                let (id, tree) = &records[random.below(records.len())];
                let git_before = story.dot_git();
                let before = story.tree();
                let restored = story.json(0, &["checkpoint", "restore", id, "--force"]);
                assert_eq!(story.tree(), *tree, "step {step}: {id}");
                assert_eq!(story.dot_git(), git_before, "step {step}");
                records.push((restored["undo"].as_str().unwrap().to_owned(), before));
            }
        }
    }
    assert!(records.len() > 10);
}

/// A small generator, so that a failure can be done again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

impl Story {
    fn random_act(&self, random: &mut Random, step: usize) {
        let name = format!("d{}/f{}", random.below(3), random.below(4));
        let path = self.path(&name);
        match random.below(6) {
            0 => drop(std::fs::remove_file(&path)),
            1 => drop(std::fs::remove_dir_all(self.path(&format!("d{}", random.below(3))))),
            2 if !path.exists() && !path.is_symlink() => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink(format!("../a.txt?{step}"), &path).unwrap();
            }
            3 if path.is_file() => {
                let mode = if random.below(2) == 0 { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            }
            _ if path.is_symlink() => std::fs::remove_file(&path).unwrap(),
            _ => self.write(&name, format!("{step}\r\n").repeat(1 + random.below(3))),
        }
    }

    fn commit_if_changed(&self) {
        self.git(&["add", "-A"]);
        if !self.git(&["status", "--porcelain"]).is_empty() {
            self.git(&["commit", "-q", "-m", "more"]);
        }
    }
}
