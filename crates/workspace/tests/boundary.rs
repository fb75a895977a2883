//! The boundary: no path leads out, however it is written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use chartroom_workspace::boundary::{ReadError, inside, inside_source, is_dependency, is_inside};
use chartroom_workspace::{BoundaryError, CanonicalRoot, roots};
use proptest::prelude::*;

/// A folder `workspace` with neighbours whose names begin alike.
fn fixture() -> (tempfile::TempDir, CanonicalRoot) {
    let folder = tempfile::tempdir().unwrap();
    for path in
        ["workspace/src", "workspace/node_modules/left-pad", "workspace2", "workspace-backup", "outside"]
    {
        fs::create_dir_all(folder.path().join(path)).unwrap();
    }
    for path in [
        "workspace/src/main.rs",
        "workspace/node_modules/left-pad/index.js",
        "workspace2/evil.ts",
        "workspace-backup/file.ts",
        "outside/secret.txt",
    ] {
        fs::write(folder.path().join(path), "text").unwrap();
    }
    let root = CanonicalRoot::open(folder.path().join("workspace")).unwrap();
    (folder, root)
}

fn resolve(root: &CanonicalRoot, path: &Path) -> Result<PathBuf, BoundaryError> {
    inside(root, path).map(|place| place.name())
}

fn resolve_source(root: &CanonicalRoot, path: &Path) -> Result<PathBuf, BoundaryError> {
    inside_source(root, path).map(|place| place.name())
}

#[track_caller]
fn check_inside(root: &CanonicalRoot, path: impl AsRef<Path>, expected: &str) {
    assert_eq!(resolve(root, path.as_ref()).unwrap(), root.as_path().join(expected));
}

#[track_caller]
fn check_outside(root: &CanonicalRoot, path: impl AsRef<Path>) {
    let resolved = resolve(root, path.as_ref());
    assert!(matches!(resolved, Err(BoundaryError::Outside { .. })), "{resolved:?}");
    let place = inside(root, path.as_ref());
    assert!(matches!(place, Err(BoundaryError::Outside { .. })), "{place:?}");
}

// BR-33, REQ-BOUNDARY-030
#[test]
fn paths_are_normalised_before_the_check() {
    let (_folder, root) = fixture();
    check_inside(&root, "src/main.rs", "src/main.rs");
    check_inside(&root, "./src/../src/./main.rs", "src/main.rs");
    check_inside(&root, root.as_path().join("src/main.rs"), "src/main.rs");
    check_inside(&root, root.as_path().join("../workspace/src//main.rs"), "src/main.rs");
    check_inside(&root, "not/there/yet.rs", "not/there/yet.rs");
    check_inside(&root, "src/new.rs", "src/new.rs");
    assert_eq!(resolve(&root, Path::new("")).unwrap(), root.as_path());
    assert_eq!(resolve(&root, Path::new(".")).unwrap(), root.as_path());
}

// BR-31
#[test]
fn files_outside_of_the_workspace_are_refused() {
    let (folder, root) = fixture();
    check_outside(&root, "/etc/passwd");
    check_outside(&root, "/");
    check_outside(&root, folder.path());
    check_outside(&root, folder.path().join("outside/secret.txt"));
    check_outside(&root, folder.path().join("outside/not-there.txt"));
}

// EC-28
#[test]
fn dot_dot_that_leads_out_is_refused() {
    let (_folder, root) = fixture();
    check_outside(&root, "..");
    check_outside(&root, "../outside/secret.txt");
    check_outside(&root, "src/../../outside/secret.txt");
    check_outside(&root, "not-there/../../outside/secret.txt");
    check_outside(&root, "../../../../../../../../etc/passwd");
    check_outside(&root, root.as_path().join("../outside/secret.txt"));
}

