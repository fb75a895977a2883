//! The scales: each benchmark measures ours and its baseline in one run and prints JSON lines.
//!
//! `chartroom-bench [NAME…]` runs all, or those named. `cargo xtask bench` builds everything first and makes a table.
//! To add one: a file with a `run` function, and its line in [`BENCHMARKS`].

mod agents;
mod history;
mod hostile;
mod idle;
mod index;
mod lsp;
mod measurement;
mod records;
mod server;
mod stream;
mod team;

use std::io::Write as _;
use std::process::ExitCode;

use measurement::Measurement;

/// That of the program that is measured: what runs through its libraries here costs what it costs there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Benchmark = fn() -> anyhow::Result<Vec<Measurement>>;
type Part = fn() -> anyhow::Result<()>;

const BENCHMARKS: &[(&str, Benchmark)] = &[
    ("idle", idle::run),
    ("index", index::run),
    ("index-million", index::run_million),
    ("team", team::run),
    ("lsp", lsp::run),
    ("lsp-cold", lsp::cold::run),
    ("stream", stream::run),
    ("messages", stream::messages::run),
    ("history", history::run),
    ("hostile", hostile::run),
    ("records", records::run),
    ("agents", agents::run),
];

/// What this program is when a benchmark starts it again: the other side of a pipe.
const PARTS: &[(&str, Part)] = &[
    (stream::agent::COMMAND, stream::agent::play),
    (stream::relay::COMMAND, stream::relay::play),
    (index::MILLION_COMMAND, index::write_million),
];

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    // A session adds arguments of its own behind the agent's.
    if let Some((name, play)) = PARTS.iter().find(|(part, _)| names.first().is_some_and(|name| name == part))
    {
        return match play() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{name}: {error:#}");
                ExitCode::FAILURE
            }
        };
    }
    if let Some(unknown) = names.iter().find(|name| !BENCHMARKS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = BENCHMARKS.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no benchmark {unknown}; there are: {}", known.join(", "));
        return ExitCode::from(2);
    }
    let mut exit = ExitCode::SUCCESS;
    for (name, run) in BENCHMARKS {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let printed = run().and_then(|measurements| print(&measurements));
        // The others are still worth measuring.
        if let Err(error) = printed {
            eprintln!("{name}: {error:#}");
            exit = ExitCode::from(3);
        }
    }
    exit
}

fn print(measurements: &[Measurement]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for measurement in measurements {
        serde_json::to_writer(&mut stdout, measurement)?;
        stdout.write_all(b"\n")?;
    }
    Ok(())
}
