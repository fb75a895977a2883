//! The measurement behind docs/search-quality.md: `cargo xtask eval` runs it.
//!
//! `eval ROWS REPOSITORIES [--half tune|check] [--rows N] [--questions N] [--ablation] [--beside ripgrep,semble] [--answers FILE] [--plot FILE]`:
//! ROWS has an object a line (`id, repo, language, base_commit, text, gold`), REPOSITORIES a bare repository
//! `owner+name/repo` for each. Which repositories are for tuning and which for checking is in `tools/eval/halves.txt`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for developers, which starts git and ripgrep on repositories that they chose"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use chartroom_search::embed::StaticWords;
use chartroom_search::eval::{self, Answer, Beside, Objects, Options, Row};
use chartroom_search::history::{FORMAT, MAX_COMMITS};
use chartroom_search::parser::InProcess;

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Arguments {
    rows: PathBuf,
    repositories: PathBuf,
    half: Option<String>,
    limit: usize,
    questions: usize,
    ablation: bool,
    beside: Vec<String>,
    answers: Option<PathBuf>,
    plot: Option<PathBuf>,
}

fn arguments() -> Outcome<Arguments> {
    let mut given = std::env::args().skip(1);
    let mut plain = Vec::new();
    let mut found = Arguments {
        rows: PathBuf::new(),
        repositories: PathBuf::new(),
        half: None,
        limit: usize::MAX,
        questions: 20,
        ablation: false,
        beside: Vec::new(),
        answers: None,
        plot: None,
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--half" => found.half = Some(value()?),
            "--rows" => found.limit = value()?.parse()?,
            "--questions" => found.questions = value()?.parse()?,
            "--ablation" => found.ablation = true,
            "--beside" => found.beside = value()?.split(',').map(ToOwned::to_owned).collect(),
            "--answers" => found.answers = Some(value()?.into()),
            "--plot" => found.plot = Some(value()?.into()),
            _ => plain.push(argument),
        }
    }
    let [rows, repositories] = &plain[..] else { return Err("eval ROWS REPOSITORIES […]".into()) };
    (found.rows, found.repositories) = (rows.into(), repositories.into());
    Ok(found)
}

fn main() -> Outcome<()> {
    let arguments = arguments()?;
    let rows = eval::read_rows(&std::fs::read_to_string(&arguments.rows)?)?;
    let halves = halves();
    let is_asked = |row: &&Row| match &arguments.half {
        Some(half) => halves.get(row.repo.as_str()).is_some_and(|of| of == half),
        None => true,
    };
    let mut by_repository: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in rows.iter().filter(is_asked).take(arguments.limit) {
        by_repository.entry(&row.repo).or_default().push(row.clone());
    }
    let mut out = match &arguments.answers {
        Some(path) => Some(std::io::BufWriter::new(std::fs::File::create(path)?)),
        None => None,
    };
    let options =
        Options { ablation: arguments.ablation, names: arguments.questions, sentences: arguments.questions };
    let embedder = Arc::new(StaticWords::built_in()?);
    let mut answers: Vec<Answer> = Vec::new();
    for (repository, rows) in by_repository {
        let objects = Bare(arguments.repositories.join(repository.replace('/', "+")).join("repo"));
        let mut others: Vec<Box<dyn Beside>> = Vec::new();
        for name in &arguments.beside {
            others.push(match name.as_str() {
                "ripgrep" => Box::new(Ripgrep),
                other => Box::new(Program { name: other.to_owned(), started: None }),
            });
        }
        let first = answers.len();
        let mut keep = |answer: Answer| answers.push(answer);
        let parser = Arc::new(InProcess::default());
        eval::evaluate(&objects, &rows, parser, embedder.clone(), options, &mut others, &mut keep)?;
        eprintln!("{repository}: {} rows", rows.len());
        if let Some(out) = &mut out {
            for answer in &answers[first..] {
                writeln!(out, "{}", serde_json::to_string(answer)?)?;
            }
            out.flush()?;
        }
    }
    if let Some(plot) = &arguments.plot {
        std::fs::write(plot, eval::plot(&eval::bins(&answers)))?;
    }
    println!("{}", eval::report(&answers));
    Ok(())
}

/// Which half each repository is in, one a line: `tune owner/name`.
fn halves() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("../../../tools/eval/halves.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(half, repository)| (repository, half)).collect()
}

/// A bare repository.
struct Bare(PathBuf);

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
