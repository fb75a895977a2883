//! From an edit to its diagnostics: through Chartroom, and from the bare server by the smallest possible client.
//!
//! Same server, same project, same edits, one run. Ours goes the whole way: a file on the disk, `chartroom mcp`
//! on stdio, the service's process, the language server, and back as text.

mod bare;
pub(crate) mod cold;
mod confined;
mod memory;
mod ours;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::measurement::{Measurement, median_ms};

const ROUNDS: usize = 20;

/// One language server and a project for it.
struct Subject {
    name: &'static str,
    /// The program, relative to the test tools or found on PATH.
    program: &'static str,
    args: &'static [&'static str],
    /// An npm set whose packages the project has.
    modules: Option<&'static str>,
    files: &'static [(&'static str, &'static str)],
    file: &'static str,
    language_id: &'static str,
    /// A text with an error, and one without; `N` is the round.
    broken: &'static str,
    fine: &'static str,
    /// Whether the server has its errors from a compiler too, which it runs after a save.
    compiles: bool,
    aim: &'static str,
}

const PULLS: &str = "5 ms above the bare server";
const PUSHES: &str = "160 ms above the bare server";

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "TypeScript 7",
        program: "ts7/node_modules/.bin/tsc",
        args: &["--lsp", "--stdio"],
        modules: Some("ts7"),
        files: &[
            ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}"),
            ("package.json", "{}"),
        ],
        file: "a.ts",
        language_id: "typescript",
        broken: "export const a: number = 'N';\n",
        fine: "export const a: number = N;\n",
        compiles: false,
        aim: PULLS,
    },
    Subject {
        name: "pyright",
        program: "pyright/node_modules/.bin/pyright-langserver",
        args: &["--stdio"],
        modules: Some("pyright"),
        files: &[("pyrightconfig.json", "{}")],
        file: "a.py",
        language_id: "python",
        broken: "a: int = 'N'\n",
        fine: "a: int = N\n",
        compiles: false,
        aim: PULLS,
    },
    Subject {
        name: "gopls",
        program: "gopls",
        args: &[],
        modules: None,
        files: &[("go.mod", "module x\n\ngo 1.19\n")],
        file: "a.go",
        language_id: "go",
        broken: "package x\n\nvar A int = \"N\"\n",
        fine: "package x\n\nvar A int = N\n",
        compiles: false,
        aim: PUSHES,
    },
    Subject {
        name: "rust-analyzer",
        program: "rust-analyzer",
        args: &[],
        modules: None,
        files: &[("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")],
        file: "src/lib.rs",
        language_id: "rust",
        broken: "pub fn a() -> i32 { \"N\" }\n",
        fine: "pub fn a() -> i32 { N }\n",
        compiles: true,
        aim: PULLS,
    },
];

/// The servers to measure: all, or those whose name holds what `CHARTROOM_BENCH_SERVER` says.
fn subjects() -> impl Iterator<Item = &'static Subject> {
    let wanted = std::env::var("CHARTROOM_BENCH_SERVER").unwrap_or_default();
    SUBJECTS.iter().filter(move |subject| subject.name.contains(&wanted))
}

/// Whoever can tell whether a text has errors.
trait Client {
    /// Writes the text and waits until it is known whether it has errors.
    fn check(&mut self, text: &str) -> anyhow::Result<bool>;
}

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let tools = PathBuf::from(std::env::var_os("CHARTROOM_TEST_TOOLS").context("run `cargo xtask bench`")?);
    let mut measurements = Vec::new();
    for subject in subjects() {
        let folder = project(subject, &tools)?;
        let root = folder.path().canonicalize().context("resolving the project")?;
        let home = tempfile::tempdir().context("making a home folder")?;
        let bare =
            measure(subject, || bare::Bare::start(subject, &root, &tools)).context("the bare server")?;
        let ours = measure(subject, || ours::Ours::start(subject, &root, home.path())).context("ours")?;
        // What a compiler says is pushed, after its end.
        let aim_when_clean = if subject.compiles { PUSHES } else { subject.aim };
        let line = |what: &str, ours: f64, bare: f64| {
            Measurement::new(&format!("{}: {what}", subject.name), ours, "ms").beside("the bare server", bare)
        };
        measurements.push(line("edit to its error, warm median", ours.broken, bare.broken).aim(subject.aim));
        measurements.push(line("edit to clean, warm median", ours.fine, bare.fine).aim(aim_when_clean));
    }
    for subject in subjects().filter(|subject| ["gopls", "TypeScript 7"].contains(&subject.name)) {
        measurements.push(confined::start(subject, &tools)?);
    }
    if let Some(subject) = subjects().find(|subject| subject.name == "TypeScript 7") {
        measurements.extend(memory::of_ten_agents(subject, &tools)?);
    }
    Ok(measurements)
}

/// Times in milliseconds.
struct Times {
    /// The medians of what follows the first check, of texts with an error and without.
    broken: f64,
    fine: f64,
}

fn measure<C: Client>(subject: &Subject, start: impl FnOnce() -> anyhow::Result<C>) -> anyhow::Result<Times> {
    let mut client = start().with_context(|| format!("starting {}", subject.name))?;
    let text = |pattern: &str, round: usize| pattern.replace('N', &round.to_string());
    // A cold server may say "clean" before it has looked.
    let limit = Instant::now() + Duration::from_secs(120);
    let mut n_tries = 0;
    while !client.check(&text(subject.broken, 1_000 + n_tries))? {
        anyhow::ensure!(Instant::now() < limit, "{} finds no error", subject.name);
        n_tries += 1;
        pause();
    }
    let (mut broken, mut fine) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        for (pattern, expected, times) in
            [(subject.fine, false, &mut fine), (subject.broken, true, &mut broken)]
        {
            let began = Instant::now();
            let found = client.check(&text(pattern, round))?;
            times.push(began.elapsed());
            anyhow::ensure!(found == expected, "{}: round {round} was answered wrongly", subject.name);
        }
    }
    Ok(Times { broken: median_ms(&mut broken), fine: median_ms(&mut fine) })
}

/// A server that loads its project is not asked without end.
#[expect(clippy::disallowed_methods, reason = "a bare server has no signal that all of them give")]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}

fn project(subject: &Subject, tools: &Path) -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir().context("making a project")?;
    for (path, text) in subject.files {
        std::fs::write(folder.path().join(path), text).context("writing the project")?;
    }
    let file = folder.path().join(subject.file);
    std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).context("making a folder")?;
    std::fs::write(&file, subject.fine.replace('N', "0")).context("writing the file")?;
    if let Some(set) = subject.modules {
        std::os::unix::fs::symlink(tools.join(set).join("node_modules"), folder.path().join("node_modules"))
            .context("linking node_modules")?;
    }
    Ok(folder)
}
