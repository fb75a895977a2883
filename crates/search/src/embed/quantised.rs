//! Vectors in one byte a dimension: a quarter of the memory, and the product of two is integer arithmetic.

/// A unit vector as signed bytes with the factor that brings them back.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    /// One byte per dimension.
    pub values: Vec<i8>,
    /// What a byte is multiplied with.
    pub scale: f32,
}

impl Quantised {
    /// Rounds a vector.
    pub fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self { values: vec![0; vector.len()], scale: 0.0 };
        }
        let scale = largest / 127.0;
        let values = vector.iter().map(|value| rounded(value / scale)).collect();
        Self { values, scale }
    }

    /// Returns the vector, as near as the bytes have it.
    pub fn to_floats(&self) -> Vec<f32> {
        self.values.iter().map(|value| f32::from(*value) * self.scale).collect()
    }

    /// Four bytes of scale, then the values.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.values.len() + 4);
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.values.iter().map(|value| value.to_le_bytes()[0]));
        bytes
    }

    /// Reads what was stored; nothing when the bytes are no vector.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, values) = bytes.split_first_chunk::<4>()?;
        let values = values.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        Some(Self { values, scale: f32::from_le_bytes(*scale) })
    }
}

/// The nearest whole number, halves away from zero, as `f32::round` has it. That is a call into the mathematical library
/// for each number; this is arithmetic on several at once, and exact, since the sum with a half fits into 64 bits.
#[inline]
fn rounded(value: f32) -> i8 {
    // `as` saturates, and NaN becomes zero.
    (f64::from(value) + 0.5_f64.copysign(f64::from(value))) as i8
}

/// The product of two rows. Blocks of a fixed size and 16-bit products let the compiler use vector instructions.
#[inline]
pub fn dot(left: &[i8], right: &[i8]) -> i32 {
    let (left_blocks, left_rest) = left.as_chunks::<32>();
    let (right_blocks, right_rest) = right.as_chunks::<32>();
    let mut sum = 0;
    for (left, right) in left_blocks.iter().zip(right_blocks) {
        let mut block = 0;
        for at in 0..32 {
            block += i32::from(i16::from(left[at]) * i16::from(right[at]));
        }
        sum += block;
    }
    sum + left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| i32::from(*left) * i32::from(*right))
        .sum::<i32>()
}

#[cfg(test)]
mod tests {
    use super::{Quantised, dot};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_product_is_that_of_the_plain_loop(pairs in prop::collection::vec((-127i8..=127, -127i8..=127), 0..300)) {
            let (left, right): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            let plain: i32 = left.iter().zip(&right).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            prop_assert_eq!(dot(&left, &right), plain);
        }

        #[test]
        fn quantising_keeps_every_value_within_a_step(vector in prop::collection::vec(-1.0f32..1.0, 1..64)) {
            let quantised = Quantised::of(&vector);
            for (before, after) in vector.iter().zip(quantised.to_floats()) {
                prop_assert!((before - after).abs() <= quantised.scale * 0.51 + 1e-6);
            }
            prop_assert_eq!(Quantised::from_bytes(&quantised.to_bytes()), Some(quantised));
        }
    }

    #[test]
    fn odd_input_is_quantised_to_nothing() {
        for vector in [vec![0.0; 4], vec![f32::INFINITY; 4]] {
            assert_eq!(Quantised::of(&vector).values, vec![0; 4]);
        }
        assert_eq!(Quantised::from_bytes(&[1, 2]), None);
    }
}
