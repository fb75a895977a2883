//! What else is asked: ripgrep, and programs of `tools/eval`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use chartroom_search::eval::Beside;

/// The systems of these names.
pub(crate) fn others(names: &[String]) -> Vec<Box<dyn Beside>> {
    let other = |name: &String| -> Box<dyn Beside> {
        match name.as_str() {
            "ripgrep" => Box::new(Ripgrep),
            _ => Box::new(Program { name: name.clone(), started: None }),
        }
    };
    names.iter().map(other).collect()
}

/// How people search without an index: files by how many of the text's rarer words they have.
struct Ripgrep;

impl Beside for Ripgrep {
    fn name(&self) -> &str {
        "ripgrep"
    }

    fn ask(&mut self, tree: &Path, query: &str) -> Option<Vec<String>> {
        let mut words: Vec<String> = Vec::new();
        for word in query.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if word.len() > 3
                && !words.iter().any(|known| known.eq_ignore_ascii_case(word))
                && words.len() < 40
            {
                words.push(word.to_owned());
            }
        }
        let mut scores: BTreeMap<String, f64> = BTreeMap::new();
        for word in &words {
            let output = Command::new("rg")
                .args([
                    "--no-config",
                    "--files-with-matches",
                    "--fixed-strings",
                    "--ignore-case",
                    "--threads=1",
                ])
                .args(["--word-regexp", "--", word, "."])
                .current_dir(tree)
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let files: Vec<&str> = text.lines().map(|line| line.trim_start_matches("./")).collect();
            for file in &files {
                *scores.entry((*file).to_owned()).or_default() += 1.0 / files.len() as f64;
            }
        }
        let mut order: Vec<(String, f64)> = scores.into_iter().collect();
        order.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        Some(order.into_iter().map(|(file, _)| file).collect())
    }
}

/// A program of `tools/eval`: a line `{"tree": …, "query": …}` in, a line with the paths out, the best first.
struct Program {
    name: String,
    started: Option<(Child, BufReader<ChildStdout>)>,
}

impl Program {
    fn start(&mut self) -> Option<&mut (Child, BufReader<ChildStdout>)> {
        if self.started.is_none() {
            let program = std::env::var_os(format!("EVAL_{}", self.name.to_uppercase()))?;
            let mut child =
                Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
            let stdout = BufReader::new(child.stdout.take()?);
            self.started = Some((child, stdout));
        }
        self.started.as_mut()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.started {
            drop(child.stdin.take());
            child.wait().ok();
        }
    }
}

impl Beside for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, tree: &Path, query: &str) -> Option<Vec<String>> {
        let (child, stdout) = self.start()?;
        let asked = serde_json::json!({ "tree": tree, "query": query });
        writeln!(child.stdin.as_mut()?, "{asked}").ok()?;
        let mut line = String::new();
        stdout.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}
