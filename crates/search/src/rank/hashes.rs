//! A set of hashes that says quickly what is not in it.

/// What a walk over every file asks first: most are passed by.
pub(super) struct Hashes([u64; Self::WORDS]);

impl Hashes {
    const WORDS: usize = 256;

    pub(super) fn of(hashes: impl IntoIterator<Item = u64>) -> Self {
        let mut set = Self([0; Self::WORDS]);
        for hash in hashes {
            let (word, bit) = Self::place(hash);
            set.0[word] |= bit;
        }
        set
    }

    /// False when the hash is not in the set for sure.
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = Self::place(hash);
        self.0[word] & bit != 0
    }

    fn place(hash: u64) -> (usize, u64) {
        let hash = hash ^ (hash >> 32);
        ((hash >> 6) as usize % Self::WORDS, 1 << (hash % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::Hashes;

    #[test]
    fn what_is_in_the_set_is_never_denied() {
        let hashes: Vec<u64> = (0..500_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let set = Hashes::of(hashes.iter().copied());
        assert!(hashes.iter().all(|hash| set.may_have(*hash)));
        let others = (1000..2000_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert!(others.filter(|hash| set.may_have(*hash)).count() < 200, "most others are");
    }
}
