//! The measurement behind docs/search-quality.md: `cargo xtask eval` runs it.
//!
//! `eval ROWS REPOSITORIES [--half tune|check] [--rows N] [--questions N] [--ablation] [--beside ripgrep,semble]
//! [--keep FOLDER] [--answers FILE] [--add FILE] [--plot FILE] [--threads N] [--scores FILE]`:
//! ROWS has an object a line (`id, repo, language, base_commit, text, gold`), REPOSITORIES a bare repository
//! `owner+name/repo` for each. Which repositories are for tuning and which for checking is in `tools/eval/halves.txt`.
//! `--keep` opens the indexes of an earlier run, `--add` takes the answers of other systems from one (`--answers`), so
//! that what does not change is not asked anew. `--scores` writes what every file scores in every channel instead of asking:
//! weights are tried on that.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for developers, which starts git and ripgrep on repositories that they chose"
)]

#[path = "eval/bare.rs"]
mod bare;
#[path = "eval/others.rs"]
mod others;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chartroom_search::embed::StaticWords;
use chartroom_search::eval::{self, Answer, EvalError, Options, Row, Scores};
use chartroom_search::parser::InProcess;

use bare::Bare;

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Arguments {
    rows: PathBuf,
    repositories: PathBuf,
    half: Option<String>,
    limit: usize,
    questions: usize,
    ablation: bool,
    beside: Vec<String>,
    keep: Option<PathBuf>,
    answers: Option<PathBuf>,
    add: Option<PathBuf>,
    plot: Option<PathBuf>,
    scores: Option<PathBuf>,
    threads: usize,
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
        keep: None,
        answers: None,
        add: None,
        plot: None,
        scores: None,
        threads: 1,
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--half" => found.half = Some(value()?),
            "--rows" => found.limit = value()?.parse()?,
            "--questions" => found.questions = value()?.parse()?,
            "--ablation" => found.ablation = true,
            "--beside" => found.beside = value()?.split(',').map(ToOwned::to_owned).collect(),
            "--keep" => found.keep = Some(value()?.into()),
            "--add" => found.add = Some(value()?.into()),
            "--threads" => found.threads = value()?.parse()?,
            "--answers" => found.answers = Some(value()?.into()),
            "--scores" => found.scores = Some(value()?.into()),
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
    if let Some(path) = &arguments.scores {
        return write_scores(&arguments, path, by_repository);
    }
    let mut answers = asked(&arguments, by_repository)?;
    let key = |answer: &Answer| (answer.kind, answer.repo.clone(), answer.id.clone(), answer.system.clone());
    answers.sort_by_cached_key(key);
    if let Some(path) = &arguments.answers {
        let lines: Result<Vec<String>, _> = answers.iter().map(serde_json::to_string).collect();
        std::fs::write(path, lines?.join("\n") + "\n")?;
    }
    if let Some(path) = &arguments.add {
        let rows: BTreeSet<String> = answers.iter().map(|answer| answer.id.clone()).collect();
        let systems: BTreeSet<String> = answers.iter().map(|answer| answer.system.clone()).collect();
        for line in std::fs::read_to_string(path)?.lines() {
            let answer: Answer = serde_json::from_str(line)?;
            if rows.contains(&answer.id)
                && !systems.contains(&answer.system)
                && !answer.system.starts_with("without ")
            {
                answers.push(answer);
            }
        }
    }
    if let Some(plot) = &arguments.plot {
        std::fs::write(plot, eval::plot(&eval::bins(&answers)))?;
    }
    println!("{}", eval::report(&answers));
    Ok(())
}

/// Writes what every file scores, a question a line.
fn write_scores(arguments: &Arguments, path: &Path, by_repository: BTreeMap<&str, Vec<Row>>) -> Outcome<()> {
    let mut written = BufWriter::new(File::create(path)?);
    let options =
        Options { sentences: arguments.questions, keep: arguments.keep.clone(), ..Options::default() };
    let embedder = Arc::new(StaticWords::built_in()?);
    for (repository, rows) in by_repository {
        let objects = Bare(arguments.repositories.join(repository.replace('/', "+")).join("repo"));
        let parser = Arc::new(InProcess::default());
        let mut failed = Ok(());
        let mut each = |scores: Scores| {
            if failed.is_ok() {
                failed = serde_json::to_writer(&mut written, &scores).map_err(std::io::Error::from);
            }
            if failed.is_ok() {
                failed = writeln!(written);
            }
        };
        eval::scores(&objects, &rows, parser, embedder.clone(), &options, &mut each)?;
        failed?;
        eprintln!("{repository}: {} rows", rows.len());
    }
    Ok(written.flush()?)
}

/// Asks the rows, a repository a thread.
fn asked(arguments: &Arguments, by_repository: BTreeMap<&str, Vec<Row>>) -> Outcome<Vec<Answer>> {
    let options = Options {
        ablation: arguments.ablation,
        names: arguments.questions,
        sentences: arguments.questions,
        keep: arguments.keep.clone(),
    };
    let embedder = Arc::new(StaticWords::built_in()?);
    let left = Mutex::new(by_repository);
    let answers: Mutex<Vec<Answer>> = Mutex::new(Vec::new());
    let ask = || -> Result<(), EvalError> {
        while let Some((repository, rows)) = left.lock().ok().and_then(|mut left| left.pop_first()) {
            let objects = Bare(arguments.repositories.join(repository.replace('/', "+")).join("repo"));
            let mut others = others::others(&arguments.beside);
            let mut keep = |answer: Answer| {
                if let Ok(mut answers) = answers.lock() {
                    answers.push(answer);
                }
            };
            let parser = Arc::new(InProcess::default());
            eval::evaluate(&objects, &rows, parser, embedder.clone(), &options, &mut others, &mut keep)?;
            eprintln!("{repository}: {} rows", rows.len());
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads.max(1)).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        })
    })?;
    Ok(answers.into_inner().unwrap_or_default())
}

/// Which half each repository is in, one a line: `tune owner/name`.
fn halves() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("../../../tools/eval/halves.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(half, repository)| (repository, half)).collect()
}
