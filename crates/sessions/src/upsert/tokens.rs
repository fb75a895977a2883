//! Counting tokens as they come: a token is a maximal run of non-whitespace over the accumulated content.

/// A count that only ever looks at what is new, so that long messages stay cheap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TokenCount {
    n_tokens: usize,
    /// The content ends inside a token, which the next delta may go on with.
    in_token: bool,
}

impl TokenCount {
    pub(super) fn add(&mut self, delta: &str) {
        // Nearly all text is, and need not be decoded.
        if delta.is_ascii() {
            delta.bytes().for_each(|byte| self.next(matches!(byte, b'\t'..=b'\r' | b' ')));
        } else {
            delta.chars().for_each(|character| self.next(character.is_whitespace()));
        }
    }

    fn next(&mut self, is_space: bool) {
        self.n_tokens += usize::from(!is_space && !self.in_token);
        self.in_token = !is_space;
    }

    pub(super) fn get(self) -> usize {
        self.n_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::TokenCount;

    #[track_caller]
    fn check(deltas: &[&str], expected: usize) {
        let mut count = TokenCount::default();
        for delta in deltas {
            count.add(delta);
        }
        assert_eq!(count.get(), expected, "{deltas:?}");
        assert_eq!(deltas.concat().split_whitespace().count(), expected, "the whole of {deltas:?}");
    }

    #[test]
    fn a_word_split_over_deltas_counts_once() {
        check(&[], 0);
        check(&["  \n"], 0);
        check(&["hello"], 1);
        check(&["hel", "lo"], 1);
        check(&["hel", "lo ", "wor", "", "ld"], 2);
        check(&["a", " ", "b"], 2);
        check(&["ä\u{a0}ö\u{2003}ü"], 3);
        for byte in 0..128_u8 {
            check(
                &[&format!("a{}b", char::from(byte))],
                if char::from(byte).is_whitespace() { 2 } else { 1 },
            );
        }
    }
}
