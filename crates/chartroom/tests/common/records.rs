//! A folder of a user and the real binary: `chartroom checkpoint` and `chartroom changes` as a shell runs them.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::{Home, finish};

/// What lies at a path: who may run it, and its bytes, or where a link leads.
pub type Tree = BTreeMap<OsString, (bool, Vec<u8>)>;

pub struct Story {
    pub home: Home,
    pub project: PathBuf,
}

impl Story {
    pub fn new() -> Self {
        let home = Home::new();
        let project = home.path().join("shop");
        std::fs::create_dir(&project).unwrap();
        Self { home, project }
    }

    /// A repository with one commit of `a.txt`.
    pub fn repository() -> Self {
        let story = Self::new();
        story.git(&["init", "-q", "-b", "main"]);
        story.write("a.txt", "one\ntwo\n");
        story.commit();
        story
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=U", "-c", "user.email=u@example.org"])
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        let (code, stdout, stderr) = finish(output);
        assert_eq!(code, 0, "git {args:?}: {stdout}{stderr}");
        stdout.trim().to_owned()
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        finish(self.home.command(args).current_dir(&self.project).output().unwrap())
    }

    #[track_caller]
    pub fn json(&self, expected: i32, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        let (code, stdout, stderr) = self.run(&args);
        assert_eq!((code, stderr.as_str()), (expected, ""), "{args:?}: {stdout}");
        serde_json::from_str(&stdout).unwrap()
    }

    #[track_caller]
    pub fn make(&self) -> String {
        self.json(0, &["checkpoint", "make"])["checkpoint"].as_str().unwrap().to_owned()
    }

    /// What changed, as `status path`.
    #[track_caller]
    pub fn changes(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["changes"];
        all.extend(args);
        let changes = self.json(0, &all);
        let files = changes["files"].as_array().unwrap();
        let words =
            |file: &Value| format!("{} {}", file["status"].as_str().unwrap(), file["path"].as_str().unwrap());
        files.iter().map(words).collect()
    }

    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        gather(&self.project, &self.project, &mut tree, &|path| path.file_name() != Some(OsStr::new(".git")));
        tree
    }

    /// Everything in the user's repository.
    pub fn dot_git(&self) -> Tree {
        let mut tree = Tree::new();
        gather(&self.path(".git"), &self.project, &mut tree, &|_path| true);
        tree
    }
}

fn gather(folder: &Path, root: &Path, tree: &mut Tree, wanted: &dyn Fn(&Path) -> bool) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !wanted(&path) {
            continue;
        }
        let found = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(root).unwrap().as_os_str().to_owned();
        if found.is_dir() {
            gather(&path, root, tree, wanted);
        } else if found.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            tree.insert(name, (false, target.as_os_str().as_bytes().to_vec()));
        } else {
            let runs = found.permissions().mode() & 0o100 != 0;
            tree.insert(name, (runs, std::fs::read(&path).unwrap()));
        }
    }
}
