//! The project's own commands. `cargo xtask test` runs everything CI runs and installs what it needs.

mod bench;
mod eval;
mod pictures;
mod process;
mod test;
mod tools;
mod trace;
mod truth;
mod types;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", about = "Chartroom's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check and test, installing what they need; CI runs exactly this
    Test {
        /// Leave out what needs downloads: real agents, real language servers, the browser
        #[arg(long)]
        quick: bool,
    },
    /// What to run before each commit: fmt, clippy, quick tests, tidy
    Check,
    /// Install the agents, language servers and browser that the tests drive
    Tools {
        /// Only these sets
        names: Vec<String>,
    },
    /// Hold docs/traceability.toml against the tests that exist
    Trace,
    /// Write the page's TypeScript types from the Rust ones
    Types {
        /// Fail on drift instead of writing
        #[arg(long)]
        check: bool,
    },
    /// Run the benchmarks beside their baselines and write docs/benchmarks.md
    Bench {
        /// Only these benchmarks
        names: Vec<String>,
    },
    /// Measure how well search finds the place and write the figures into docs/search-quality.md
    Eval(eval::Args),
    /// Take random steps over real language servers and compare what is said with what is so (docs/reliability.md)
    Truth {
        /// Steps with each server
        #[arg(default_value_t = 100)]
        steps: u32,
        /// Takes other steps
        #[arg(default_value_t = 1)]
        seed: u64,
        /// Only this language: typescript, python, go, c, rust
        language: Option<String>,
    },
    /// Take the screenshots in docs/pictures
    Pictures,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Test { quick } => {
            test::run(if quick { test::Scope::Quick } else { test::Scope::Everything })
        }
        Command::Check => test::run(test::Scope::Quick),
        Command::Tools { names } => tools::install(&names),
        Command::Trace => trace::run(),
        Command::Types { check } => types::run(if check { types::Mode::Check } else { types::Mode::Write }),
        Command::Bench { names } => bench::run(&names),
        Command::Eval(args) => eval::run(&args),
        Command::Truth { steps, seed, language } => truth::run(steps, seed, language.as_deref()),
        Command::Pictures => pictures::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
