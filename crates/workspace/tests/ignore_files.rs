//! Ignore files that a hostile repository brings: none hangs a walk, none costs more than a little memory, and
//! each that does not count is told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::walk::{WalkEvent, WalkOptions, files};

/// A walk that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);
/// Memory that a walk may take on top of the test itself.
const MEMORY_KB: u64 = 100 * 1024;

const NAMES: [&str; 4] = [".gitignore", ".chartroomignore", ".ignore", ".git/info/exclude"];

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in ["root/.git/info", "root/sub"] {
        fs::create_dir_all(folder.path().join(path)).unwrap();
    }
    for path in ["root/a.rs", "root/sub/b.rs"] {
        fs::write(folder.path().join(path), "").unwrap();
    }
    fs::write(folder.path().join("outside"), "*.rs\n").unwrap();
    folder
}

/// Walks on a thread of its own. Returns what is walked and which ignore files are told of, ignore files aside.
#[track_caller]
fn walk(repository: &Path) -> (Vec<String>, Vec<String>) {
    let root = CanonicalRoot::open(repository.join("root")).unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let events: Vec<WalkEvent> = files(&root, &WalkOptions::default()).collect();
        sender.send(events).ok();
    });
    let events = receiver.recv_timeout(LIMIT).expect("the walk ends");
    let (mut walked, mut told) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            WalkEvent::File(file) if file.relative.ends_with("ignore") => {}
            WalkEvent::File(file) => walked.push(file.relative),
            WalkEvent::TooLarge { .. } => {}
            other => {
                let text = format!("{other:?}");
                told.extend(text.strip_prefix("IgnoreFileLeftOut { relative: ").map(str::to_owned));
            }
        }
    }
    (walked, told)
}

fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[track_caller]
fn check_left_out(name: &str, reason: &str, plant: impl Fn(&Path)) {
    let repository = repository();
    plant(&repository.path().join("root").join(name));
    let before = peak_memory_kb();
    let (walked, told) = walk(repository.path());
    assert_eq!(walked, ["a.rs", "sub/b.rs"], "{name}");
    assert_eq!(told.len(), 1, "{name}: {told:?}");
    assert!(told[0].starts_with(&format!("{name:?}")) && told[0].contains(reason), "{name}: {told:?}");
    let more = peak_memory_kb() - before;
    assert!(more < MEMORY_KB, "{name}: {more} kB");
}

#[test]
fn an_ignore_file_that_is_a_link_out_of_the_workspace_does_not_count() {
    for name in NAMES {
        let up = if name.contains('/') { "../../../outside" } else { "../outside" };
        check_left_out(name, "leads out", |file| symlink("/dev/zero", file).unwrap());
        check_left_out(name, "leads out", |file| symlink(up, file).unwrap());
        check_left_out(name, "leads nowhere", |file| symlink("nowhere", file).unwrap());
    }
}

#[test]
fn an_ignore_file_that_is_a_pipe_or_a_folder_does_not_count() {
    for name in NAMES {
        check_left_out(name, "not a regular file", |file| {
            rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        });
        check_left_out(name, "is a folder", |file| fs::create_dir(file).unwrap());
    }
}

#[test]
fn an_ignore_file_beyond_the_limits_does_not_count() {
    let many = |n: usize| (0..n).map(|n| format!("src/*/x{n}/**/*.y{n}\n")).collect::<String>();
    for name in NAMES {
        // 5.8 MB of patterns cost two gigabytes.
        check_left_out(name, "bytes, more than", |file| fs::write(file, many(250_000)).unwrap());
        check_left_out(name, "more than 2000 patterns", |file| fs::write(file, many(2_001)).unwrap());
        check_left_out(name, "more than 5000 lines", |file| fs::write(file, "#\n".repeat(5_001)).unwrap());
        check_left_out(name, "more than 4096 bytes", |file| fs::write(file, "*a".repeat(5_000)).unwrap());
    }
}

#[test]
fn ignore_files_that_are_too_much_together_do_not_count_beyond_the_limit() {
    let repository = repository();
    let mut folder = repository.path().join("root");
    let patterns: String = (0..2_000).map(|n| format!("x{n}/*/**/y*{n}*\n")).collect();
    for _ in 0..40 {
        fs::write(folder.join(".gitignore"), &patterns).unwrap();
        folder.push("d");
        fs::create_dir(&folder).unwrap();
    }
    let before = peak_memory_kb();
    let (walked, told) = walk(repository.path());
    assert_eq!((walked.len(), told.len()), (2, 36), "{told:?}");
    assert!(told[0].starts_with("\"d/d/d/d/.gitignore\""), "{told:?}");
    let more = peak_memory_kb() - before;
    assert!(more < 2 * MEMORY_KB, "{more} kB");
}

#[test]
fn an_ignore_file_that_is_a_link_inside_of_the_workspace_counts() {
    let repository = repository();
    let root = repository.path().join("root");
    fs::write(root.join("shared"), "a.rs\n").unwrap();
    symlink("shared", root.join(".gitignore")).unwrap();
    symlink(root.join("shared"), root.join("sub/.ignore")).unwrap();
    fs::write(root.join("sub/a.rs"), "").unwrap();
    assert_eq!(walk(repository.path()), (vec!["shared".to_owned(), "sub/b.rs".to_owned()], Vec::new()));
}
