//! Records in trouble: the program killed at any moment, several at once, a disk that is full, a folder that nobody may
//! write. No byte of the user's is lost, what was recorded stays, and what cannot be done is said.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/disk.rs"]
mod disk;
#[path = "common/program.rs"]
mod program;
#[path = "common/records.rs"]
mod records;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use disk::{Mount, fill};
use records::{Story, Tree};

/// How often the program is killed.
const N_KILLS: u32 = 40;
/// How many files one state has more than the other, changed, or only for itself.
const N_FILES: usize = 24;

/// Writes one of two states, which differ in every file.
fn write_state(story: &Story, state: &str) {
    for number in 0..N_FILES {
        story.write(&format!("both/{number}.txt"), format!("{number} in {state}\n").repeat(200));
        story.write(&format!("only {state}/{number}.txt"), format!("{state} {number}\n"));
    }
    let other = if state == "one" { "two" } else { "one" };
    std::fs::remove_dir_all(story.path(&format!("only {other}"))).ok();
}

fn begin(story: &Story, args: &[&str]) -> Child {
    let mut command = story.home.command(args);
    command.current_dir(&story.project).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Lets it run for a part of the time that all of it takes, and kills it. Returns whether that came before its end.
#[allow(
    clippy::disallowed_methods,
    reason = "no wait for something: the moment of the kill is what is tried"
)]
fn kill_after(mut child: Child, part: Duration) -> bool {
    std::thread::sleep(part);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// Waits until no process is left that has to do with this home.
fn wait_until_alone(story: &Story) {
    let needle = format!("CHARTROOM_HOME={}", story.home.data().display());
    let is_of_this_home = |process: &Path| {
        let environ = std::fs::read(process.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == needle.as_bytes())
    };
    let began = Instant::now();
    while std::fs::read_dir("/proc").unwrap().flatten().any(|entry| is_of_this_home(&entry.path())) {
        assert!(began.elapsed() < Duration::from_secs(60), "a child outlived the program that was killed");
        std::thread::yield_now();
    }
}

/// Each file is what one of the states has: never a part of one, never something else.
#[track_caller]
fn is_of(tree: &Tree, states: [&Tree; 2]) {
    for (path, held) in tree {
        let is_known = states.iter().any(|state| state.get(path) == Some(held));
        assert!(is_known, "{} is of neither state: {} bytes", path.display(), held.1.len());
    }
    for path in states[0].keys().filter(|path| states[1].contains_key(*path)) {
        assert!(tree.contains_key(path), "{} is in both states, and gone", path.display());
    }
}

#[test]
fn a_program_killed_at_any_moment_loses_nothing_and_what_it_began_can_be_finished() {
    let story = Story::repository();
    write_state(&story, "one");
    let (one, first) = (story.tree(), story.make());
    write_state(&story, "two");
    let (two, second) = (story.tree(), story.make());
    let repository = story.dot_git();

    // How long it takes when nobody kills it: the kills are spread over that.
    let began = Instant::now();
    assert_eq!(story.run(&["checkpoint", "restore", &first, "--force"]).0, 0);
    let whole = began.elapsed();
    assert_eq!(story.run(&["checkpoint", "restore", &second, "--force"]).0, 0);

    let (mut n_cut, mut n_half) = (0, 0);
    for kill in 0..N_KILLS {
        let (target, id) = if kill % 2 == 0 { (&one, &first) } else { (&two, &second) };
        let child = begin(&story, &["checkpoint", "restore", id, "--force"]);
        n_cut += u32::from(kill_after(child, whole * kill / N_KILLS));
        wait_until_alone(&story);
        let tree = story.tree();
        is_of(&tree, [&one, &two]);
        n_half += u32::from(tree != one && tree != two);
        assert_eq!(story.dot_git(), repository, "nothing in the user's repository has changed");
        // What was begun is finished by asking again; whatever was half done is in a record.
        let restored = story.json(0, &["checkpoint", "restore", id, "--force"]);
        assert_eq!(&story.tree(), target, "after kill {kill}");
        let undo = restored["undo"].as_str().unwrap();
        story.json(0, &["checkpoint", "restore", undo, "--force"]);
        assert_eq!(story.tree(), tree, "the state that the kill had left, after kill {kill}");
        assert_eq!(story.run(&["checkpoint", "restore", id, "--force"]).0, 0);
    }
    assert!(n_cut > 0, "no kill came before the end");
    println!("{n_cut} of {N_KILLS} were cut off, {n_half} of them half way through the files");
    assert_eq!(left_in_stores(&story), [""; 0]);
}

/// Files with other names than ours in the folders of records: what somebody did not clear away.
fn left_in_stores(story: &Story) -> Vec<String> {
    let stores = std::fs::read_dir(story.home.data().join("checkpoints")).unwrap().flatten();
    let names = stores.flat_map(|store| std::fs::read_dir(store.path()).unwrap().flatten());
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.') || name.ends_with(".lock")).collect()
}

#[test]
fn a_worktree_whose_making_or_removing_is_killed_loses_nothing_and_can_be_removed() {
    let story = Story::repository();
    write_state(&story, "one");
    story.commit();
    story.git(&["config", "user.name", "U"]);
    story.git(&["config", "user.email", "u@example.org"]);
    let tree = story.tree();
    let project = story.project.to_str().unwrap().to_owned();
    assert_eq!(story.run(&["trust", "--yes", &project]).0, 0);
    let began = Instant::now();
    assert_eq!(story.run(&["worktree", "add", "--branch", "first"]).0, 0);
    let whole = began.elapsed();
    for kill in 0..20 {
        let branch = format!("try-{kill}");
        kill_after(begin(&story, &["worktree", "add", "--branch", &branch]), whole * kill / 20);
        wait_until_alone(&story);
        assert_eq!(story.tree(), tree, "the project itself, after kill {kill}");
        let listed = story.json(0, &["worktree", "list"]);
        let names = listed["worktrees"].as_array().unwrap().iter();
        let is_listed = { names }.any(|worktree| worktree["branch"] == branch.as_str());
        if is_listed {
            kill_after(begin(&story, &["worktree", "remove", &branch, "--force"]), whole * kill / 20);
            wait_until_alone(&story);
            let (code, _, stderr) = story.run(&["worktree", "remove", &branch, "--force"]);
            // Nothing of it is there any more where the first one came to its end.
            assert!(code == 0 || stderr.contains("no worktree"), "{code} {stderr}");
        }
        let listed = story.json(0, &["worktree", "list"]);
        assert_eq!(listed["worktrees"].as_array().unwrap().len(), 1, "{listed}");
    }
    assert_eq!(story.git(&["fsck", "--no-dangling", "--no-progress"]), "");
    assert_eq!(story.git(&["worktree", "prune", "--dry-run"]), "");
}

#[test]
fn programs_that_work_on_one_folder_at_once_wait_for_each_other() {
    let story = Story::repository();
    write_state(&story, "one");
    let (one, first) = (story.tree(), story.make());
    write_state(&story, "two");
    let (two, second) = (story.tree(), story.make());
    for _ in 0..5 {
        let restores = [&first, &second].map(|id| begin(&story, &["checkpoint", "restore", id, "--force"]));
        let makes = [(); 4].map(|()| begin(&story, &["checkpoint", "make"]));
        for mut child in restores.into_iter().chain(makes) {
            assert_eq!(child.wait().unwrap().code(), Some(0));
        }
        let tree = story.tree();
        assert!(tree == one || tree == two, "one of the two was the last, as a whole");
    }
    let listed = story.json(0, &["checkpoint", "list"]);
    let listed = listed["checkpoints"].as_array().unwrap();
    let kinds = |kind: &str| listed.iter().filter(|record| record["kind"] == kind).count();
    assert_eq!((kinds("made"), kinds("undo")), (2 + 5 * 4, 5 * 2));
    let ids: std::collections::BTreeSet<&str> =
        listed.iter().map(|record| record["checkpoint"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), listed.len(), "each has an id of its own");
}

#[test]
fn where_the_records_disk_is_full_nothing_is_lost_and_records_go_on_when_there_is_room() {
    let story = Story::repository();
    let Some(_disk) = Mount::tmpfs(&story.home.data(), "8m") else {
        return eprintln!("mounting is not permitted here");
    };
    write_state(&story, "one");
    let (one, first) = (story.tree(), story.make());
    let filler = fill(&story.home.data(), 0);
    let bytes: Vec<u8> =
        (0..400_000_u32).flat_map(|number| (number ^ (number << 13)).to_le_bytes()).collect();
    story.write("new.bin", &bytes);
    write_state(&story, "two");
    let two = story.tree();
    let (code, stdout, stderr) = story.run(&["checkpoint", "make"]);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.to_lowercase().contains("no space left"), "{stderr}");
    // The state before cannot be recorded, so that nothing is taken back.
    let (code, _, stderr) = story.run(&["checkpoint", "restore", &first, "--force"]);
    assert_eq!(code, 3, "{stderr}");
    assert_eq!(story.tree(), two, "no file was touched");
    std::fs::remove_file(filler).unwrap();
    let second = story.make();
    story.json(0, &["checkpoint", "restore", &first, "--force"]);
    assert_eq!(story.tree(), one);
    story.json(0, &["checkpoint", "restore", &second, "--force"]);
    assert_eq!(story.tree(), two);
}

