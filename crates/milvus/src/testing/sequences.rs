//! Random sequences of what people, networks and servers do, over the model: the states never flap, every answer is of its
//! own tree, and no read changes a byte of the catalog.
//!
//! The seeds are fixed. A failure prints its seed and the shortest part of the sequence that still fails;
//! `CHARTROOM_SEED=N cargo nextest run -p chartroom-milvus -E 'test(one_seed)'` does it again.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use chartroom_protocol::index::IndexStatus;

use super::machine::{Facts, Machine};
use super::model::{Fault, Killed, Model};
use super::random::Random;
use crate::sweep::Sweeping;
use crate::trouble::TroubleKind;

const KINDS: [TroubleKind; 6] = [
    TroubleKind::Timeout,
    TroubleKind::Transport,
    TroubleKind::Auth,
    TroubleKind::Unavailable,
    TroubleKind::Parse,
    TroubleKind::Refused,
];

#[derive(Debug, Clone)]
enum Step {
    /// The first machine edits its file, and shares; it dies at this call, if it comes to it.
    Share(u64, Option<usize>),
    /// Answers of its calls are lost, from this one on.
    ShareUnheard(u64, usize, usize),
    /// The second one edits its own, takes it away, or shares as well.
    Edit(u64),
    Delete,
    SecondShares(u64),
    /// Its way to the server breaks, or is mended.
    Break(Option<TroubleKind>),
    /// Answers of its next calls are lost.
    LoseAnswers(usize),
    /// The server is emptied, or gets back what it had after the first share.
    Empty,
    Restore,
    /// The second one adopts again, whatever it has.
    Adopt,
}

fn sequence(random: &mut Random) -> Vec<Step> {
    let length = 1 + random.below(6);
    (0..length).map(|_| step(random)).collect()
}

fn step(random: &mut Random) -> Step {
    match random.below(20) {
        0..=3 => {
            let at = (random.below(2) == 0).then(|| random.below(40));
            Step::Share(random.below(50) as u64, at)
        }
        4 => Step::ShareUnheard(random.below(50) as u64, random.below(30), 1 + random.below(3)),
        5..=8 => Step::Edit(random.below(50) as u64),
        9 => Step::Delete,
        10 => Step::SecondShares(random.below(50) as u64),
        11..=14 => Step::Break((random.below(3) > 0).then(|| KINDS[random.below(KINDS.len())])),
        15 => Step::LoseAnswers(1 + random.below(3)),
        16 => Step::Empty,
        17 | 18 => Step::Restore,
        _ => Step::Adopt,
    }
}

/// The two machines and what is expected of the second one.
struct World {
    server: Model,
    ours: Model,
    theirs: Model,
    first: Machine,
    second: Machine,
    restore: Box<dyn Fn()>,
    emptied: bool,
    broken: bool,
    /// What its own file says now.
    text: Option<String>,
    bytes: Vec<u8>,
}

impl World {
    fn new() -> Self {
        let server = Model::default();
        let (ours, theirs) = (server.seen_elsewhere(), server.seen_elsewhere());
        let term = Duration::from_millis(5);
        // What nobody names goes as soon as it can, so that a sweep is part of most shares.
        let at_once = Sweeping { every: Duration::ZERO, grace: Duration::ZERO };
        let (first, second) = (
            Machine::sweeping(ours.clone(), term, at_once),
            Machine::sweeping(theirs.clone(), term, at_once),
        );
        assert_eq!(first.share().status, IndexStatus::Ok);
        assert_eq!(second.adopt().status, IndexStatus::Ok);
        let (restore, bytes) = (Box::new(server.backup()), second.bytes());
        let (emptied, broken, text) = (false, false, Some("gamma".into()));
        Self { server, ours, theirs, first, second, restore, emptied, broken, text, bytes }
    }

