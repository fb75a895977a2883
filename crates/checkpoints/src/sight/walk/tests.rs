#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A small project: rules, files in folders, something that is ignored.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("src/deep")).unwrap();
    fs::create_dir_all(at("target/debug")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    for (name, text) in [
        (".gitignore", "target/\n*.log\n"),
        ("src/a.rs", "fn a() {}\n"),
        ("src/deep/b.rs", "fn b() {}\n"),
        ("run.log", "one\n"),
        ("target/debug/a", "binary\n"),
    ] {
        fs::write(at(name), text).unwrap();
    }
    symlink("src/a.rs", at("link")).unwrap();
    folder
}

fn passed() -> Passed {
    Passed::of([b"target/".as_slice(), b"run.log"].into_iter())
}

fn walk(folder: &Path) -> Walk {
    let others = vec![folder.join("elsewhere"), folder.join("src/deep/b.rs")];
    Walk::of(folder, folder, others, &passed()).unwrap()
}

/// Does as if the look had been taken long after the last change.
fn settled(mut walk: Walk) -> Walk {
    walk.began += Duration::from_secs(60);
    walk
}

#[test]
fn every_kind_of_change_is_seen() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 12] = [
        ("a file is written", |at| fs::write(at.join("src/a.rs"), "fn b() {}\n").unwrap()),
        ("a deep one is longer", |at| fs::write(at.join("src/deep/b.rs"), "fn bb() {}\n").unwrap()),
        ("a file is new", |at| fs::write(at.join("src/new.rs"), "").unwrap()),
        ("a file is new in an empty folder", |at| fs::write(at.join("empty/new.rs"), "").unwrap()),
        ("a file is gone", |at| fs::remove_file(at.join("src/a.rs")).unwrap()),
        ("a folder is new", |at| fs::create_dir(at.join("src/more")).unwrap()),
        ("a folder is gone", |at| fs::remove_dir(at.join("empty")).unwrap()),
        ("a file may be run", |at| {
            fs::set_permissions(at.join("src/a.rs"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("a link leads elsewhere", |at| {
            fs::remove_file(at.join("link")).unwrap();
            symlink("src/deep", at.join("link")).unwrap();
        }),
        ("a file has another name", |at| fs::rename(at.join("src/a.rs"), at.join("src/c.rs")).unwrap()),
        ("a file is replaced and keeps its time", |at| {
            let time = fs::metadata(at.join("src/a.rs")).unwrap().modified().unwrap();
            fs::write(at.join("fresh"), "fn c() {}\n").unwrap();
            fs::File::options().write(true).open(at.join("fresh")).unwrap().set_modified(time).unwrap();
            fs::rename(at.join("fresh"), at.join("src/a.rs")).unwrap();
        }),
        ("a file outside that counts comes", |at| fs::write(at.join("elsewhere"), "").unwrap()),
    ];
    for (what, change) in changes {
        let folder = project();
        let seen = settled(walk(folder.path()));
        assert!(seen.holds(), "before: {what}");
        change(folder.path());
        assert!(!seen.holds(), "{what}");
    }
}

#[test]
fn what_git_passes_over_may_change() {
    let folder = project();
    let seen = settled(walk(folder.path()));
    fs::write(folder.path().join("run.log"), "one\ntwo\n").unwrap();
    fs::write(folder.path().join("target/debug/b"), "").unwrap();
    assert!(seen.holds());
}

#[test]
fn a_change_right_before_the_look_may_be_followed_by_one_that_looks_the_same() {
    let folder = project();
    assert!(!walk(folder.path()).holds());
}

#[test]
fn git_is_asked_again_when_a_name_or_a_rule_changes() {
    let folder = project();
    let before = walk(folder.path());
    fs::write(folder.path().join("src/a.rs"), "fn other() {}\n").unwrap();
    assert!(walk(folder.path()).has_the_names_and_rules_of(&before));
    fs::write(folder.path().join("src/new.rs"), "").unwrap();
    assert!(!walk(folder.path()).has_the_names_and_rules_of(&before));
    fs::remove_file(folder.path().join("src/new.rs")).unwrap();
    assert!(walk(folder.path()).has_the_names_and_rules_of(&before));
    fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
    assert!(!walk(folder.path()).has_the_names_and_rules_of(&before));
}

#[test]
fn rules_that_are_ignored_themselves_are_looked_at() {
    // git's list: a folder with its contents, where each of them is ignored for itself.
    let listed =
        [b"src/".as_slice(), b"src/.gitignore", b"src/a.rs", b"src/deep/", b"src/deep/b.rs", b"target/"];
    let passed = Passed::of(listed.into_iter());
    for is_known_before in [true, false] {
        let folder = project();
        let at = folder.path();
        fs::write(at.join("src/.gitignore"), "*\n").unwrap();
        let none = Passed::default();
        let walk = Walk::of(at, at, Vec::new(), if is_known_before { &passed } else { &none }).unwrap();
        let seen = settled(walk.without(&passed));
        fs::write(at.join("src/a.rs"), "fn ignored() {}\n").unwrap();
        fs::write(at.join("target/debug/c"), "").unwrap();
        assert!(seen.holds());
        fs::write(at.join("src/.gitignore"), "*.o\n").unwrap();
        assert!(!seen.holds());
    }
}
