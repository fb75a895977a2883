//! The fault machine: random sequences of everything a person can do, on a store that breaks at random, with kills.
//!
//! After every step the promises of the seed are checked against a model that knows only what was really done.

use std::path::Path;

use chartroom_protocol::index::*;
use proptest::prelude::*;

use super::memory::MemoryStore;
use super::{Bench, Fault};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore;

#[derive(Debug, Clone)]
enum Step {
    Manage(ManageAction, bool),
    Search,
    Outline,
    List,
    Edit(u8),
    Restart,
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        12 => Just(Fault::None),
        2 => Just(Fault::Fail),
        1 => Just(Fault::Delay),
        1 => Just(Fault::Empty),
        1 => Just(Fault::Corrupt),
        1 => Just(Fault::Kill),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let action = prop_oneof![
        3 => Just(ManageAction::Create),
        2 => Just(ManageAction::Reindex),
        3 => Just(ManageAction::Sync),
        2 => Just(ManageAction::Status),
        1 => Just(ManageAction::Clear),
        1 => Just(ManageAction::Repair),
    ];
    prop_oneof![
        6 => (action, any::<bool>()).prop_map(|(action, force)| Step::Manage(action, force)),
        3 => Just(Step::Search),
        1 => Just(Step::Outline),
        2 => Just(Step::List),
        2 => any::<u8>().prop_map(Step::Edit),
        1 => Just(Step::Restart),
    ]
}

/// Whether this step may change the catalog.
fn mutates(step: &Step) -> bool {
    match step {
        Step::Manage(ManageAction::Status, _) | Step::Search | Step::Outline | Step::List | Step::Edit(_) => {
            false
        }
        Step::Manage(_, _) | Step::Restart => true,
    }
}

struct Machine<S> {
    bench: Bench<S>,
    /// Whether the project is a member: since a create was accepted, until a clear was.
    member: bool,
}

impl<S: VectorStore + 'static> Machine<S> {
    fn run(&mut self, step: &Step, faults: &[Fault]) {
        let bytes = self.bench.bytes();
        let proven = self.is_proven();
        self.bench.store.script(faults.iter().copied());
        let mut response = None;
        let killed = self.bench.killed_in(|bench| match step {
            Step::Manage(action, force) => {
                let mut params = bench.params(*action);
                params.force = *force && *action == ManageAction::Create;
                response = Some(bench.manage_with(params, Err("no git")));
            }
            Step::Search => match bench.search("fn") {
                Ok(answer) => check_search(&answer),
                Err(error) => assert!(error.0.contains("failed"), "{error}"),
            },
            Step::Outline => {
                if let Err(error) = bench.outline("a.rs") {
                    assert!(error.0.contains("cannot be read") || error.0.contains("is gone"), "{error}");
                }
            }
            Step::List => {
                bench.list();
            }
            Step::Edit(n) => {
                let file = bench.project.join(format!("{}.rs", ["a", "b", "c"][usize::from(n % 3)]));
                std::fs::write(file, format!("fn edited{n}() {{}}\n")).unwrap();
            }
            Step::Restart => {}
        });
        if killed || matches!(step, Step::Restart) {
            // What is left of the script belongs to the process that died.
            self.bench.store.script([]);
            self.bench.restart();
        }
        self.bench.store.script([]);
        self.check(step, killed, response.as_ref(), proven, &bytes);
    }

    fn check(
        &mut self,
        step: &Step,
        killed: bool,
        response: Option<&ManageIndexResponse>,
        proven: bool,
        bytes: &[u8],
    ) {
        if !mutates(step) && !killed {
            assert_eq!(self.bench.bytes(), bytes, "a read changed the catalog: {step:?}");
        }
        let entry = self.bench.entry();
        match (step, response) {
            (Step::Manage(ManageAction::Create | ManageAction::Reindex, _), Some(answer)) => {
                if answer.status == IndexStatus::Ok {
                    self.member = true;
                }
                if answer.human_text.contains("already indexed") {
                    assert!(proven, "already indexed without proof");
                }
            }
            (Step::Manage(ManageAction::Clear, _), Some(answer)) if answer.status == IndexStatus::Ok => {
                self.member = false
            }
            (Step::Manage(ManageAction::Repair, _), Some(answer)) if answer.status == IndexStatus::Ok => {
                self.member = true
            }
            // Killed in the middle: either side of it is legal.
            (
                Step::Manage(
                    ManageAction::Clear | ManageAction::Create | ManageAction::Reindex | ManageAction::Repair,
                    _,
                ),
                None,
            ) => {
                self.member = entry.is_some();
            }
            _ => {}
        }
        assert_eq!(
            entry.is_some(),
            self.member,
            "membership changes by what was asked only: {step:?} {response:?}"
        );

        // Without faults the answers agree with the proof, and a failing probe changes none of them.
        let proven = self.is_proven();
        let status = self.bench.manage(ManageAction::Status).status;
        assert_eq!(status == IndexStatus::Ok, proven && self.member, "{step:?} {entry:?}");
        self.bench.store.script([Fault::Fail]);
        let unproven = self.bench.manage(ManageAction::Status).status;
        if entry.as_ref().is_some_and(|entry| entry.state.is_searchable()) {
            assert!(unproven == IndexStatus::Ok, "a failed probe downgraded {entry:?} to {unproven:?}");
        } else {
            assert!(unproven != IndexStatus::Ok, "a failed probe upgraded {entry:?}");
        }
        self.bench.store.script([]);
        if proven && self.member {
            assert_eq!(self.bench.search("fn").unwrap().status, IndexStatus::Ok);
        }
    }

    fn is_proven(&self) -> bool {
        crate::proof::validate_completion_proof(
            &self.bench.store.inner,
            &self.bench.root,
            &self.bench.core.fingerprint,
        )
        .proof
            == crate::proof::Proof::Valid
    }
}