// EC-27, REQ-BOUNDARY-030
#[test]
fn a_link_that_leads_out_is_refused() {
    let (folder, root) = fixture();
    let link = |target: &Path, name: &str| symlink(target, root.as_path().join(name)).unwrap();
    link(&folder.path().join("outside"), "folder-link");
    link(&folder.path().join("outside/secret.txt"), "file-link");
    link(Path::new("../outside"), "relative-link");
    link(Path::new("folder-link"), "link-to-link");
    for path in ["folder-link/secret.txt", "file-link", "relative-link/secret.txt", "link-to-link/secret.txt"]
    {
        check_outside(&root, path);
    }
    check_outside(&root, "folder-link/not-there-yet.txt");
    check_outside(&root, "folder-link");
    // A link that stays inside is fine, and is resolved.
    link(Path::new("src"), "inner-link");
    check_inside(&root, "inner-link/main.rs", "src/main.rs");
}

#[test]
fn a_link_to_nowhere_and_a_loop_are_refused() {
    let (folder, root) = fixture();
    symlink(folder.path().join("outside/created-later"), root.as_path().join("dangling")).unwrap();
    symlink("loop", root.as_path().join("loop")).unwrap();
    for path in ["dangling", "dangling/below", "loop", "loop/below", "src/main.rs/below"] {
        let resolved = resolve(&root, Path::new(path));
        assert!(matches!(resolved, Err(BoundaryError::Unresolvable { .. })), "{path}: {resolved:?}");
    }
    let with_nul = resolve(&root, Path::new("a\0b"));
    assert!(matches!(with_nul, Err(BoundaryError::Unresolvable { .. })), "{with_nul:?}");
}

#[test]
fn a_root_reached_through_a_link_has_its_files_inside() {
    let (folder, root) = fixture();
    let alias = folder.path().join("alias");
    symlink(root.as_path(), &alias).unwrap();
    assert_eq!(CanonicalRoot::open(&alias).unwrap(), root);
    check_inside(&root, alias.join("src/main.rs"), "src/main.rs");
}

// BR-87, EC-50, EC-51
#[test]
fn a_neighbour_whose_name_begins_alike_is_outside() {
    let (folder, root) = fixture();
    check_outside(&root, folder.path().join("workspace2/evil.ts"));
    check_outside(&root, folder.path().join("workspace-backup/file.ts"));
    check_outside(&root, "../workspace2/evil.ts");
    assert!(!is_inside(&root, &folder.path().join("workspace2/evil.ts")));
    assert!(!is_inside(&root, &folder.path().join("workspace-backup/file.ts")));
    assert!(is_inside(&root, root.as_path()));
}

// EC-26
#[test]
fn a_file_of_a_dependency_is_refused() {
    let (_folder, root) = fixture();
    symlink("node_modules/left-pad", root.as_path().join("pad")).unwrap();
    // As pnpm does: the folder below `node_modules` is a link to where the files are.
    fs::create_dir(root.as_path().join("store")).unwrap();
    fs::write(root.as_path().join("store/index.js"), "text").unwrap();
    symlink("../store", root.as_path().join("node_modules/linked")).unwrap();
    for path in [
        "node_modules/left-pad/index.js",
        "pad/index.js",
        "node_modules/new.js",
        "node_modules/linked/index.js",
    ] {
        let resolved = resolve_source(&root, Path::new(path));
        assert!(matches!(resolved, Err(BoundaryError::Dependency { .. })), "{path}: {resolved:?}");
    }
    // Go leaves this file in the folder that it fills; a folder that only has the name is the user's.
    std::fs::create_dir_all(root.as_path().join("go/vendor")).unwrap();
    std::fs::write(root.as_path().join("go/vendor/modules.txt"), "").unwrap();
    for path in [".venv/lib/x.py", "a/site-packages/y.py", "go/vendor/z.go", "packages/a/node_modules/b/c.js"]
    {
        assert!(is_dependency(&root, Path::new(path)), "{path}");
        assert!(is_dependency(&root, &root.as_path().join(path)), "{path}");
    }
    for path in
        ["src/main.rs", "node_modules_of_mine/a.js", "src/vendored.rs", "src/vendor/mine.ts", "vendor/z.go"]
    {
        assert!(!is_dependency(&root, Path::new(path)), "{path}");
        resolve_source(&root, Path::new(path)).unwrap();
    }
}

