//! Any bytes as ignore files of a small tree: the walk ends, and what it offers lies below the root.
//!
//! The stream is parted by NULs: `.gitignore`, `sub/.gitignore`, `.chartroomignore`, `.git/info/exclude`.
#![no_main]

use std::sync::LazyLock;

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::walk::{WalkEvent, WalkOptions, files};

const FILES: &[&str] = &["a.rs", "b.txt", "sub/c.rs", "sub/deep/d.py", "sub/[x]/e!.py", ".hidden/f"];
const IGNORE_FILES: &[&str] = &[".gitignore", "sub/.gitignore", ".chartroomignore", ".git/info/exclude"];

static TREE: LazyLock<(tempfile::TempDir, CanonicalRoot)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in FILES.iter().chain(IGNORE_FILES) {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "").expect("a file");
    }
    let root = CanonicalRoot::open(folder.path()).expect("a root");
    (folder, root)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (_, root) = &*TREE;
    let mut parts = data.split(|byte| *byte == 0);
    for file in IGNORE_FILES {
        std::fs::write(root.as_path().join(file), parts.next().unwrap_or_default()).expect("a file");
    }
    let mut n_events = 0;
    for event in files(root, &WalkOptions::default()) {
        n_events += 1;
        if let WalkEvent::File(file) = event {
            assert!(file.path.starts_with(root.as_path()));
        }
    }
    assert!(n_events < 1_000);
});
