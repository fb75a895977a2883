//! The best of many rows, of which only bounds may be known yet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::block::Bounded;
use crate::store::StoreError;

/// The rows that may still be among the best.
pub(in super::super) struct Nearest {
    limit: usize,
    /// So many rows are at least this like that no other with less counts.
    floor: f32,
    /// When so many are kept they are looked through.
    full: usize,
    kept: Vec<Bounded>,
}

impl Nearest {
    pub(super) fn of(limit: usize) -> Self {
        Self { limit, floor: f32::MIN, full: limit * 2, kept: Vec::new() }
    }

    #[inline]
    pub(super) fn wants(&self, row: &Bounded) -> bool {
        row.most >= self.floor
    }

    pub(super) fn add(&mut self, row: Bounded) {
        self.kept.push(row);
        if self.kept.len() >= self.full {
            self.look_through();
            self.full = self.kept.len().max(self.limit) * 2;
        }
    }

    pub(super) fn with(mut self, other: Self) -> Self {
        self.kept.extend(other.kept);
        self.floor = self.floor.max(other.floor);
        self.look_through();
        self
    }

    /// Leaves out what cannot be as like as the last of so many that are at least so like.
    fn look_through(&mut self) {
        let Some(last) = self.limit.checked_sub(1).filter(|last| *last < self.kept.len()) else { return };
        let mut least: Vec<f32> = self.kept.iter().map(|row| row.least).collect();
        let (_, floor, _) = least.select_nth_unstable_by(last, |left, right| right.total_cmp(left));
        self.floor = self.floor.max(*floor);
        self.kept.retain(|row| row.most >= self.floor);
    }

    /// The rows that are most like, with their likeness: `limit`, and those that are as like as the last. `likeness` says
    /// exactly what a row is like of which only bounds are known; none for a row that is gone.
    pub(in super::super) fn settle(
        mut self,
        mut likeness: impl FnMut(u32) -> Result<Option<f32>, StoreError>,
    ) -> Result<Vec<(f32, u32)>, StoreError> {
        self.kept
            .sort_unstable_by(|left, right| right.most.total_cmp(&left.most).then(left.row.cmp(&right.row)));
        let mut found: Vec<(f32, u32)> = Vec::new();
        let mut best: BinaryHeap<Reverse<Ordered>> = BinaryHeap::with_capacity(self.limit + 1);
        for Bounded { row, least, most } in self.kept {
            // None of the others is more like than this one may be.
            if best.len() >= self.limit && best.peek().is_none_or(|last| most < last.0.0) {
                break;
            }
            let exact = if least < most { likeness(row)? } else { Some(most) };
            let Some(exact) = exact else { continue };
            found.push((exact, row));
            best.push(Reverse(Ordered(exact)));
            if best.len() > self.limit {
                best.pop();
            }
        }
        found.sort_unstable_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        if let Some((last, _)) = self.limit.checked_sub(1).and_then(|last| found.get(last)).copied() {
            let n_kept = found.partition_point(|(score, _)| *score >= last);
            found.truncate(n_kept);
        }
        Ok(found)
    }
}

/// A likeness in its order.
struct Ordered(f32);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
