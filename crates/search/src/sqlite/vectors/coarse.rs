//! Five of the eight bits of a row, and between which two numbers its product with a query therefore lies.
//!
//! A search of a million rows looks at each of them and needs the exact product of a few hundred. What is left out of a
//! row is known by its length, which is kept: by Cauchy and Schwarz its product with the query is at most that length times
//! the query's. So a row that cannot be among the best is known for sure, and the others are read from the database.

/// Dimensions that are packed together: their upper four bits are two in a byte, the fifth of each is in the last bytes.
const UNIT: usize = 128;
const HALF: usize = UNIT / 2;
const BITS: usize = UNIT / 8;
const PACKED: usize = HALF + BITS;

/// A number of a row is eight times what is kept, what is left out, and this.
const LEAST: i32 = -128;
/// What is left out lies in 0..8, that is so far from the middle at most.
const MIDDLE: f32 = 3.5;
/// More than what is lost where numbers of this size are added up and multiplied in 32 bits.
const ROUNDING: f32 = 1e-4;

/// Of more dimensions the length of what is left out might be too much for a byte.
const MOST_DIMENSIONS: usize = 4096;

/// The bytes of a row of this dimension; none for one that has to stay as it is, since it does not fill its units.
pub(super) fn packed_length(dimension: usize) -> Option<usize> {
    let fits = (UNIT..=MOST_DIMENSIONS).contains(&dimension) && dimension.is_multiple_of(UNIT);
    fits.then(|| dimension / UNIT * PACKED)
}

/// Adds the packed row to `rows`, and gives the length of what is left out, rounded up.
pub(super) fn pack(values: &[i8], rows: &mut Vec<u8>) -> u8 {
    let kept = |value: i8| value.cast_unsigned().wrapping_add(128) >> 3;
    let mut left_out = 0.0;
    for unit in values.as_chunks::<UNIT>().0 {
        let (low, high) = unit.split_at(HALF);
        rows.extend(low.iter().zip(high).map(|(low, high)| kept(*low) >> 1 | kept(*high) >> 1 << 4));
        let mut bits = [0; BITS];
        for (at, value) in unit.iter().enumerate() {
            bits[at % BITS] |= (kept(*value) & 1) << (at / BITS);
        }
        rows.extend(bits);
        left_out += unit.iter().map(|value| (f32::from(value.rem_euclid(8)) - MIDDLE).powi(2)).sum::<f32>();
    }
    left_out.sqrt().ceil() as u8
}

/// A query as rows are multiplied with it.
pub(super) struct Query {
    values: Vec<i16>,
    sum: i32,
    length: f32,
}

impl Query {
    pub(super) fn of(values: &[i8]) -> Self {
        let squares: f32 = values.iter().map(|value| f32::from(*value).powi(2)).sum();
        Self {
            values: values.iter().map(|value| i16::from(*value)).collect(),
            sum: values.iter().map(|value| i32::from(*value)).sum(),
            length: squares.sqrt() * (1.0 + ROUNDING),
        }
    }

    /// The least and the most that the product with a row may be.
    #[inline]
    pub(super) fn bounds(&self, row: &[u8], left_out: u8) -> (f32, f32) {
        let middle = (8 * self.product(row) + LEAST * self.sum) as f32 + MIDDLE * self.sum as f32;
        let most = self.length * f32::from(left_out) + middle.abs() * ROUNDING + 1.0;
        (middle - most, middle + most)
    }

    /// The product with what is kept. Loops over arrays of a fixed size let the compiler use vector instructions; this is as
    /// quick as the product of whole rows.
    #[inline]
    fn product(&self, row: &[u8]) -> i32 {
        let mut sum = 0;
        for (row, query) in row.as_chunks::<PACKED>().0.iter().zip(self.values.as_chunks::<UNIT>().0) {
            let mut kept = [0_u8; UNIT];
            for at in 0..HALF {
                kept[at] = (row[at] & 15) << 1;
            }
            for at in 0..HALF {
                kept[HALF + at] = row[at] >> 4 << 1;
            }
            for bit in 0..UNIT / BITS {
                for at in 0..BITS {
                    kept[bit * BITS + at] |= row[HALF + at] >> bit & 1;
                }
            }
            for at in 0..UNIT {
                sum += i32::from(i16::from(kept[at])) * i32::from(query[at]);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::dot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_product_lies_between_its_bounds(
            pairs in prop::collection::vec((any::<i8>(), -127i8..=127), UNIT * 2),
            times in 1usize..9,
        ) {
            let (row, query): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            let (row, query) = (row.repeat(times), query.repeat(times));
            let mut packed = Vec::new();
            let left_out = pack(&row, &mut packed);
            prop_assert_eq!(Some(packed.len()), packed_length(row.len()));
            let product = dot(&row, &query) as f32;
            let (least, most) = Query::of(&query).bounds(&packed, left_out);
            prop_assert!(least <= product && product <= most, "{} of {}..{}", product, least, most);
            // What is left out points the way that the query does: nothing narrower would be right.
            let along: Vec<i8> = query.iter().map(|value| if *value < 0 { -128 } else { 127 }).collect();
            let mut packed = Vec::new();
            let left_out = pack(&along, &mut packed);
            let (_, most) = Query::of(&query).bounds(&packed, left_out);
            let product: i32 = along.iter().zip(&query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            prop_assert!(product as f32 <= most, "{} of {}", product, most);
        }
    }
}
