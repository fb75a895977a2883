//! Sequences by a seed, and the shortest part of one that still fails.

use std::fmt::Debug;
use std::ops::Range;

/// The same numbers for the same seed, on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one. (splitmix64)
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Runs the sequence of each seed; one that fails is told by its seed and by what is left when steps are left out as long
/// as it still fails.
pub(crate) fn check<S: Clone + Debug>(
    seeds: Range<u64>,
    sequence: impl Fn(&mut Random) -> Vec<S>,
    mut run: impl FnMut(&[S]) -> Result<(), String>,
) {
    for seed in seeds {
        let mut steps = sequence(&mut Random::new(seed));
        let Err(mut wrong) = run(&steps) else { continue };
        let mut at = 0;
        while at < steps.len() {
            let mut shorter = steps.clone();
            shorter.remove(at);
            match run(&shorter) {
                Ok(()) => at += 1,
                Err(still) => (steps, wrong) = (shorter, still),
            }
        }
        panic!("seed {seed}: {wrong}\n{steps:#?}");
    }
}