fn check_search(answer: &SearchCodebaseResponse) {
    match answer.status {
        IndexStatus::Ok => assert_eq!(answer.reason, None),
        IndexStatus::NotIndexed => assert_eq!(answer.reason, Some(NonOkReason::NotIndexed)),
        IndexStatus::NotReady => assert_eq!(answer.reason, Some(NonOkReason::Indexing)),
        other => panic!("no other status is possible with one fingerprint: {other:?}"),
    }
}

/// How many sequences on the store in memory: enough to find what random faults can find in a minute or so.
const SEQUENCES: u32 = 2000;
/// And on the embedded one, where each step goes to files.
const EMBEDDED_SEQUENCES: u32 = 150;

// ACC-1
#[test]
fn no_sequence_of_actions_faults_and_kills_breaks_a_promise() {
    run(SEQUENCES, |_| MemoryStore::default());
}

// ACC-1
#[test]
fn no_sequence_on_the_embedded_store_breaks_a_promise() {
    run(EMBEDDED_SEQUENCES, |data| SqliteStore::open(data).unwrap());
}

fn run<S: VectorStore + 'static>(sequences: u32, make: impl Fn(&Path) -> S) {
    // Kills are panics by intention; their reports would bury a real one.
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<super::Killed>() {
            default(info);
        }
    }));
    let config = ProptestConfig { cases: sequences, failure_persistence: None, ..ProptestConfig::default() };
    let steps = prop::collection::vec((step(), prop::collection::vec(fault(), 0..14)), 1..12);
    proptest!(config, |(steps in steps)| {
        let mut machine = Machine { bench: Bench::with_store(&make), member: false };
        for (step, faults) in &steps {
            machine.run(step, faults);
        }
        // The end of every story: the store is well again, and a sync or a build brings exactly what a fresh build has.
        machine.bench.manage(ManageAction::Create);
        machine.bench.manage(ManageAction::Sync);
        let fresh = Bench::with_store(&make);
        for file in ["a.rs", "b.rs", "c.rs"] {
            match std::fs::read(machine.bench.project.join(file)) {
                Ok(text) => std::fs::write(fresh.project.join(file), text).unwrap(),
                Err(_) => assert!(!fresh.project.join(file).exists()),
            }
        }
        fresh.manage(ManageAction::Create);
        prop_assert_eq!(digest(&machine.bench), digest(&fresh));
    });
}

fn digest<S: VectorStore + 'static>(bench: &Bench<S>) -> String {
    bench.core.store.open_reader(&bench.root).unwrap().unwrap().payload_digest().unwrap()
}
