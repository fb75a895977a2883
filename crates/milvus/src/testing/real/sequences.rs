//! Random sequences on the real server: what `sequences` does on the model, with real trouble.

use std::panic::{AssertUnwindSafe, catch_unwind};

use chartroom_protocol::index::IndexStatus;

use super::world::{OUTAGES, Outage, World};
use crate::testing::machine::Facts;
use crate::testing::random::{self, Random};
use crate::testing::sequences::words;

/// Of so many seeds, and steps of each: a server that starts takes longer than most steps.
const SEEDS: u64 = 4;
const STEPS: usize = 50;

#[derive(Debug, Clone)]
enum Step {
    /// The first machine edits its file, and shares.
    Share(usize),
    /// The second one edits its own.
    Edit(usize),
    /// Its way to the server breaks.
    Break(Outage),
    /// And is mended; it is another process then, or the same.
    Mend,
    /// The server is emptied, or starts again with what it had after the first share.
    Empty,
    Restore,
}

fn sequence(random: &mut Random) -> Vec<Step> {
    (0..STEPS).map(|_| step(random)).collect()
}

fn step(random: &mut Random) -> Step {
    match random.below(20) {
        0..=5 => Step::Share(random.below(50)),
        6..=9 => Step::Edit(random.below(50)),
        10..=13 => Step::Break(OUTAGES[random.below(OUTAGES.len())]),
        14..=17 => Step::Mend,
        18 => Step::Empty,
        _ => Step::Restore,
    }
}

struct Story {
    world: World,
    emptied: bool,
    broken: Option<Outage>,
    text: String,
    bytes: Vec<u8>,
}

impl Story {
    fn new() -> Self {
        let mut world = World::new();
        world.keep();
        let bytes = world.second.bytes();
        Self { world, emptied: false, broken: None, text: "gamma".into(), bytes }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Share(edit) => {
                // Of these the first machine hears as well.
                let down = matches!(self.broken, Some(Outage::Killed | Outage::Stopped));
                if down {
                    self.mend();
                }
                self.world.first.write("a.rs", &format!("fn first_{edit}() {{}}\n"));
                let shared = self.world.first.share();
                assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
                self.emptied = false;
            }
            Step::Edit(edit) => {
                self.world.second.write("b.rs", &format!("fn second_{edit}() {{}}\n"));
                self.text = format!("second_{edit}");
            }
            Step::Break(outage) => {
                self.world.begin(*outage);
                self.broken = Some(*outage);
            }
            Step::Mend => self.mend(),
            Step::Empty => {
                self.world.empty();
                (self.emptied, self.broken) = (true, None);
            }
            Step::Restore => {
                self.world.restore();
                (self.emptied, self.broken) = (false, None);
            }
        }
        self.check();
    }

    fn mend(&mut self) {
        self.world.end();
        self.broken = None;
    }

    fn check(&self) {
        let second = &self.world.second;
        let facts = second.facts();
        let stale =
            Facts { search: IndexStatus::NotIndexed, status: IndexStatus::NotIndexed, ..facts.clone() };
        match (self.broken.is_some(), self.emptied) {
            (true, _) => assert_eq!(facts, Facts::unproven()),
            (false, false) => assert_eq!(facts, Facts::ok()),
            (false, true) => assert_eq!((&facts, facts.listed, facts.stale.is_some()), (&stale, 1, true)),
        }
        if facts.search == IndexStatus::Ok {
            assert!(second.finds(&self.text), "its own text is found");
        }
        assert_eq!(second.bytes(), self.bytes, "no read changed a byte");
    }
}

fn run(sequence: &[Step]) -> Result<(), String> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut story = Story::new();
        for (at, step) in sequence.iter().enumerate() {
            let taken = catch_unwind(AssertUnwindSafe(|| story.take(step)));
            taken.map_err(|panic| format!("step {at}, {step:?}: {}", words(&*panic)))?;
        }
        Ok(())
    }));
    done.unwrap_or_else(|panic| Err(words(&*panic)))
}

#[test]
fn some_hundred_random_steps_on_a_real_server_flap_nothing() {
    random::check(0..SEEDS, sequence, run);
}
