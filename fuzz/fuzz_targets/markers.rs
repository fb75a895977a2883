//! Any paths and markers on a tree with links: nothing outside of the root is named, opened or called a project.
//!
//! The stream is parted by NULs: a path, then markers.
#![no_main]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use chartroom_workspace::{CanonicalRoot, boundary, roots};

static TREE: LazyLock<(tempfile::TempDir, CanonicalRoot)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("root/a/b")).expect("a folder");
    std::fs::write(path("package.json"), "secret").expect("a file");
    std::fs::write(path("root/a/Cargo.toml"), "").expect("a file");
    std::fs::write(path("root/a/b/c.rs"), "text").expect("a file");
    for (target, name) in [("..", "up"), ("a/b", "in"), ("/", "top"), ("l", "l"), ("../package.json", "a/package.json")] {
        symlink(target, path("root").join(name)).expect("a link");
    }
    let root = CanonicalRoot::open(path("root")).expect("a root");
    (folder, root)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(data) = std::str::from_utf8(data) else { return };
    let (_, root) = &*TREE;
    let mut parts = data.split('\0');
    let path = Path::new(parts.next().unwrap_or_default());
    let markers: Vec<&str> = parts.take(8).collect();
    if let Some(project) = roots::nearest_marker(root, path, &markers) {
        assert!(project.starts_with(root.as_path()), "{}", project.display());
    }
    if let Ok(place) = boundary::inside(root, path) {
        assert!(place.name().starts_with(root.as_path()), "{}", place.name().display());
        if let Ok((bytes, _)) = place.read(1024) {
            assert_ne!(bytes, b"secret");
        }
    }
});
