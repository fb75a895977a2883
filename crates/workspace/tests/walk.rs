//! The walker: what is offered, what is ignored, and what is reported instead.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use chartroom_workspace::walk::{WalkEvent, WalkOptions, file_at, files};
use chartroom_workspace::{CanonicalRoot, binary};

struct Fixture {
    folder: tempfile::TempDir,
}

/// Lays out files: `path` alone is empty, `path=text` has text.
fn fixture(layout: &[&str]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    for entry in layout {
        let (path, text) = entry.split_once('=').unwrap_or((entry, ""));
        let path = folder.path().join("root").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Fixture { folder }
}

impl Fixture {
    fn root(&self) -> CanonicalRoot {
        CanonicalRoot::open(self.folder.path().join("root")).unwrap()
    }

    fn walk(&self, options: &WalkOptions) -> Vec<String> {
        files(&self.root(), options)
            .map(|event| match event {
                WalkEvent::File(file) => file.relative,
                WalkEvent::TooLarge { relative, size } => format!("too large: {relative} ({size})"),
                WalkEvent::Unreadable { path, .. } => format!("unreadable: {}", path.display()),
                WalkEvent::NotUtf8 { path } => {
                    format!(
                        "not UTF-8: {}",
                        path.strip_prefix(self.root()).unwrap().as_os_str().as_bytes().escape_ascii()
                    )
                }
                WalkEvent::BadPattern { .. } => "bad pattern".to_owned(),
                WalkEvent::IgnoreFileLeftOut { relative, .. } => format!("left out: {relative}"),
            })
            .collect()
    }
}

/// Whatever is there, asked alone, is what the walk of everything makes of it.
#[track_caller]
fn one_is_as_in_all(root: &CanonicalRoot, options: &WalkOptions) {
    let walked: BTreeMap<String, WalkEvent> = files(root, options)
        .filter_map(|event| match &event {
            WalkEvent::File(file) => Some((file.relative.clone(), event)),
            WalkEvent::TooLarge { relative, .. } => Some((relative.clone(), event)),
            _ => None,
        })
        .collect();
    let mut folders = vec![root.as_path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            let relative = path.strip_prefix(root.as_path()).unwrap();
            if let Some(name) = relative.to_str() {
                assert_eq!(file_at(root, relative, options), walked.get(name).cloned(), "{name}");
            }
            // Through links too, of which some lead in circles.
            if path.is_dir() && relative.components().count() < 6 {
                folders.push(path);
            }
        }
    }
}

#[track_caller]
fn check(layout: &[&str], expected: &[&str]) {
    check_with(layout, &WalkOptions::default(), expected);
}

#[track_caller]
fn check_with(layout: &[&str], options: &WalkOptions, expected: &[&str]) {
    let fixture = fixture(layout);
    assert_eq!(fixture.walk(options), expected);
    one_is_as_in_all(&fixture.root(), options);
}

#[test]
fn files_come_by_name_depth_first() {
    check(&["b.rs", "a/z.rs", "a/b/c.rs", "A.rs"], &["A.rs", "a/b/c.rs", "a/z.rs", "b.rs"]);
    check(&["only/.gitignore"], &["only/.gitignore"]);
}

#[test]
fn nested_ignore_files_count_where_they_stand_and_need_no_git() {
    check(
        &[
            ".gitignore=*.log\n!keep.log\n",
            "a.log",
            "keep.log",
            "sub/b.log",
            "sub/.gitignore=c.rs\n",
            "sub/c.rs",
            "c.rs",
        ],
        &[".gitignore", "c.rs", "keep.log", "sub/.gitignore"],
    );
    check(
        &[".chartroomignore=secret/\n", "secret/a.rs", "b.rs", "sub/.chartroomignore=b.rs\n", "sub/b.rs"],
        &[".chartroomignore", "b.rs", "sub/.chartroomignore"],
    );
    // What only we should not see is said in our own file, which wins over git's.
    check(
        &[".gitignore=*.gen\n", ".chartroomignore=!b.gen\n", "a.gen", "b.gen"],
        &[".chartroomignore", ".gitignore", "b.gen"],
    );
}

#[test]
fn a_repository_s_own_exclude_file_counts() {
    check(&[".git/info/exclude=private.rs\n", "private.rs", "a.rs"], &["a.rs"]);
}

#[test]
fn ignore_files_above_the_root_do_not_count() {
    let fixture = fixture(&["a.rs"]);
    fs::write(fixture.folder.path().join(".gitignore"), "*.rs\n").unwrap();
    assert_eq!(fixture.walk(&WalkOptions::default()), ["a.rs"]);
}

#[test]
fn folders_without_source_are_left_out_unless_asked_for() {
    let layout = [
        "node_modules/a/b.js",
        "target/debug/c",
        ".git/config",
        "x/__pycache__/d.pyc",
        "e.rs",
        "targets/f.rs",
    ];
    check(&layout, &["e.rs", "targets/f.rs"]);
    let all = WalkOptions { default_ignores: false, ..WalkOptions::default() };
    check_with(
        &layout,
        &all,
        &[
            ".git/config",
            "e.rs",
            "node_modules/a/b.js",
            "target/debug/c",
            "targets/f.rs",
            "x/__pycache__/d.pyc",
        ],
    );
}

