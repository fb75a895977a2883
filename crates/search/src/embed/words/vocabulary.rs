//! Words to numbers: a word that is known is one piece, another is spelled with the longest pieces that are.

/// No token of a table is longer.
const LONGEST: usize = 64;
/// A slot that holds no token.
const EMPTY: u32 = u32::MAX;

/// Tokens by number. One that begins with `##` stands only inside a word.
///
/// Open addressing over a hash that grows byte by byte: all beginnings of a word are hashed in one pass.
#[derive(Debug)]
pub(super) struct Vocabulary {
    tokens: Vec<Token>,
    slots: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    text: &'static str,
    is_inner: bool,
}

impl Vocabulary {
    /// Numbers the tokens in their order.
    pub(super) fn of(names: impl Iterator<Item = &'static str>) -> Self {
        let token = |name: &'static str| match name.strip_prefix("##") {
            Some(text) => Token { text, is_inner: true },
            None => Token { text: name, is_inner: false },
        };
        let tokens: Vec<Token> = names.map(token).collect();
        let mut slots = vec![EMPTY; (tokens.len() * 2 + 1).next_power_of_two()];
        for (number, token) in (0u32..).zip(&tokens) {
            let hash = token.text.bytes().fold(seed(token.is_inner), grown);
            let mut at = place(hash, slots.len());
            while slots[at] != EMPTY {
                at = (at + 1) % slots.len();
            }
            slots[at] = number;
        }
        Self { tokens, slots }
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// A token as it stands in the table.
    #[cfg(test)]
    pub(super) fn name(&self, number: u32) -> String {
        let Token { text, is_inner } = self.tokens[number as usize];
        format!("{}{text}", if is_inner { "##" } else { "" })
    }

    /// Adds the numbers of a word's pieces. A word with a part that no piece spells has none.
    pub(super) fn pieces(&self, word: &str, numbers: &mut Vec<u32>) {
        let known = numbers.len();
        let mut at = 0;
        while at < word.len() {
            let Some((number, length)) = self.longest(&word[at..], at > 0) else {
                numbers.truncate(known);
                return;
            };
            numbers.push(number);
            at += length;
        }
    }

    /// The longest token at the beginning of a text, with its length.
    fn longest(&self, text: &str, is_inner: bool) -> Option<(u32, usize)> {
        let mut hashes = [0u64; LONGEST];
        let mut hash = seed(is_inner);
        for (kept, byte) in hashes.iter_mut().zip(text.bytes()) {
            hash = grown(hash, byte);
            *kept = hash;
        }
        let lengths = (1..=text.len().min(LONGEST)).rev().filter(|length| text.is_char_boundary(*length));
        let found =
            |length: usize| Some((self.number(hashes[length - 1], &text[..length], is_inner)?, length));
        lengths.into_iter().find_map(found)
    }

    fn number(&self, hash: u64, text: &str, is_inner: bool) -> Option<u32> {
        let mut at = place(hash, self.slots.len());
        loop {
            let number = self.slots[at];
            if number == EMPTY {
                return None;
            }
            let token = self.tokens[number as usize];
            if token.is_inner == is_inner && token.text == text {
                return Some(number);
            }
            at = (at + 1) % self.slots.len();
        }
    }
}

fn seed(is_inner: bool) -> u64 {
    if is_inner { 0x9ae1_6a3b_2f90_404f } else { 0xcbf2_9ce4_8422_2325 }
}

fn grown(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// The slots are a power of two; the upper bits of the hash know more of the text.
fn place(hash: u64, slots: usize) -> usize {
    ((hash ^ (hash >> 29)) as usize) & (slots - 1)
}
