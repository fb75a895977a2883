//! A temporary project from one string, so that a test shows its files where it uses them.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A project folder that is removed when this is dropped.
pub struct Project {
    dir: TempDir,
    root: PathBuf,
}

impl Project {
    /// Makes the files of a fixture: each begins with a line `//- path`.
    ///
    /// ```
    /// let project = chartroom_testkit::project::Project::new("//- src/a.ts\nlet a = 1;\n//- README.md\nhello\n");
    /// assert_eq!(project.read("src/a.ts"), "let a = 1;\n");
    /// ```
    #[track_caller]
    pub fn new(fixture: &str) -> Self {
        let dir = TempDir::with_prefix("chartroom-").expect("a temporary folder can be made");
        let root = dir.path().canonicalize().expect("the folder was just made");
        let project = Self { dir, root };
        for (path, content) in files(fixture) {
            project.write(&path, &content);
        }
        project
    }

    /// Returns the canonical path of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path of a file, whether or not it exists.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Writes a file, with the folders above it.
    #[track_caller]
    pub fn write(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        let parent = path.parent().expect("a file has a folder");
        std::fs::create_dir_all(parent).expect("folders can be made");
        std::fs::write(&path, content).expect("the file can be written");
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative))
            .unwrap_or_else(|error| panic_with(&format!("reading {relative} of the fixture: {error}")))
    }

    /// Removes the folder now, for tests of a project that went away.
    pub fn remove(self) {
        self.dir.close().expect("the folder can be removed");
    }
}

#[expect(clippy::panic, reason = "a fixture that is wrong ends its test")]
#[track_caller]
fn panic_with(message: &str) -> ! {
    panic!("{message}")
}

fn files(fixture: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- ") {
            files.push((path.trim().to_owned(), String::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.push_str(line);
        } else if !line.trim().is_empty() {
            panic_with(&format!("a fixture begins with `//- path`, not with {line:?}"));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_string_becomes_files() {
        let project =
            Project::new("//- src/deep/a.rs\nfn a() {}\n\n//- empty.txt\n//- b.md\nlast line without end");
        assert_eq!(project.read("src/deep/a.rs"), "fn a() {}\n\n");
        assert_eq!(project.read("empty.txt"), "");
        assert_eq!(project.read("b.md"), "last line without end");
    }

    #[test]
    #[should_panic(expected = "a fixture begins with")]
    fn text_before_the_first_file_is_a_mistake() {
        Project::new("lost\n//- a\n");
    }
}