#[test]
fn extra_patterns_are_read_as_in_a_gitignore_at_the_root() {
    let options = WalkOptions {
        ignore_patterns: vec!["*.min.js".into(), "/docs/".into(), "gen/**/x.rs".into()],
        ..WalkOptions::default()
    };
    check_with(
        &["a.min.js", "src/b.min.js", "docs/c.md", "src/docs/d.md", "gen/a/b/x.rs", "gen/y.rs"],
        &options,
        &["gen/y.rs", "src/docs/d.md"],
    );
    let bad = WalkOptions { ignore_patterns: vec!["a{b".into()], ..WalkOptions::default() };
    check_with(&["a.rs"], &bad, &["bad pattern", "a.rs"]);
}

#[test]
fn hidden_files_are_walked_unless_told_not_to() {
    let layout = [".github/ci.yml", ".eslintrc", "a.rs"];
    check(&layout, &[".eslintrc", ".github/ci.yml", "a.rs"]);
    check_with(&layout, &WalkOptions { hidden: false, ..WalkOptions::default() }, &["a.rs"]);
}

#[test]
fn a_file_over_the_limit_is_reported_and_not_offered() {
    let options = WalkOptions { max_file_size: Some(4), ..WalkOptions::default() };
    check_with(&["a=1234", "b=12345"], &options, &["a", "too large: b (5)"]);
    check_with(&["b=12345"], &WalkOptions { max_file_size: None, ..WalkOptions::default() }, &["b"]);
}

#[test]
fn a_folder_with_too_many_entries_is_told_and_the_others_are_walked() {
    let fixture = fixture(&["a/1", "a/2", "a/3", "b/1", "b/2"]);
    let options = WalkOptions { max_entries: 2, ..WalkOptions::default() };
    let full = format!("unreadable: {}", fixture.root().as_path().join("a").display());
    assert_eq!(fixture.walk(&options), [full, "b/1".to_owned(), "b/2".to_owned()]);
}

#[test]
fn links_are_not_followed_so_that_loops_end_and_nothing_leads_out() {
    let fixture = fixture(&["a.rs", "sub/b.rs"]);
    let root = fixture.root();
    fs::create_dir(fixture.folder.path().join("outside")).unwrap();
    fs::write(fixture.folder.path().join("outside/secret.rs"), "").unwrap();
    for (target, name) in
        [("..", "sub/up"), (".", "self"), ("../outside", "out"), ("a.rs", "alias.rs"), ("nowhere", "none")]
    {
        symlink(target, root.as_path().join(name)).unwrap();
    }
    assert_eq!(fixture.walk(&WalkOptions::default()), ["a.rs", "sub/b.rs"]);
    one_is_as_in_all(&root, &WalkOptions::default());
}

#[test]
fn a_name_that_is_not_utf_8_is_reported() {
    let fixture = fixture(&["a.rs"]);
    let root = fixture.root();
    fs::write(root.as_path().join(OsStr::from_bytes(b"caf\xe9.rs")), "").unwrap();
    let folder = root.as_path().join(OsStr::from_bytes(b"d\xff"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("below.rs"), "").unwrap();
    let walked = fixture.walk(&WalkOptions::default());
    assert_eq!(walked, ["a.rs", "not UTF-8: caf\\xe9.rs", "not UTF-8: d\\xff"]);
}

/// A folder nobody can open by its path, not even root, whom modes do not stop: its path is too long.
#[test]
fn a_folder_that_cannot_be_read_is_an_event_with_its_path() {
    let fixture = fixture(&["a.rs", "z.rs"]);
    let mut folder = fs::File::open(fixture.root().as_path()).unwrap();
    let name = "d".repeat(200);
    for _ in 0..25 {
        rustix::fs::mkdirat(&folder, name.as_str(), rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY;
        folder = rustix::fs::openat(&folder, name.as_str(), flags, rustix::fs::Mode::empty()).unwrap().into();
    }
    let walked = fixture.walk(&WalkOptions::default());
    let expected_start = format!("unreadable: {}/dddd", fixture.root());
    assert_eq!((walked.len(), walked[0].as_str(), walked[2].as_str()), (3, "a.rs", "z.rs"));
    assert!(walked[1].starts_with(&expected_start), "{}", walked[1]);
}

#[test]
fn a_root_that_vanished_is_an_event_and_not_silence() {
    let fixture = fixture(&["a.rs"]);
    let root = fixture.root();
    fs::remove_dir_all(root.as_path()).unwrap();
    let events: Vec<WalkEvent> = files(&root, &WalkOptions::default()).collect();
    assert!(
        matches!(&events[..], [WalkEvent::Unreadable { path, .. }] if path == root.as_path()),
        "{events:?}"
    );
}

#[test]
fn text_is_told_from_binary_by_its_start() {
    for text in [
        &b""[..],
        b"fn main() {}\n",
        "Gr\u{fc}\u{df}e, \u{1f980}\n".as_bytes(),
        b"caf\xe9 in latin-1\n",
        b"\x1b[31mred\x1b[0m\t\n",
    ] {
        assert!(!binary::looks_binary(text), "{text:?}");
    }
    for bytes in [
        &b"\x7fELF\x02\x01\x01\x00"[..],
        b"\x89PNG\r\n\x1a\n\x00",
        b"a\x00b",
        b"\xff\xfea\x00",
        b"\x01\x02\x03\x04",
    ] {
        assert!(binary::looks_binary(bytes), "{bytes:?}");
    }
    let mut late = vec![b'a'; binary::PREFIX];
    late.push(0);
    assert!(!binary::looks_binary(&late));
}