    /// As it was in the beginning, for the next sequence: what machines have learned stays with them.
    fn begin_again(&mut self) {
        (self.restore)();
        self.ours.always(None);
        self.theirs.always(None);
        self.first.write_first_texts();
        self.second.write_first_texts();
        assert_eq!(self.second.adopt().status, IndexStatus::Ok);
        (self.emptied, self.broken, self.text) = (false, false, Some("gamma".into()));
        self.bytes = self.second.bytes();
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Share(edit, at) => {
                if let Some(at) = at {
                    self.ours.script((0..*at).map(|_| None).chain([Some(Fault::Kill)]));
                }
                self.first_shares(*edit, false);
            }
            Step::ShareUnheard(edit, at, n) => {
                let lost = (0..*n).map(|_| Some(Fault::LoseAnswer));
                self.ours.script((0..*at).map(|_| None).chain(lost));
                self.first_shares(*edit, true);
            }
            Step::Edit(edit) => {
                self.second.write("b.rs", &format!("fn second_{edit}() {{}}\n"));
                self.text = Some(format!("second_{edit}"));
            }
            Step::Delete => {
                self.second.remove("b.rs");
                self.text = None;
            }
            Step::SecondShares(edit) => {
                self.second.write("b.rs", &format!("fn second_{edit}() {{}}\n"));
                self.text = Some(format!("second_{edit}"));
                let shared = self.second.share();
                match self.broken {
                    true => assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message),
                    false => {
                        assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
                        self.emptied = false;
                    }
                }
                self.bytes = self.second.bytes();
            }
            Step::Break(kind) => {
                self.theirs.always(kind.map(Fault::Refuse));
                self.broken = kind.is_some();
            }
            Step::LoseAnswers(n) => {
                self.theirs.script((0..*n).map(|_| Some(Fault::LoseAnswer)));
                self.second.search("x");
                self.theirs.always(None);
                self.broken = false;
            }
            Step::Empty => {
                self.server.empty();
                self.emptied = true;
            }
            Step::Restore => {
                (self.restore)();
                self.emptied = false;
            }
            Step::Adopt => {
                let adopted = self.second.adopt();
                let expected = match (self.broken, self.second_is_proven()) {
                    (true, _) => IndexStatus::Error,
                    (false, true) => IndexStatus::Ok,
                    (false, false) => IndexStatus::NotIndexed,
                };
                assert_eq!(adopted.status, expected, "{}", adopted.message);
                self.bytes = self.second.bytes();
            }
        }
        self.check();
    }

    fn first_shares(&mut self, edit: u64, may_fail: bool) {
        self.first.write("a.rs", &format!("fn first_{edit}() {{}}\n"));
        match catch_unwind(AssertUnwindSafe(|| self.first.share())) {
            Ok(shared) if shared.status == IndexStatus::Ok => self.emptied = false,
            // A call whose answer was lost may be one that is not made again blindly.
            Ok(shared) => assert!(may_fail, "{}", shared.message),
            // It may have died after the swap.
            Err(panic) => assert!(panic.is::<Killed>()),
        }
        self.ours.always(None);
    }

    fn second_is_proven(&self) -> bool {
        self.second.search("x").status == IndexStatus::Ok
    }

    fn check(&self) {
        let facts = self.second.facts();
        assert_eq!(facts.listed, 1);
        match (self.broken, facts.search) {
            (true, _) => assert_eq!(facts, Facts::unproven()),
            (false, IndexStatus::Ok) => assert_eq!(facts, Facts::ok()),
            // Only a server that answers, and has nothing, takes it away.
            (false, status) => {
                assert!(self.emptied, "{facts:?}");
                assert_eq!(status, IndexStatus::NotIndexed);
            }
        }
        if facts.search == IndexStatus::Ok {
            match &self.text {
                Some(text) => assert!(self.second.finds(text), "its own text is found"),
                None => assert!(!self.second.finds("gamma"), "what is gone is not found"),
            }
        }
        assert_eq!(self.second.bytes(), self.bytes, "no read changed a byte");
    }
}

/// Does a sequence on the machines of the last one, which did well, or on new ones; returns what does not hold.
fn run(world: &mut Option<World>, sequence: &[Step]) -> Result<(), String> {
    let mut used = world.take();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut world = match used.take() {
            Some(mut used) => {
                used.begin_again();
                used
            }
            None => World::new(),
        };
        for (at, step) in sequence.iter().enumerate() {
            let taken = catch_unwind(AssertUnwindSafe(|| world.take(step)));
            taken.map_err(|panic| format!("step {at}, {step:?}: {}", words(&*panic)))?;
        }
        Ok(world)
    }));
    *world = Some(done.unwrap_or_else(|panic| Err(words(&*panic)))?);
    Ok(())
}

pub(crate) fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn check(seeds: Range<u64>) {
    let mut world = None;
    super::random::check(seeds, sequence, |steps| run(&mut world, steps));
}

#[test]
fn sequences_0() {
    check(0..250);
}

#[test]
fn sequences_1() {
    check(250..500);
}

#[test]
fn sequences_2() {
    check(500..750);
}

#[test]
fn sequences_3() {
    check(750..1000);
}

#[test]
fn sequences_4() {
    check(1000..1250);
}

#[test]
fn sequences_5() {
    check(1250..1500);
}

#[test]
fn sequences_6() {
    check(1500..1750);
}

#[test]
fn sequences_7() {
    check(1750..2000);
}

/// The seed that the environment names, or one more.
#[test]
fn one_seed() {
    let seed = std::env::var("CHARTROOM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2000);
    check(seed..seed + 1);
}
