//! Many ids in little room: a prefix and 16 hexadecimal digits are one number.

/// The ids of a file's chunks or symbols, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ids {
    /// All have this prefix before their digits.
    Hashed(&'static str, Box<[u64]>),
    /// Ids of any other form.
    Named(Box<[String]>),
}

impl Ids {
    /// Packs ids that have this prefix as a rule.
    pub(super) fn of(prefix: &'static str, ids: Vec<String>) -> Self {
        match ids.iter().map(|id| digits(prefix, id)).collect() {
            Some(hashes) => Self::Hashed(prefix, hashes),
            None => Self::Named(ids.into()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Hashed(_, hashes) => hashes.len(),
            Self::Named(ids) => ids.len(),
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<String> {
        match self {
            Self::Hashed(prefix, hashes) => hashes.get(at).map(|hash| format!("{prefix}{hash:016x}")),
            Self::Named(ids) => ids.get(at).cloned(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// What each is found by: see [`hash`].
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> + '_ {
        let (hashes, ids) = match self {
            Self::Hashed(_, hashes) => (&**hashes, &[][..]),
            Self::Named(ids) => (&[][..], &**ids),
        };
        hashes.iter().copied().chain(ids.iter().map(|id| hash(id)))
    }
}

/// What an id is found by: its digits, or a hash of all of it.
pub(super) fn hash(id: &str) -> u64 {
    let by_digits = id.split_once('_').and_then(|(_, rest)| sixteen(rest));
    by_digits.unwrap_or_else(|| {
        let hash = blake3::hash(id.as_bytes());
        let (words, _) = hash.as_bytes().as_chunks::<8>();
        u64::from_le_bytes(words[0])
    })
}

fn digits(prefix: &str, id: &str) -> Option<u64> {
    sixteen(id.strip_prefix(prefix)?)
}

fn sixteen(digits: &str) -> Option<u64> {
    let is_plain = digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ids: &[&str], packed: bool) {
        let given: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let kept = Ids::of("chunk_", given.clone());
        assert_eq!(matches!(kept, Ids::Hashed(..)), packed, "{ids:?}");
        assert_eq!(kept.iter().collect::<Vec<_>>(), given);
        assert_eq!(kept.hashes().collect::<Vec<_>>(), given.iter().map(|id| hash(id)).collect::<Vec<_>>());
        assert_eq!((kept.len(), kept.get(ids.len())), (ids.len(), None));
    }

    #[test]
    fn ids_come_back_as_they_were_put() {
        check(&[], true);
        check(&["chunk_00ff00ff00ff00ff", "chunk_0000000000000000"], true);
        check(&["chunk_00FF00ff00ff00ff"], false);
        check(&["chunk_+0ff00ff00ff00ff", "a", ""], false);
        check(&["sym_00ff00ff00ff00ff", "chunk_0"], false);
    }
}
