//! The difference that is told is the one that is there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;

use super::{compressed, merkle_root, scan};
use crate::scan::{Scan, ScanError, ScanOptions};
use crate::store::Manifest;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run(root: &Path, manifest: &Manifest) -> Scan {
    scan(root, manifest, &ScanOptions::default()).unwrap()
}

/// What a sync makes of a scan.
fn applied(mut manifest: Manifest, scan: &Scan) -> Manifest {
    for file in scan.added.iter().chain(&scan.modified).chain(&scan.touched) {
        manifest.files.insert(file.rel_path.clone(), file.stamp.clone());
    }
    for path in &scan.removed {
        manifest.files.remove(path);
    }
    manifest.unscanned = scan.unscanned.clone();
    manifest
}

fn paths(scan: &Scan) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    (
        scan.added.iter().map(|file| file.rel_path.as_str()).collect(),
        scan.modified.iter().map(|file| file.rel_path.as_str()).collect(),
        scan.removed.iter().map(String::as_str).collect(),
    )
}

#[test]
fn only_source_is_added_and_ignore_files_count() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("src/a.py", "x = 1\n"),
        ("src/deep/b.rs", "fn f() {}\n"),
        ("src/deep/.gitignore", "skipped.rs\n"),
        ("src/deep/skipped.rs", "fn f() {}\n"),
        (".env", "KEY=1\n"),
        ("package-lock.json", "{}"),
        ("node_modules/x/index.js", "x"),
        ("dist/app.js", "x"),
        ("image.png", "x"),
        ("data.py", "a\0b"),
        ("page.tpl", "x"),
    ] {
        write(root.path(), path, text);
    }
    let found = run(root.path(), &Manifest::default());
    assert_eq!(paths(&found).0, ["src/a.py", "src/deep/b.rs"]);
    let options = ScanOptions { custom_extensions: vec![".tpl".into()], ..ScanOptions::default() };
    let found = scan(root.path(), &Manifest::default(), &options).unwrap();
    assert_eq!(paths(&found).0, ["page.tpl", "src/a.py", "src/deep/b.rs"]);
    let options = ScanOptions { ignore_patterns: vec!["deep/".into()], ..ScanOptions::default() };
    assert_eq!(paths(&scan(root.path(), &Manifest::default(), &options).unwrap()).0, ["src/a.py"]);
}

#[test]
fn an_unchanged_folder_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.py", "x = 1\n");
    let first = run(root.path(), &Manifest::default());
    let manifest = applied(Manifest::default(), &first);
    let second = run(root.path(), &manifest);
    assert_eq!(second, Scan::default());
    let full = ScanOptions { full_hash: true, ..ScanOptions::default() };
    assert_eq!(paths(&scan(root.path(), &manifest, &full).unwrap()), (vec![], vec![], vec![]));
}

#[test]
fn a_touched_file_is_hashed_and_not_modified() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.py", "x = 1\n");
    let mut manifest = applied(Manifest::default(), &run(root.path(), &Manifest::default()));
    manifest.files.get_mut("a.py").unwrap().mtime_ns -= 1;
    let found = run(root.path(), &manifest);
    assert_eq!((found.touched.len(), found.modified.len(), found.hashed), (1, 0, 1));
}

#[test]
fn a_folder_that_cannot_be_read_removes_nothing() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.py", "x = 1\n");
    write(root.path(), "locked/b.py", "x = 1\n");
    write(root.path(), "locked-not/c.py", "x = 1\n");
    let manifest = applied(Manifest::default(), &run(root.path(), &Manifest::default()));
    fs::remove_file(root.path().join("locked-not/c.py")).unwrap();
    let locked = root.path().join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&locked).is_ok();
    let found = run(root.path(), &manifest);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(paths(&found).2, ["locked-not/c.py"]);
    // Root reads everything, so that there is nothing unscanned for it.
    if !readable {
        assert_eq!(found.unscanned, ["locked"]);
    }
}

