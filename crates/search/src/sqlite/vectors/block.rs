//! Rows of vectors that lie together, whole or by their upper bits.

use super::coarse::{self, Query};
use crate::embed::{Quantised, dot};

/// Rows of a block: small enough to be copied when the last one grows while others read it.
pub(super) const ROWS: usize = 2048;

/// Up to [`ROWS`] rows of one dimension.
#[derive(Clone)]
pub(super) struct Block {
    rows: Rows,
    scales: Vec<f32>,
}

#[derive(Clone)]
enum Rows {
    Whole(Vec<i8>),
    /// See [`coarse`]; with the length of what is left out of each.
    Coarse(Vec<u8>, Vec<u8>),
}

/// A row with the least and the most that its likeness may be; of whole rows both are what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    pub(super) row: u32,
    pub(super) least: f32,
    pub(super) most: f32,
}

/// What is asked, in the forms in which rows are.
pub(super) struct Asked<'a> {
    whole: &'a Quantised,
    coarse: Query,
}

impl<'a> Asked<'a> {
    pub(super) fn of(query: &'a Quantised) -> Self {
        Self { whole: query, coarse: Query::of(&query.values) }
    }
}

/// How like a whole row is.
#[inline]
pub(super) fn likeness(query: &Quantised, values: &[i8], scale: f32) -> f32 {
    dot(values, &query.values) as f32 * scale * query.scale
}

impl Block {
    /// A block of rows that are kept whole, or where that can be of upper bits.
    pub(super) fn new(dimension: usize, is_whole: bool) -> Self {
        let rows = match coarse::packed_length(dimension).filter(|_| !is_whole) {
            Some(length) => Rows::Coarse(Vec::with_capacity(ROWS * length), Vec::with_capacity(ROWS)),
            None => Rows::Whole(Vec::with_capacity(ROWS * dimension)),
        };
        Self { rows, scales: Vec::with_capacity(ROWS) }
    }

    pub(super) fn push(&mut self, values: &[i8], scale: f32) {
        self.scales.push(scale);
        match &mut self.rows {
            Rows::Whole(rows) => rows.extend_from_slice(values),
            Rows::Coarse(rows, left_out) => left_out.push(coarse::pack(values, rows)),
        }
    }

    /// Calls `each` with the rows that are like anything at all; `first` is the number of the first.
    #[inline]
    pub(super) fn each(
        &self,
        first: u32,
        dimension: usize,
        asked: &Asked<'_>,
        mut each: impl FnMut(Bounded),
    ) {
        let scaled = (first..).zip(&self.scales);
        match &self.rows {
            Rows::Whole(rows) => {
                for ((row, scale), values) in scaled.zip(rows.chunks_exact(dimension)) {
                    let likeness = likeness(asked.whole, values, *scale);
                    if *scale > 0.0 {
                        each(Bounded { row, least: likeness, most: likeness });
                    }
                }
            }
            Rows::Coarse(rows, left_out) => {
                let length = coarse::packed_length(dimension).unwrap_or(1);
                for (((row, scale), values), left_out) in scaled.zip(rows.chunks_exact(length)).zip(left_out)
                {
                    let (least, most) = asked.coarse.bounds(values, *left_out);
                    let scale = *scale * asked.whole.scale;
                    if scale > 0.0 {
                        each(Bounded { row, least: least * scale, most: most * scale });
                    }
                }
            }
        }
    }
}
