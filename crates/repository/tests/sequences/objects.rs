//! What object stores hold, read with the real git and nothing of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files::{Held, Tree};
use chartroom_checkpoints::MAX_FILE_BYTES;

pub struct Objects {
    trees: BTreeMap<String, Vec<u8>>,
    commits: BTreeMap<String, String>,
    blobs: BTreeMap<String, Vec<u8>>,
    contents: BTreeSet<Vec<u8>>,
    large: BTreeSet<u64>,
}

impl Objects {
    /// Everything in a repository and in the objects that it borrows.
    #[expect(clippy::disallowed_methods, reason = "the stores are read as a shell would")]
    pub fn of(git_dir: &Path, borrowed: &Path) -> Self {
        let output = Command::new("git")
            .arg("--git-dir")
            .arg(git_dir)
            .args(["cat-file", "--batch-all-objects", "--unordered", "--batch"])
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", borrowed)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut all = Self {
            trees: BTreeMap::new(),
            commits: BTreeMap::new(),
            blobs: BTreeMap::new(),
            contents: BTreeSet::new(),
            large: BTreeSet::new(),
        };
        let mut rest = output.stdout.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8(rest[..end].to_vec()).unwrap();
            let words: Vec<&str> = head.split(' ').collect();
            let [id, kind, size] = words[..] else { panic!("{head}") };
            let size: usize = size.parse().unwrap();
            let content = rest[end + 1..][..size].to_vec();
            rest = &rest[end + 2 + size..];
            match kind {
                "tree" => drop(all.trees.insert(id.to_owned(), content)),
                "commit" => {
                    let text = String::from_utf8_lossy(&content).into_owned();
                    let tree = text.strip_prefix("tree ").unwrap().lines().next().unwrap();
                    all.commits.insert(id.to_owned(), tree.to_owned());
                }
                "blob" if size as u64 > MAX_FILE_BYTES => drop(all.large.insert(size as u64)),
                _ => {
                    all.contents.insert(content.clone());
                    all.blobs.insert(id.to_owned(), content);
                }
            }
        }
        all
    }

    /// Whether these bytes are there at all.
    pub fn has(&self, held: &Held) -> bool {
        match held {
            Held::File { bytes, .. } | Held::Link(bytes) => self.contents.contains(bytes),
            Held::Large(size) => self.large.contains(size),
        }
    }

    /// The files of a commit.
    pub fn tree(&self, commit: &str) -> Result<Tree, String> {
        let tree = self.commits.get(commit).ok_or_else(|| format!("the commit {commit} is gone"))?;
        let mut files = Tree::new();
        self.gather(tree, Path::new(""), &mut files)?;
        Ok(files)
    }

    fn gather(&self, id: &str, below: &Path, files: &mut Tree) -> Result<(), String> {
        let mut rest = self.trees.get(id).ok_or_else(|| format!("the tree {id} is gone"))?.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let space = rest.iter().position(|byte| *byte == b' ').unwrap();
            let mode = String::from_utf8_lossy(&rest[..space]).into_owned();
            let name = std::ffi::OsString::from_vec(rest[space + 1..end].to_vec());
            let id: String = rest[end + 1..end + 21].iter().map(|byte| format!("{byte:02x}")).collect();
            rest = &rest[end + 21..];
            let path: PathBuf = below.join(name);
            if mode == "40000" {
                self.gather(&id, &path, files)?;
                continue;
            }
            let bytes = self.blobs.get(&id).cloned();
            let bytes = bytes.ok_or_else(|| format!("the content of {} is gone", path.display()))?;
            let held = match mode.as_str() {
                "120000" => Held::Link(bytes),
                _ => Held::File { runs: mode == "100755", bytes },
            };
            files.insert(path, held);
        }
        Ok(())
    }
}
