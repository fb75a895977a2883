//! A small generator, so that a failure can be done again, and the sequences that it makes.

use super::acts::{Act, Edit, How};

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds begin far from each other.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        random.below(2);
        random
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn edits(&mut self, at_most: usize) -> Vec<Edit> {
        (0..=self.below(at_most)).map(|_| self.edit()).collect()
    }

    fn edit(&mut self) -> Edit {
        let file = self.below(100);
        match self.below(32) {
            0..=3 => Edit::Remove(file),
            4 | 5 => Edit::RemoveFolder(file),
            6 | 7 => Edit::Link(file),
            8 | 9 => Edit::Mode(file),
            10 => Edit::Grow(file),
            11 | 12 => Edit::Ignore(self.below(4)),
            13..=21 => Edit::Line(file, self.below(100)),
            _ => Edit::Write(file),
        }
    }

    /// A sequence: something is there first, then acts of persons, agents and ours.
    pub fn sequence(&mut self) -> Vec<Act> {
        let mut acts = vec![Act::Edits(self.edits(4))];
        for _ in 0..2 + self.below(4) {
            let act = self.act();
            // One in eight is cut off, at any of its steps.
            let is_cut = self.below(8) == 0;
            acts.push(if is_cut { Act::Killed(Box::new(act), self.below(70)) } else { act });
            if self.below(2) == 0 {
                acts.push(Act::Edits(self.edits(2)));
            }
        }
        acts
    }

    fn act(&mut self) -> Act {
        let which = self.below(100);
        let is_forced = self.below(2) == 0;
        match self.below(24) {
            0..=4 => Act::Turn(self.edits(3)),
            5 => Act::Make,
            6 | 7 => Act::Commit,
            8 => Act::KeepCommit,
            9 => Act::Stage(which),
            10 => Act::Unstage(which),
            11 => Act::RevertFile(which),
            12 => Act::RevertAll,
            13 => Act::RevertHunk(which),
            14 => Act::RevertTurn(which),
            15 | 16 => Act::Rewind(which, is_forced),
            17 | 18 => Act::Undo,
            19 => Act::Restore(which, is_forced),
            20 => Act::Switch(which),
            21 => Act::WorktreeAdd(self.edits(2), is_forced),
            22 => Act::WorktreeBring([How::Merge, How::Squash, How::Rebase, How::Apply][self.below(4)]),
            _ => Act::WorktreeRemove(is_forced),
        }
    }
}
