//! Random sequences of what people, networks and servers do, over the model: the states never flap, and every answer is of
//! its own tree.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use chartroom_protocol::index::IndexStatus;
use proptest::prelude::*;

use super::machine::{Facts, Machine};
use super::model::{Fault, Killed, Model};
use crate::trouble::TroubleKind;

#[derive(Debug, Clone)]
enum Step {
    /// The first machine edits its file, and shares; it dies at this call, if it comes to it.
    Share(u8, Option<usize>),
    /// The second one edits its own.
    Edit(u8),
    /// Its way to the server breaks, or is mended.
    Break(Option<TroubleKind>),
    /// Answers of its next calls are lost.
    LoseAnswers(usize),
    /// The server is emptied, or gets back what it had after the first share.
    Empty,
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![
        Just(TroubleKind::Timeout),
        Just(TroubleKind::Transport),
        Just(TroubleKind::Auth),
        Just(TroubleKind::Unavailable),
        Just(TroubleKind::Parse),
    ];
    let step = prop_oneof![
        3 => (any::<u8>(), proptest::option::of(0..40usize)).prop_map(|(text, at)| Step::Share(text, at)),
        3 => any::<u8>().prop_map(Step::Edit),
        2 => proptest::option::of(kind).prop_map(Step::Break),
        1 => (1..4usize).prop_map(Step::LoseAnswers),
        1 => Just(Step::Empty),
        1 => Just(Step::Restore),
    ];
    proptest::collection::vec(step, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_flaps_and_every_answer_is_of_its_own_tree(steps in steps()) {
        let server = Model::default();
        let (ours, theirs) = (server.seen_elsewhere(), server.seen_elsewhere());
        let first = Machine::with_term(ours.clone(), Duration::from_millis(5));
        let second = Machine::new(theirs.clone());
        prop_assert_eq!(first.share().status, IndexStatus::Ok);
        prop_assert_eq!(second.adopt().status, IndexStatus::Ok);
        let (restore, bytes) = (server.backup(), second.bytes());
        let (mut emptied, mut broken, mut text) = (false, false, None);
        for step in steps {
            match step {
                Step::Share(edit, at) => {
                    first.write("a.rs", &format!("fn first_{edit}() {{}}\n"));
                    if let Some(at) = at {
                        ours.script((0..at).map(|_| None).chain([Some(Fault::Kill)]));
                    }
                    match catch_unwind(AssertUnwindSafe(|| first.share())) {
                        Ok(shared) => {
                            prop_assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
                            emptied = false;
                        }
                        // It may have died after the swap.
                        Err(panic) => prop_assert!(panic.is::<Killed>()),
                    }
                    ours.always(None);
                }
                Step::Edit(edit) => {
                    second.write("b.rs", &format!("fn second_{edit}() {{}}\n"));
                    text = Some(format!("second_{edit}"));
                }
                Step::Break(kind) => {
                    theirs.always(kind.map(Fault::Refuse));
                    broken = kind.is_some();
                }
                Step::LoseAnswers(n) => {
                    theirs.script((0..n).map(|_| Some(Fault::LoseAnswer)));
                    second.search("x");
                    theirs.always(None);
                    broken = false;
                }
                Step::Empty => {
                    server.empty();
                    emptied = true;
                }
                Step::Restore => {
                    restore();
                    emptied = false;
                }
            }
            let facts = second.facts();
            prop_assert_eq!(facts.listed, 1);
            match (broken, facts.search) {
                (true, _) => prop_assert_eq!(&facts, &Facts::unproven()),
                (false, IndexStatus::Ok) => prop_assert_eq!(&facts, &Facts::ok()),
                // Only a server that answers, and has nothing, takes it away.
                (false, status) => {
                    prop_assert!(emptied, "{:?}", facts);
                    prop_assert_eq!(status, IndexStatus::NotIndexed);
                }
            }
            if facts.search == IndexStatus::Ok && let Some(text) = &text {
                prop_assert!(second.finds(text), "its own text is found");
            }
            prop_assert_eq!(second.bytes(), bytes.clone(), "no read changed a byte");
        }
    }
}
