//! What records cost: old ones go and give their room back, and folders with very many files are recorded like others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "common/bench.rs"]
mod bench;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use bench::Bench;
use chartroom_checkpoints::{Detail, Scope, Sight, Words};

const MIB: u64 = 1 << 20;

/// Bytes that cannot be compressed, other ones for each seed.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state)
    };
    std::iter::from_fn(next).flat_map(u64::to_le_bytes).take(4 << 20).collect()
}

fn size_of(folder: &Path) -> u64 {
    let entries = folder.read_dir().unwrap().flatten();
    entries
        .map(|entry| match entry.metadata().unwrap() {
            found if found.is_dir() => size_of(&entry.path()),
            found => found.len(),
        })
        .sum()
}

#[tokio::test]
async fn records_that_are_thinned_out_give_their_room_back_and_those_with_a_label_stay() {
    let bench = Bench::new();
    let records = bench.records().await;
    let write = |seed| std::fs::write(bench.path("noise.bin"), noise(seed)).unwrap();
    write(1);
    let forgotten = bench.make().await;
    write(2);
    let label = || Words { label: Some("mine".to_owned()), ..Words::default() };
    let named = records.make(label).await.unwrap();
    write(3);
    assert!(size_of(&bench.store()) > 8 * MIB, "both are there");
    // As many records as 700 turns make, with one look.
    records.make_all(|| vec![Words::default(); 700]).await.unwrap();
    let kept = records.list(None).unwrap();
    assert_eq!(kept.len(), 501);
    assert!(kept.iter().all(|record| record.id != forgotten.id));
    let size = size_of(&bench.store());
    assert!((8 * MIB..9 * MIB).contains(&size), "the named one and the newest: {size} bytes");
    bench.restore(&named, true).await.unwrap();
    assert!(std::fs::read(bench.path("noise.bin")).unwrap() == noise(2));
}

/// Commits very many small files with git's own import, and checks them out.
#[allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]
fn commit_many(bench: &Bench, n_files: usize) {
    let mut text = String::from("blob\nmark :1\ndata 5\nsame\n\n");
    text.push_str("commit refs/heads/main\ncommitter U <u@example.org> 0 +0000\ndata 4\nmany\n");
    for number in 0..n_files {
        writeln!(text, "M 644 :1 d{:03}/{number}.txt", number % 400).unwrap();
    }
    let root = bench.root();
    let mut import = std::process::Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(root.as_path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    bench.git(&["reset", "-q", "--hard"]);
}

#[tokio::test]
async fn a_folder_of_200_000_files_is_recorded_compared_and_taken_back_like_others() {
    const N_FILES: usize = 200_000;
    let bench = Bench::new();
    commit_many(&bench, N_FILES);
    let sight = Sight::default();
    let records = bench.records().await.seen_by(&sight);
    let first = records.make(Words::default).await.unwrap();
    assert_eq!(first.left_out, []);
    // The look of so many files is remembered too: nothing has changed, and the same is said.
    let again = records.make(Words::default).await.unwrap();
    assert_eq!(records.diff(&first, Some(&again), Detail::Counts).await.unwrap().files.len(), 0);
    bench.write("d007/7.txt", "by an agent\n");
    bench.write("d399/new.txt", "by an agent\n");
    std::fs::remove_file(bench.path("d200/200.txt")).unwrap();
    let differs = records.diff(&first, None, Detail::Counts).await.unwrap();
    let paths: Vec<&str> = differs.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["d007/7.txt", "d200/200.txt", "d399/new.txt"]);
    let uncommitted = records.changes(&Scope::Uncommitted, Detail::Counts).await.unwrap();
    assert_eq!(uncommitted.files.len(), 3);
    let restored = bench.restore(&first, true).await.unwrap();
    assert_eq!((restored.written.len(), restored.removed.len(), restored.conflicts.len()), (2, 1, 0));
    assert_eq!((bench.read("d007/7.txt"), bench.read("d200/200.txt")), ("same\n".into(), "same\n".into()));
    assert_eq!(bench.git(&["--no-optional-locks", "status", "--porcelain"]), "");
}
