//! Random sequences of what persons, agents and we do to a repository, against a model of what must hold: no byte is lost
//! that was in a folder when we acted (it is there, in the record that the act named, or in the user's git), a restore makes
//! of each file what the record says or names it, and nothing in the user's repository changes but what was asked for.
//! Acts are cut off at any step, as by a kill.
//!
//! The seeds are fixed. A failure prints its seed and the shortest part of the sequence that still fails;
//! `CHARTROOM_SEED=N cargo nextest run -p chartroom-repository --test sequences -E 'test(one_seed)'` does it again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]

#[path = "sequences/acts.rs"]
mod acts;
#[path = "common/bench.rs"]
mod bench;
#[path = "sequences/files.rs"]
mod files;
#[path = "sequences/objects.rs"]
mod objects;
#[path = "sequences/random.rs"]
mod random;
#[path = "sequences/world.rs"]
mod world;

use std::ops::Range;

use acts::Act;
use random::Random;
use world::World;

/// Does a sequence in a repository of its own; returns what does not hold.
fn run(sequence: &[Act]) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sequence = sequence.to_vec();
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(async {
            let mut world = World::new();
            for (step, act) in sequence.iter().enumerate() {
                act.run(&mut world).await.map_err(|wrong| format!("step {step}, {act:?}: {wrong}"))?;
            }
            world.settle()
        })
    }));
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
    })
}

/// Leaves acts out as long as it still fails.
fn shortest(mut sequence: Vec<Act>, mut wrong: String) -> (Vec<Act>, String) {
    let mut at = 0;
    while at < sequence.len() {
        let mut shorter = sequence.clone();
        shorter.remove(at);
        match run(&shorter) {
            Ok(()) => at += 1,
            Err(still) => (sequence, wrong) = (shorter, still),
        }
    }
    (sequence, wrong)
}

fn check(seeds: Range<u64>) {
    for seed in seeds {
        let sequence = Random::new(seed).sequence();
        if let Err(wrong) = run(&sequence) {
            let (sequence, wrong) = shortest(sequence, wrong);
            panic!("seed {seed}: {wrong}\n{sequence:#?}");
        }
    }
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