#[test]
fn what_lies_below_an_unscanned_folder_is_kept() {
    let stamp = crate::store::FileStamp { hash: "x".into(), size: 1, mtime_ns: 1, ctime_ns: 1 };
    let files = ["locked/b.py", "locked-not/c.py"].map(|path| (path.to_owned(), stamp.clone()));
    let manifest = Manifest { files: BTreeMap::from(files), unscanned: vec![] };
    let found = super::compare(&manifest, vec![], vec!["locked".into()], Default::default());
    assert_eq!(found.removed, ["locked-not/c.py"]);
}

#[test]
fn a_missing_root_is_missing_and_a_file_is_no_root() {
    let root = tempfile::tempdir().unwrap();
    let options = ScanOptions::default();
    let gone = scan(&root.path().join("gone"), &Manifest::default(), &options);
    assert!(matches!(gone, Err(ScanError::Missing(_))));
    write(root.path(), "file.py", "x");
    let file = scan(&root.path().join("file.py"), &Manifest::default(), &options);
    assert!(matches!(file, Err(ScanError::Unreadable { .. })));
}

#[test]
fn links_and_odd_names_end_a_scan_well() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a/b.py", "x = 1\n");
    std::os::unix::fs::symlink(root.path(), root.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("out.py")).unwrap();
    fs::write(root.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.py")), "x").unwrap();
    assert_eq!(paths(&run(root.path(), &Manifest::default())).0, ["a/b.py"]);
}

#[test]
fn prefixes_are_kept_once() {
    let given = ["b/c", "a", "a/x", "ab", "b/c"].map(str::to_owned).to_vec();
    assert_eq!(compressed(given), ["a", "ab", "b/c"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_difference_is_the_real_one(
        before in prop::collection::btree_map(0..8u8, 0..3u8, 0..8),
        after in prop::collection::btree_map(0..8u8, 0..3u8, 0..8),
    ) {
        let root = tempfile::tempdir().unwrap();
        let name = |file: &u8| format!("d{}/f{file}.py", file % 3);
        let text = |word: &u8| format!("x = {}\n", "1".repeat(1 + *word as usize));
        for (file, word) in &before {
            write(root.path(), &name(file), &text(word));
        }
        let manifest = applied(Manifest::default(), &run(root.path(), &Manifest::default()));
        for file in before.keys().filter(|file| !after.contains_key(file)) {
            fs::remove_file(root.path().join(name(file))).unwrap();
        }
        for (file, word) in after.iter().filter(|(file, word)| before.get(file) != Some(word)) {
            write(root.path(), &name(file), &text(word));
        }
        let found = run(root.path(), &manifest);
        let sorted = |names: Vec<String>| { let mut names = names; names.sort(); names };
        let added = sorted(after.keys().filter(|file| !before.contains_key(file)).map(name).collect());
        let removed = sorted(before.keys().filter(|file| !after.contains_key(file)).map(name).collect());
        let modified = sorted(after.iter().filter(|(file, word)| before.get(file).is_some_and(|old| old != *word)).map(|(file, _)| name(file)).collect());
        prop_assert_eq!(paths(&found), (added.iter().map(String::as_str).collect(), modified.iter().map(String::as_str).collect(), removed.iter().map(String::as_str).collect()));
        let synced = applied(manifest, &found);
        let fresh = applied(Manifest::default(), &run(root.path(), &Manifest::default()));
        prop_assert_eq!(merkle_root(&synced), merkle_root(&fresh));
    }
}

#[test]
fn a_first_build_reads_no_file_to_find_it_and_refuses_what_is_no_text_when_it_reads() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("good.py"), "def good(): pass\n").unwrap();
    std::fs::write(root.path().join("bytes.py"), b"\0\x01\x02\xff\0\0").unwrap();
    let options = ScanOptions { new_by_name: true, ..ScanOptions::default() };
    let found = scan(root.path(), &Manifest::default(), &options).unwrap();
    assert_eq!((found.added.len(), found.hashed), (2, 0));
    let parser = crate::parser::InProcess::default();
    let batch = crate::intake::changes_of(&parser, &crate::embed::NoEmbedder, root.path(), &found.added, &[])
        .unwrap();
    let paths: Vec<&str> = batch
        .changes
        .iter()
        .map(|change| match change {
            crate::store::FileChange::Put(record) => record.rel_path.as_str(),
            _ => "",
        })
        .collect();
    assert_eq!((paths, batch.skipped, batch.unreadable), (vec!["good.py"], 1, 0));
}