#[test]
fn a_root_inside_of_a_dependency_is_a_workspace_like_any_other() {
    let (_folder, root) = fixture();
    let inner = CanonicalRoot::open(root.as_path().join("node_modules/left-pad")).unwrap();
    resolve_source(&inner, Path::new("index.js")).unwrap();
    check_outside(&inner, "../../src/main.rs");
}

#[test]
fn a_file_given_to_a_tool_is_opened_inside_or_not_at_all() {
    let (folder, root) = fixture();
    let place = inside(&root, Path::new("src/../src/main.rs")).unwrap();
    assert_eq!(place.relative(), Path::new("src/main.rs"));
    assert_eq!(place.name(), root.as_path().join("src/main.rs"));
    assert_eq!(place.read(4).unwrap().0, b"text");
    assert!(matches!(place.read(3), Err(ReadError::TooLarge { size: 4, limit: 3 })));
    for path in [
        folder.path().join("outside/secret.txt"),
        PathBuf::from("/etc/passwd"),
        PathBuf::from("../outside/secret.txt"),
    ] {
        check_outside(&root, &path);
    }
    for folder in ["src", ""] {
        let place = inside(&root, Path::new(folder)).unwrap();
        assert!(matches!(place.open(), Err(ReadError::Folder)) && place.is_dir());
    }
    let absent = inside(&root, Path::new("absent/file")).unwrap();
    assert!(matches!(absent.open(), Err(ReadError::Missing)) && !absent.exists());
}

#[test]
fn a_link_swapped_in_after_the_check_gains_nothing() {
    let (folder, root) = fixture();
    // The file itself becomes a link.
    let checked = inside(&root, Path::new("src/main.rs")).unwrap();
    fs::remove_file(checked.name()).unwrap();
    symlink(folder.path().join("outside/secret.txt"), checked.name()).unwrap();
    assert!(matches!(checked.open(), Err(ReadError::Swapped)));
    // A folder on the way becomes a link.
    fs::create_dir(root.as_path().join("later")).unwrap();
    fs::write(root.as_path().join("later/secret.txt"), "mine").unwrap();
    let checked = inside(&root, Path::new("later/secret.txt")).unwrap();
    fs::remove_dir_all(root.as_path().join("later")).unwrap();
    symlink(folder.path().join("outside"), root.as_path().join("later")).unwrap();
    let read = checked.open();
    assert!(matches!(read, Err(ReadError::Swapped)), "{read:?}");
    assert!(checked.stage(b"mine", None).is_err());
    assert!(checked.remove().is_err());
    assert!(!checked.exists());
    assert_eq!(fs::read_to_string(folder.path().join("outside/secret.txt")).unwrap(), "text");
}

#[test]
fn what_is_no_regular_file_does_not_hold_us() {
    let (_folder, root) = fixture();
    let path = root.as_path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.as_path().join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        let read = inside(&root, Path::new(name)).unwrap().open();
        assert!(matches!(read, Err(ReadError::NotAFile)), "{name}: {read:?}");
    }
}

#[test]
fn a_root_must_be_an_existing_folder() {
    let (_folder, root) = fixture();
    for path in ["absent", "src/main.rs"] {
        assert!(CanonicalRoot::open(root.as_path().join(path)).is_err(), "{path}");
    }
}

