//! Somebody swaps a folder and a link all the time: nothing is read from outside, and nothing written there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chartroom_workspace::{CanonicalRoot, boundary};

const READS: usize = 100_000;
/// Each of them syncs a file.
const WRITES: usize = 100_000;

/// `folder` is now a folder with `file`, now a link to a folder outside that has one too.
struct Stage {
    folder: tempfile::TempDir,
    root: CanonicalRoot,
    stop: Arc<AtomicBool>,
    swapping: Option<std::thread::JoinHandle<u64>>,
}

impl Stage {
    fn new() -> Self {
        // In memory: the writes of this test would take minutes on a disk.
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let path = folder.path().to_path_buf();
        fs::create_dir_all(path.join("root/folder")).unwrap();
        fs::create_dir(path.join("outside")).unwrap();
        fs::write(path.join("root/folder/file"), "inside").unwrap();
        fs::write(path.join("outside/file"), "secret").unwrap();
        symlink(path.join("outside"), path.join("root/link")).unwrap();
        let root = CanonicalRoot::open(path.join("root")).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let swapping = std::thread::spawn(move || {
            let at = |name: &str| path.join("root").join(name);
            let mut n_swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    at("folder"),
                    rustix::fs::CWD,
                    at("link"),
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
                n_swaps += 1;
            }
            n_swaps
        });
        Stage { folder, root, stop, swapping: Some(swapping) }
    }

    /// Ends the swapping and says how often it happened.
    fn end(&mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.swapping.take().unwrap().join().unwrap()
    }
}

#[test]
fn no_read_leads_out_while_a_folder_and_a_link_are_swapped() {
    let mut stage = Stage::new();
    let (mut n_inside, mut n_refused) = (0, 0);
    for _ in 0..READS {
        let read = boundary::inside(&stage.root, Path::new("folder/file"))
            .map_err(|error| error.to_string())
            .and_then(|place| place.read(100).map_err(|error| error.to_string()));
        match read {
            Ok((bytes, _)) => {
                assert_eq!(bytes, b"inside");
                n_inside += 1;
            }
            Err(_) => n_refused += 1,
        }
    }
    let n_swaps = stage.end();
    // The race did take place.
    assert!(n_inside > 0 && n_refused > 0 && n_swaps > 1000, "{n_inside} {n_refused} {n_swaps}");
}

#[test]
fn no_write_leads_out_while_a_folder_and_a_link_are_swapped() {
    let mut stage = Stage::new();
    let (mut n_inside, mut n_refused) = (0, 0);
    for number in 0..WRITES {
        let name = if number % 2 == 0 { "folder/file" } else { "folder/new" };
        let written = boundary::inside(&stage.root, Path::new(name))
            .map_err(|error| error.to_string())
            .and_then(|place| {
                place
                    .stage(b"inside", None)
                    .and_then(|staged| staged.put())
                    .map_err(|error| error.to_string())
            });
        match written {
            Ok(()) => n_inside += 1,
            Err(_) => n_refused += 1,
        }
    }
    let n_swaps = stage.end();
    assert!(n_inside > 0 && n_refused > 0 && n_swaps > 1000, "{n_inside} {n_refused} {n_swaps}");
    let outside = stage.folder.path().join("outside");
    let names: Vec<_> = fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["file"], "something was written outside");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "secret");
}
