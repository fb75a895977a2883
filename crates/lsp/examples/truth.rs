//! The truth machine over real language servers: `cargo xtask truth` runs it, `cargo xtask tools` installs the servers.
//!
//! `truth [STEPS] [SEED] [LANGUAGE]`: takes that many steps with each server, and prints what was seen, by server.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "truth/languages.rs"]
mod languages;
#[path = "../tests/truth/machine.rs"]
mod machine;
#[path = "../tests/truth/model.rs"]
mod model;
#[path = "../tests/common/stage.rs"]
mod stage;

use std::time::Instant;

use languages::Real;
use machine::Machine;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stage::Stage;

/// Long enough for a busy machine; a server that takes longer is told as not known.
const CONFIG: &str = r#"{"firstTouchTimeout":60000,"diagnosticTimeout":20000,"servers":{"ruff":{"enabled":false},"ty":{"enabled":false},"eslint":{"enabled":false}}}"#;

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok());
    let (n_steps, seed) = (number(0).unwrap_or(100), number(1).unwrap_or(1));
    let only = args.get(2).map(String::as_str);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut is_true = true;
    for language in Real::ALL {
        if only.is_none_or(|only| format!("{language:?}").eq_ignore_ascii_case(only)) {
            is_true &= runtime.block_on(run(language, n_steps, seed));
        }
    }
    if is_true { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

/// Takes steps until one shows something wrong; tells whether none did.
async fn run(language: Real, n_steps: u64, seed: u64) -> bool {
    let stage = Stage::with_config(&language.fixture(), language.modules(), CONFIG);
    let root = stage.project.root().canonicalize().unwrap();
    let mut machine = Machine::new(language, stage.orchestrator.clone(), &root);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let steps = model::step();
    let began = Instant::now();
    let mut taken = Vec::new();
    for _ in 0..n_steps {
        let step = steps.new_tree(&mut runner).unwrap().current();
        taken.push(step.clone());
        let n_unknown = machine.counts.unknown;
        if let Err(wrong) = machine.take(&step).await {
            println!("{language:?}, seed {seed}, step {}: {wrong}", taken.len());
            for step in taken.iter().rev().take(12).rev() {
                println!("    {step:?}");
            }
            stage.orchestrator.shutdown().await;
            return false;
        }
        if machine.counts.unknown > n_unknown {
            println!("{language:?}, seed {seed}, step {}: not known after {step:?}", taken.len());
        }
    }
    println!("{language:?}, seed {seed}: {:?} in {} s", machine.counts, began.elapsed().as_secs());
    stage.end().await;
    true
}
