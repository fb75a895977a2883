//! The built-in embedder: words hashed into 256 dimensions, with nothing to download.
//!
//! Every word and every beginning of a word has a random direction that follows from its hash alone; a text is the sum
//! of its words' directions, rare-looking ones weighing more. That makes texts that share words and parts of words
//! near each other. It knows no synonyms: a trained table does, and `Hashed::with_table` takes one.

use std::collections::HashMap;

use super::{EmbedError, Embedder};
use crate::query::words::for_each_word;

const DIMENSION: usize = 256;
/// The name in the fingerprint. It says what this is, so that a trained table is another model.
const MODEL: &str = "hashed-256-v1";
/// Dimensions that one feature touches.
const TOUCHES: usize = 8;
/// A chunk has a few hundred words; what is beyond adds nothing but time.
const MAX_WORDS: usize = 600;

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Hashed {
    table: Option<Table>,
}

/// Trained directions for words.
#[derive(Debug, Clone)]
struct Table {
    model: String,
    rows: HashMap<String, Vec<f32>>,
}

impl Hashed {
    /// Uses the directions of a table where it has the word. The format: a line with the model's name, then for each
    /// word a line with the word, a tab and 256 numbers separated by blanks.
    pub fn with_table(text: &str) -> Result<Self, EmbedError> {
        let mut lines = text.lines();
        let model = lines.next().unwrap_or_default().trim().to_owned();
        let mut rows = HashMap::new();
        for line in lines {
            let row = line.split_once('\t').and_then(|(word, values)| {
                let values: Vec<f32> = values.split(' ').filter_map(|value| value.parse().ok()).collect();
                (values.len() == DIMENSION).then(|| (word.to_owned(), values))
            });
            let (word, values) =
                row.ok_or_else(|| EmbedError::Response(format!("the table of {model} has an unusable row")))?;
            rows.insert(word, values);
        }
        Ok(Self { table: Some(Table { model, rows }) })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0f32; DIMENSION];
        let mut words = 0;
        // A word's later occurrences count less, and only by how often it was there: no map, no order.
        let mut seen = [0u8; 1024];
        for_each_word(text, |word| {
            words += 1;
            if words > MAX_WORDS {
                return;
            }
            let hash = seed(word.as_bytes());
            let times = &mut seen[(hash >> 20) as usize % 1024];
            let weight = rarity(word) / (1.0 + f32::from(*times));
            *times = times.saturating_add(1);
            match self.table.as_ref().and_then(|table| table.rows.get(word)) {
                Some(row) => sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value),
                None => add_hashed(&mut sum, word, hash, weight),
            }
        });
        normalise(&mut sum);
        sum
    }
}

impl Embedder for Hashed {
    fn provider(&self) -> &str {
        "static"
    }

    fn model(&self) -> &str {
        self.table.as_ref().map_or(MODEL, |table| &table.model)
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Adds a word's own direction and, smaller, that of its beginning: `index`, `indexes` and `indexing` share it.
fn add_hashed(sum: &mut [f32], word: &str, hash: u64, weight: f32) {
    add_feature(sum, hash, weight);
    if let Some(beginning) = word.as_bytes().first_chunk::<5>()
        && word.len() > 5
    {
        add_feature(sum, seed(beginning), weight * 0.5);
    }
}

fn add_feature(sum: &mut [f32], hash: u64, weight: f32) {
    let mut state = hash;
    for _ in 0..TOUCHES {
        state = mix(state);
        let at = (state >> 32) as usize % DIMENSION;
        sum[at] += if state & 1 == 0 { weight } else { -weight };
    }
}

/// Words that every file has weigh little; long words weigh more than short ones.
fn rarity(word: &str) -> f32 {
    const COMMON: &[&str] = &[
        "and", "args", "assert", "break", "case", "class", "const", "def", "else", "end", "false", "for",
        "from", "func", "function", "impl", "import", "int", "let", "mut", "name", "new", "nil", "none",
        "not", "null", "pub", "public", "return", "self", "static", "str", "string", "struct", "test",
        "that", "the", "this", "true", "type", "use", "value", "var", "void", "with",
    ];
    match word.len() {
        0 | 1 => 0.1,
        2 => 0.3,
        _ if COMMON.binary_search(&word).is_ok() => 0.15,
        3 => 0.6,
        4..=6 => 1.0,
        _ => 1.2,
    }
}

fn seed(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(super) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::{Embedder, Hashed};

    fn likeness(left: &str, right: &str) -> f32 {
        let vectors = Hashed::default().embed(&[left, right]).unwrap();
        vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn texts_that_share_words_are_nearer_than_texts_that_do_not() {
        let query = "where is the request timeout parsed";
        let near = likeness(query, "fn parse_request_timeout(header: &str) -> Duration");
        let far = likeness(query, "fn draw_circle(canvas: &mut Canvas, radius: f32)");
        assert!(near > far + 0.2, "{near} {far}");
    }

    #[test]
    fn vectors_are_the_same_each_time_and_of_unit_length() {
        let first = Hashed::default().embed(&["let x = HttpServer::new();"]).unwrap();
        assert_eq!(first, Hashed::default().embed(&["let x = HttpServer::new();"]).unwrap());
        let length: f32 = first[0].iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_text_without_words_has_a_zero_vector() {
        assert_eq!(Hashed::default().embed(&[""]).unwrap(), vec![vec![0.0; 256]]);
    }

    #[test]
    fn a_shipped_table_names_its_own_model() {
        let row = vec!["1"; 256].join(" ");
        let table = Hashed::with_table(&format!("trained-256-v1\nserver\t{row}\n")).unwrap();
        assert_eq!(table.model(), "trained-256-v1");
        let vector = &table.embed(&["server"]).unwrap()[0];
        assert!(vector.iter().all(|value| (value - 1.0 / 16.0).abs() < 1e-6));
        assert!(Hashed::with_table("x\nserver\t1 2 3\n").is_err());
    }
}