#[test]
fn where_the_projects_disk_is_full_a_restore_says_where_it_stopped_and_goes_on_later() {
    let mut story = Story::new();
    story.project = story.home.path().join("small");
    let Some(_disk) = Mount::tmpfs(&story.project, "4m") else {
        return eprintln!("mounting is not permitted here");
    };
    // What fills the disk is not what is recorded.
    story.write(".gitignore", "filler\n");
    for number in 0..20 {
        story.write(&format!("{number:02}.txt"), format!("{number}\n").repeat(20_000));
    }
    let (one, first) = (story.tree(), story.make());
    for number in 5..20 {
        std::fs::remove_file(story.path(&format!("{number:02}.txt"))).unwrap();
    }
    story.write("kept.txt", "by a person\n");
    let two = story.tree();
    story.make();
    let filler = fill(&story.project, 200_000);
    let (code, stdout, stderr) = story.run(&["checkpoint", "restore", &first, "--force"]);
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.to_lowercase().contains("no space left"), "{stderr}");
    let mut tree = story.tree();
    tree.remove(filler.file_name().unwrap());
    is_of(&tree, [&one, &two]);
    std::fs::remove_file(&filler).unwrap();
    story.json(0, &["checkpoint", "restore", &first, "--force"]);
    assert_eq!(story.tree(), one);
    // The one that stopped has named the record of what was there before it.
    let is_id = |word: &&str| word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let undo = stderr.split(|c: char| !c.is_ascii_alphanumeric()).find(is_id).unwrap();
    story.json(0, &["checkpoint", "restore", undo, "--force"]);
    assert_eq!(story.tree(), two);
}

#[test]
fn a_folder_that_nobody_may_write_is_recorded_and_what_cannot_be_done_there_is_said() {
    let story = Story::repository();
    let first = story.make();
    story.write("a.txt", "changed\n");
    let project = story.project.to_str().unwrap().to_owned();
    assert_eq!(story.run(&["trust", "--yes", &project]).0, 0);
    let before = (story.tree(), story.dot_git());
    let Some(_read_only) = Mount::read_only(&story.project) else {
        return eprintln!("mounting is not permitted here");
    };
    story.make();
    assert_eq!(story.changes(&[]), ["modified a.txt"]);
    for args in [vec!["checkpoint", "restore", &first, "--force"], vec!["worktree", "add", "--branch", "try"]]
    {
        let (code, stdout, stderr) = story.run(&args);
        assert_eq!((code, stdout.as_str()), (3, ""), "{args:?}");
        assert!(stderr.to_lowercase().contains("read-only file system"), "{args:?}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    }
    assert_eq!((story.tree(), story.dot_git()), before);
    let listed = story.json(0, &["worktree", "list"]);
    assert_eq!(listed["worktrees"], serde_json::json!([]), "nothing is left of it");
}