#[test]
fn the_nearest_marker_decides_and_never_lies_above_the_root() {
    let (folder, root) = fixture();
    fs::create_dir_all(root.as_path().join("packages/app/src")).unwrap();
    fs::write(folder.path().join("package.json"), "{}").unwrap();
    let nearest = |file: &str| roots::nearest_marker(&root, Path::new(file), &["package.json", "*.csproj"]);
    assert_eq!(nearest("packages/app/src/a.ts"), None);
    fs::write(root.as_path().join("package.json"), "{}").unwrap();
    assert_eq!(nearest("packages/app/src/a.ts"), Some(root.as_path().to_path_buf()));
    fs::write(root.as_path().join("packages/app/x.csproj"), "").unwrap();
    assert_eq!(nearest("packages/app/src/a.ts"), Some(root.as_path().join("packages/app")));
    assert_eq!(nearest("../outside/secret.txt"), None);
}

#[test]
fn a_marker_is_a_file_or_a_folder_of_the_workspace() {
    let (folder, root) = fixture();
    let nearest = |marker: &str| roots::nearest_marker(&root, Path::new("src/main.rs"), &[marker]);
    let own = root.as_path().join("src");
    fs::write(root.as_path().join("shared.toml"), "").unwrap();
    symlink("../shared.toml", own.join("linked.toml")).unwrap();
    fs::create_dir(own.join(".git")).unwrap();
    assert_eq!(nearest("linked.toml"), Some(own.clone()));
    assert_eq!(nearest(".git"), Some(own.clone()));
    assert_eq!(nearest("*.toml"), Some(own.clone()));

    symlink("/dev/zero", own.join("device.json")).unwrap();
    symlink(folder.path().join("outside/secret.txt"), own.join("outside.json")).unwrap();
    symlink("nowhere", own.join("nowhere.json")).unwrap();
    pipe(&own.join("pipe.json"));
    for marker in
        ["device.json", "outside.json", "nowhere.json", "pipe.json", "*.json", "../workspace2/evil.ts"]
    {
        assert_eq!(nearest(marker), None, "{marker}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// No text resolves to a path that is outside, and what resolves can be resolved again to the same.
    #[test]
    fn no_path_leads_out(segments in proptest::collection::vec(segment(), 0..10), absolute in any::<bool>()) {
        thread_local! { static FIXTURE: (tempfile::TempDir, CanonicalRoot) = linked_fixture(); }
        FIXTURE.with(|(folder, root)| {
            let text = segments.join("/");
            let path = if absolute { folder.path().join(text) } else { PathBuf::from(text) };
            if let Ok(resolved) = resolve(root, &path) {
                assert!(is_inside(root, &resolved), "{}", resolved.display());
                assert!(!resolved.components().any(|part| part.as_os_str() == ".."), "{}", resolved.display());
                assert_eq!(resolve(root, &resolved).unwrap(), resolved);
                // Whatever of it exists is really inside.
                let existing = resolved.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap();
                assert!(is_inside(root, &existing.canonicalize().unwrap()));
            }
            if let Ok((bytes, _)) = inside(root, &path).map_err(drop).and_then(|place| place.read(100).map_err(drop)) {
                assert_ne!(bytes, b"secret");
            }
        });
    }
}

fn pipe(path: &Path) {
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
}

fn linked_fixture() -> (tempfile::TempDir, CanonicalRoot) {
    let (folder, root) = fixture();
    fs::write(folder.path().join("outside/secret.txt"), "secret").unwrap();
    for (target, name) in
        [("../outside", "out"), ("src", "in"), ("..", "up"), (".", "here"), ("nowhere", "none")]
    {
        symlink(target, root.as_path().join(name)).unwrap();
        symlink(target, root.as_path().join("src").join(name)).unwrap();
    }
    (folder, root)
}

fn segment() -> impl Strategy<Value = String> {
    let known = [
        "..",
        ".",
        "",
        "src",
        "main.rs",
        "out",
        "in",
        "up",
        "here",
        "none",
        "secret.txt",
        "workspace",
        "workspace2",
        "outside",
    ];
    prop_oneof![
        8 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => "[ -~]{0,12}",
        1 => "\\PC{0,6}",
    ]
}
