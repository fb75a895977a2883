//! A full disk and a data folder that cannot be written: a clear answer, nothing damaged, the old index answers, and all
//! is well again once there is space.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/disk.rs"]
mod disk;
#[path = "common/program.rs"]
mod program;

use std::path::Path;
use std::process::Command;

use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore as _;
use disk::{Mount, fill};
use program::{Home, finish};
use serde_json::Value;

/// A project of some megabytes and the commands on it.
struct Story {
    home: Home,
    project: std::path::PathBuf,
    /// What a command is started through, when the fault is its own.
    through: Vec<String>,
}

impl Story {
    fn new() -> Self {
        let home = Home::new();
        let project = home.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let story = Self { home, project, through: Vec::new() };
        story.edit(0);
        story
    }

    /// Gives every file other text; `needle_<round>` is in the first.
    fn edit(&self, round: usize) {
        for file in 0..150 {
            let mut text = format!("def needle_{round}():\n    return {file}\n\n\n");
            if file > 0 {
                text.clear();
            }
            for function in 0..40 {
                let name = format!("function_{round}_{file}_{function}");
                text.push_str(&format!(
                    "def {name}(first, second):\n    value_{name} = first * {function} + second\n    return value_{name}\n\n\n"
                ));
            }
            std::fs::write(self.project.join(format!("module_{file}.py")), text).unwrap();
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let plain = self.home.command(args);
        let Some((program, rest)) = self.through.split_first() else { return plain };
        #[allow(clippy::disallowed_methods, reason = "a shell sets the limit of the command under test")]
        let mut command = Command::new(program);
        command.args(rest).arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.current_dir(self.home.path());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// One command with `--json`: its exit code and its one document.
    #[track_caller]
    fn run(&self, args: &[&str]) -> (i32, Value) {
        let (code, stdout, stderr) = finish(self.command(args).arg("--json").output().unwrap());
        match serde_json::from_str(&stdout) {
            Ok(document) => (code, document),
            Err(error) => panic!("{args:?}: {error}: {stdout}\n{stderr}"),
        }
    }

    fn manage(&self, action: &str) -> (i32, Value) {
        self.run(&["index", action, self.project.to_str().unwrap()])
    }

    #[track_caller]
    fn done(&self, action: &str) {
        let (code, answer) = self.manage(action);
        assert_eq!((code, answer["status"].as_str()), (0, Some("ok")), "{action}: {answer}");
    }

    /// The action fails with an envelope that names the trouble.
    #[track_caller]
    fn fails(&self, action: &str, trouble: &[&str]) -> Value {
        let (code, answer) = self.manage(action);
        assert_eq!((code, answer["status"].as_str()), (1, Some("error")), "{action}: {answer}");
        assert_eq!(answer["action"], action, "{answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(trouble.iter().any(|trouble| message.contains(trouble)), "{action}: {message}");
        answer
    }

    /// The old index is asked in every way and answers.
    #[track_caller]
    fn answers(&self, round: usize) {
        let needle = format!("needle_{round}");
        let project = self.project.to_str().unwrap();
        let (code, found) = self.run(&["search", &needle, "--path", project]);
        assert_eq!((code, found["status"].as_str()), (0, Some("ok")), "{found}");
        assert_eq!(found["results"][0]["file"], "module_0.py", "{found}");
        assert!(found["results"][0]["preview"].as_str().unwrap().contains(&needle), "{found}");
        let (code, status) = self.manage("status");
        assert_eq!((code, status["status"].as_str()), (0, Some("ok")), "{status}");
        let (code, list) = self.run(&["index", "list"]);
        assert_eq!((code, list["total"].as_u64()), (0, Some(1)), "{list}");
        let file = self.project.join("module_1.py");
        let (code, outline) = self.run(&["outline", file.to_str().unwrap()]);
        assert_eq!(code, 0, "{outline}");
        let symbols = outline["outline"]["symbols"].as_array().unwrap();
        assert!(
            symbols.iter().any(|symbol| symbol["symbolLabel"].as_str().unwrap().contains("_39")),
            "{outline}"
        );
    }

    fn digest(&self) -> String {
        digest(&self.home.data(), &self.project)
    }

    /// What a data folder of its own gives for the project as it is now.
    fn fresh(&self) -> String {
        let data = tempfile::tempdir().unwrap();
        let mut create = self.home.command(&["index", "create", self.project.to_str().unwrap()]);
        assert!(create.env("CHARTROOM_HOME", data.path()).output().unwrap().status.success());
        digest(data.path(), &self.project)
    }
}

fn digest(data: &Path, project: &Path) -> String {
    let store = SqliteStore::open(data).unwrap();
    store.open_reader(project.to_str().unwrap()).unwrap().unwrap().payload_digest().unwrap()
}

const NO_SPACE: &[&str] =
    &["No space left on device", "no space left", "disk is full", "File too large", "disk I/O error"];

// INDEX-MANAGE-error
#[test]
fn a_full_disk_is_told_and_damages_nothing_and_space_makes_all_well() {
    let story = Story::new();
    let data = story.home.data();
    let Some(disk) = Mount::tmpfs(&data, "600k") else {
        // The same story with a limit that any user can set.
        return file_size_story();
    };
    // Never indexed, and no space to.
    story.fails("create", NO_SPACE);
    let (code, found) = story.run(&["search", "needle_0", "--path", story.project.to_str().unwrap()]);
    assert_eq!((code, found["status"].as_str()), (1, Some("not_indexed")), "{found}");
    disk.resize("64m");
    story.done("create");
    story.answers(0);
    assert_eq!(story.digest(), story.fresh(), "after the first build");

    let mut round = 0;
    for spare in [0, 8 << 10, 64 << 10, 512 << 10] {
        let before = story.digest();
        let filler = fill(&data, spare);
        story.fails("reindex", NO_SPACE);
        assert_eq!(story.digest(), before, "the old generation is as it was, with {spare} bytes left");
        story.answers(round);
        round += 1;
        story.edit(round);
        // So much new text that it does not fit either; what was done of it is whole files.
        story.fails("sync", NO_SPACE);
        let (code, found) = story.run(&["search", "function", "--path", story.project.to_str().unwrap()]);
        assert_eq!((code, found["status"].as_str()), (0, Some("ok")), "{found}");
        assert!(!found["results"].as_array().unwrap().is_empty(), "{found}");
        std::fs::remove_file(filler).unwrap();
        story.done("sync");
        let fresh = story.fresh();
        assert_eq!(story.digest(), fresh, "after a sync that had {spare} bytes left");
        story.done("reindex");
        assert_eq!(story.digest(), fresh, "after a reindex that had {spare} bytes left");
        story.answers(round);
    }
}

/// A limit on the size of each file instead of a full disk.
fn file_size_story() {
    let mut story = Story::new();
    // In blocks of 512 bytes; the signal is ignored, so that a write that is too long fails like one on a full disk.
    let limited = |blocks: u32| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        vec!["/bin/sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()]
    };
    story.through = limited(400);
    story.fails("create", NO_SPACE);
    story.through.clear();
    story.done("create");
    let before = story.digest();
    for blocks in [0, 1, 40, 400] {
        story.through = limited(blocks);
        story.fails("reindex", NO_SPACE);
        assert_eq!(story.digest(), before, "the old generation is as it was");
    }
    story.answers(0);
    story.edit(1);
    story.fails("sync", NO_SPACE);
    story.through.clear();
    story.done("sync");
    let fresh = story.fresh();
    assert_eq!(story.digest(), fresh, "after the sync");
    story.done("reindex");
    assert_eq!(story.digest(), fresh, "after the reindex");
    story.answers(1);
}

#[test]
fn a_file_that_may_not_grow_is_told_and_damages_nothing() {
    file_size_story();
}

#[test]
fn a_read_only_data_folder_answers_and_says_why_it_takes_no_changes() {
    const READ_ONLY: &[&str] = &["Read-only file system", "Permission denied", "read-only"];
    let mut story = Story::new();
    let data = story.home.data();
    story.done("create");
    let (before, files) = (story.digest(), listing(&data));
    let closed = Closed::new(&data);
    story.through = closed.through.clone();
    for action in ["reindex", "sync", "clear"] {
        story.fails(action, READ_ONLY);
    }
    let other = story.home.path().join("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("a.py"), "def other():\n    pass\n").unwrap();
    let (code, answer) = story.run(&["index", "create", other.to_str().unwrap()]);
    assert_eq!((code, answer["status"].as_str()), (1, Some("error")), "{answer}");
    assert!(READ_ONLY.iter().any(|text| answer["message"].as_str().unwrap().contains(text)), "{answer}");
    story.answers(0);
    assert_eq!(listing(&data), files, "nothing was written");
    drop(closed);
    story.through.clear();
    assert_eq!(story.digest(), before);
    story.edit(1);
    story.done("sync");
    let fresh = story.fresh();
    assert_eq!(story.digest(), fresh);
    story.done("reindex");
    assert_eq!(story.digest(), fresh);
    story.answers(1);
}

/// A folder that cannot be written until dropped.
struct Closed {
    _mount: Option<Mount>,
    opens_again: Option<std::path::PathBuf>,
    through: Vec<String>,
}

impl Closed {
    fn new(data: &Path) -> Self {
        let mount = Mount::read_only(data);
        let mut through = Vec::new();
        let mut opens_again = None;
        if mount.is_none() {
            change_mode(data, "a-w");
            opens_again = Some(data.to_owned());
            if rustix::process::geteuid().is_root() {
                // Root writes everywhere; the commands run as nobody, who may read.
                change_mode(data, "a+rX");
                change_mode(data.parent().unwrap(), "a+rX");
                through =
                    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(Into::into).to_vec();
            }
        }
        let closed = Self { _mount: mount, opens_again, through };
        assert!(!closed.can_write(data), "{} is closed", data.display());
        closed
    }

    fn can_write(&self, data: &Path) -> bool {
        let mut all = self.through.clone();
        all.extend(["touch".to_owned(), data.join("probe").display().to_string()]);
        #[allow(
            clippy::disallowed_methods,
            reason = "what the commands under test may do is asked as they are"
        )]
        let touched = Command::new(&all[0]).args(&all[1..]).output().unwrap();
        touched.status.success()
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        if let Some(data) = &self.opens_again {
            change_mode(data, "u+w");
        }
    }
}

fn change_mode(path: &Path, mode: &str) {
    #[allow(clippy::disallowed_methods, reason = "chmod -R is a program")]
    let changed = Command::new("chmod").args(["-R", mode]).arg(path).output().unwrap();
    assert!(changed.status.success(), "chmod {mode} {}", path.display());
}

/// Every file below a folder with its size, the locks and logs of SQLite left out.
fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            let (path, stat) = (entry.path(), entry.metadata().unwrap());
            let name = path.display().to_string();
            if stat.is_dir() {
                pending.push(path);
            } else if !name.ends_with("-shm") && !name.ends_with("-wal") {
                found.push((name, stat.len()));
            }
        }
    }
    found.sort();
    found
}
