//! A bare repository, asked with git.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use chartroom_search::eval::Objects;
use chartroom_search::history::{FORMAT, MAX_COMMITS};

/// A bare repository.
pub(crate) struct Bare(pub(crate) PathBuf);

impl Bare {
    fn ask(&self, arguments: &[&str], input: &str) -> Result<Vec<u8>, String> {
        let mut child = Command::new("git")
            .arg("--git-dir")
            .arg(&self.0)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdin = child.stdin.take();
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes()).ok()));
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            match output.status.success() {
                true => Ok(output.stdout),
                false => Err(format!("git {arguments:?} failed in {}", self.0.display())),
            }
        })
    }
}

impl Objects for Bare {
    fn tree(&self, commit: &str) -> Result<BTreeMap<String, String>, String> {
        let output = self.ask(&["ls-tree", "-r", "-z", "--full-tree", commit], "")?;
        let entry = |line: &[u8]| {
            let (facts, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
            let mut facts = facts.split(' ');
            let (mode, kind, name) = (facts.next()?, facts.next()?, facts.next()?);
            (kind == "blob" && mode != "120000").then(|| (path.to_owned(), name.to_owned()))
        };
        Ok(output.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    fn contents(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, String> {
        let input: String = names.iter().map(|name| format!("{name}\n")).collect();
        let output = self.ask(&["cat-file", "--batch"], &input)?;
        let mut rest = &output[..];
        let mut found = Vec::with_capacity(names.len());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let size = head.rsplit_once(' ').and_then(|(_, size)| size.parse::<usize>().ok());
            found.push(size.map(|size| rest[..size].to_vec()));
            rest = size.map_or(rest, |size| &rest[size + 1..]);
        }
        Ok(found)
    }

    fn log(&self, commit: &str) -> Result<Vec<u8>, String> {
        let most = format!("--max-count={MAX_COMMITS}");
        self.ask(&["log", "-z", "--name-only", "--no-renames", "--no-merges", &most, FORMAT, commit], "")
    }
}
