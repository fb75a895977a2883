//! The truth machine: random changes of a project whose errors are known by construction, over scripted servers of each
//! kind. After each step nothing that is said to be current is wrong.
//!
//! A failure is shrunk, and its steps are printed. `CHARTROOM_TRUTH_SEED` takes other steps, `CHARTROOM_TRUTH_CASES` more.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "truth/machine.rs"]
mod machine;
#[path = "truth/model.rs"]
mod model;
#[path = "truth/scripted.rs"]
mod scripted;

use std::cell::Cell;

use chartroom_lsp::Orchestrator;
use chartroom_protocol::lsp::LspConfig;
use chartroom_testkit::project::Project;
use chartroom_workspace::CanonicalRoot;
use machine::{Counts, Language, Machine};
use model::{FILES, World};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use scripted::{Kind, Scripted};
use std::sync::Arc;

/// Each case is about this many steps on a new project.
const STEPS: usize = 50;
/// For each kind of server.
const CASES: u32 = 22;

/// The scripted server's own language.
struct Foo {
    server: Arc<Scripted>,
    kind: Kind,
}

impl Language for Foo {
    fn file(&self, module: usize) -> String {
        format!("{}.foo", FILES[module])
    }

    fn text(&self, world: &World, module: usize) -> String {
        let source = &world.files[&module];
        let mut lines = vec![format!("salt {}", source.salt)];
        for (name, _) in source.defines.iter().enumerate().filter(|(_, is_there)| **is_there) {
            lines.push(format!("def n{name}"));
        }
        lines.extend(
            source.imports.iter().map(|(module, name)| format!("import n{name} from {}", FILES[*module])),
        );
        lines.extend(source.has_error.then(|| "ERR own".to_owned()));
        lines.extend(source.has_weak_error.then(|| "WEAK own".to_owned()));
        lines.join("\n")
    }

    fn errors(&self, world: &World, module: usize) -> Vec<u32> {
        let source = &world.files[&module];
        let first = 2 + source.defines.iter().filter(|is_there| **is_there).count();
        let mut wrong: Vec<bool> = source.imports.iter().map(|import| world.is_broken(*import)).collect();
        wrong.extend(source.has_error.then_some(true));
        wrong.extend(source.has_weak_error.then_some(world.is_strict));
        let at = |line: usize| u32::try_from(first + line).unwrap();
        wrong.iter().enumerate().filter(|(_, is_wrong)| **is_wrong).map(|(line, _)| at(line)).collect()
    }

    fn config(&self, world: &World) -> Option<(String, String)> {
        Some(("foo.toml".to_owned(), if world.is_strict { "strict\n" } else { "lax\n" }.to_owned()))
    }

    fn kill(&self, _orchestrator: &Orchestrator) -> bool {
        self.server.kill()
    }

    fn may_be_silent(&self) -> bool {
        self.kind == Kind::PushDifferences
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs all cases of a kind; returns what was seen.
fn run(kind: Kind) -> Counts {
    let cases = number("CHARTROOM_TRUTH_CASES").and_then(|cases| u32::try_from(cases).ok()).unwrap_or(CASES);
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number("CHARTROOM_TRUTH_SEED").unwrap_or(1).to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let seen = Cell::new(Counts::default());
    let result = runner.run(&proptest::collection::vec(model::step(), 1..2 * STEPS), |steps| {
        let counts = case(kind, &steps).map_err(TestCaseError::fail)?;
        let so_far = seen.get();
        seen.set(Counts {
            steps: so_far.steps + counts.steps,
            current: so_far.current + counts.current,
            partly: so_far.partly + counts.partly,
            unknown: so_far.unknown + counts.unknown,
            others: so_far.others + counts.others,
        });
        Ok(())
    });
    match result {
        Ok(()) => seen.get(),
        Err(TestError::Fail(reason, steps)) => panic!("{kind:?}: {reason}\nsteps: {steps:#?}"),
        Err(TestError::Abort(reason)) => panic!("{kind:?}: {reason}"),
    }
}

/// One project and its steps, on a clock of its own.
fn case(kind: Kind, steps: &[model::Step]) -> Result<Counts, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let project = Project::new("");
        let server = Scripted::new(kind);
        let config: LspConfig = serde_json::from_value(serde_json::json!({
            "servers": { "scripted": { "command": "scripted", "extensions": [".foo"], "rootMarkers": ["foo.toml"] } },
        }))
        .unwrap();
        let root = CanonicalRoot::open(project.root()).unwrap();
        let orchestrator = Orchestrator::new(root.clone(), config, server.clone());
        let mut machine = Machine::new(Foo { server, kind }, orchestrator, root.as_path());
        for (number, step) in steps.iter().enumerate() {
            let taken = machine.take(step).await;
            taken.map_err(|wrong| format!("step {number}, {step:?}: {wrong}"))?;
        }
        machine.orchestrator.shutdown().await;
        Ok(machine.counts)
    })
}

fn check(kind: Kind) {
    let counts = run(kind);
    println!("{kind:?}: {counts:?}");
    assert!(counts.current > counts.steps / 2, "it was hardly ever current: {counts:?}");
    assert!(counts.others > 0, "no other file was ever reported: {counts:?}");
}

#[test]
fn a_server_that_is_asked_is_never_wrongly_current() {
    check(Kind::Pull);
}

#[test]
fn a_server_that_says_late_that_it_can_be_asked_is_never_wrongly_current() {
    check(Kind::PullRegisteredLate);
}

#[test]
fn a_server_that_pushes_with_versions_is_never_wrongly_current() {
    check(Kind::PushWithVersions);
}

#[test]
fn a_server_that_pushes_without_versions_is_never_wrongly_current() {
    check(Kind::PushWithoutVersions);
}

#[test]
fn a_server_that_pushes_only_what_it_is_sent_is_never_wrongly_current() {
    check(Kind::PushOnlyWhatIsSent);
}

#[test]
fn a_server_that_pushes_only_what_differs_is_never_wrongly_current() {
    check(Kind::PushDifferences);
}
