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

/// A trusted folder and a stranger's are exchanged all the time while agents are started in the one.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_starts_in_a_folder_that_was_swapped_in_after_the_check() {
    use chartroom_transport::Keeper;
    use chartroom_workspace::{ChildKind, SpawnGate, SpawnRequest, TrustStore};
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::AsyncReadExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (name, who) in [("project", "trusted"), ("stranger", "stranger")] {
        std::fs::create_dir_all(path.join(name).join("sub")).unwrap();
        std::fs::write(path.join(name).join("sub/who"), who).unwrap();
    }
    let trust = std::sync::Arc::new(TrustStore::open(&path.join("data")).unwrap());
    let root = CanonicalRoot::open(path.join("project")).unwrap();
    trust.trust(&root).unwrap();
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let env = [("PATH".into(), "/usr/bin:/bin".into())].into();
    let gate = SpawnGate::with_environment(keeper, trust, &path.join("data"), env);
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let swapping = {
        let (stop, path) = (stop.clone(), path.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let (a, b) = (path.join("project"), path.join("stranger"));
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
        })
    };
    let (mut n_started, mut n_refused) = (0, 0);
    while n_started < 100 {
        for below in ["", "sub"] {
            let mut request = SpawnRequest::new(&root, ChildKind::Agent, "/bin/sh");
            request.cwd = path.join("project").join(below);
            request.args = vec!["-c".into(), "cat who 2>/dev/null || cat sub/who".into()];
            let Ok(mut child) = gate.spawn(request) else {
                n_refused += 1;
                continue;
            };
            let mut said = String::new();
            child.stdout.take().unwrap().read_to_string(&mut said).await.unwrap();
            // A trust that is found wanting a moment later ends the child, which then says nothing.
            child.wait().await;
            assert_ne!(said, "stranger", "after {n_started} starts");
            n_started += usize::from(said == "trusted");
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(n_refused > 0, "the folders were not exchanged");
}
