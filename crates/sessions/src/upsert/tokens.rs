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
            let Some((first, last)) = delta.as_bytes().first().zip(delta.as_bytes().last()) else { return };
            self.next(is_space(*first));
            self.n_tokens += beginnings(delta.as_bytes());
            self.in_token = !is_space(*last);
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

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// How many tokens begin behind the first byte. Without branches, and a sum that one byte holds, so that the compiler takes
/// many bytes at once.
fn beginnings(bytes: &[u8]) -> usize {
    let after = bytes.get(1..).unwrap_or_default();
    let begins = |(before, byte): (&u8, &u8)| u8::from(is_space(*before) & !is_space(*byte));
    let few = bytes.chunks(128).zip(after.chunks(128));
    few.map(|(before, at)| usize::from(before.iter().zip(at).map(begins).sum::<u8>())).sum()
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
        for n_words in [1, 31, 32, 127, 128, 129, 1000] {
            let text = " ab\tc\n".repeat(n_words);
            check(&[&text, "d", &text], 4 * n_words + 1);
            check(&[&text, &text[1..]], 4 * n_words);
        }
        for byte in 0..128_u8 {
            check(
                &[&format!("a{}b", char::from(byte))],
                if char::from(byte).is_whitespace() { 2 } else { 1 },
            );
        }
    }
}
