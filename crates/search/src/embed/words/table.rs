//! The file of a table, as `tools/embedder/pack.py` writes it.
//!
//! 8 bytes `CHARTTBL`; then, as little-endian `u32`, the version of this layout, the dimension, the number of tokens and the
//! bytes of their names; the first 16 bytes of the BLAKE3 hash of what follows: the names, each ended by a newline, a scale
//! (`f32`) for each token, and for each a row of signed bytes.

use thiserror::Error;

use super::vocabulary::Vocabulary;

/// The length of a vector.
pub(super) const DIMENSION: usize = 256;

const MAGIC: &[u8; 8] = b"CHARTTBL";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 * 4 + 16;

/// Why a file is no table that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    /// It is something else.
    #[error(
        "the embedding table is no table of vectors: it does not begin with {}",
        String::from_utf8_lossy(MAGIC)
    )]
    NotATable,
    /// It was made for another version of Chartroom.
    #[error(
        "the embedding table has version {found} and dimension {dimension}; this build reads version {VERSION} with {DIMENSION}"
    )]
    OtherVersion {
        /// Of the layout.
        found: u32,
        /// Of its vectors.
        dimension: u32,
    },
    /// Its bytes are not those that were written.
    #[error("the embedding table is damaged: {0}")]
    Damaged(&'static str),
}

/// A vector for each token, in a byte a dimension.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) vocabulary: Vocabulary,
    scales: Vec<f32>,
    rows: &'static [[u8; DIMENSION]],
}

impl Table {
    /// Reads a table; the rows stay where they are.
    pub(super) fn read(bytes: &'static [u8]) -> Result<Self, TableError> {
        let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or(TableError::NotATable)?;
        let number = |at: usize| {
            let field = header[at..].first_chunk::<4>().copied().unwrap_or_default();
            u32::from_le_bytes(field)
        };
        if !header.starts_with(MAGIC) {
            return Err(TableError::NotATable);
        }
        let (found, dimension) = (number(8), number(12));
        if found != VERSION || dimension as usize != DIMENSION {
            return Err(TableError::OtherVersion { found, dimension });
        }
        let (n_tokens, names) = (number(16) as usize, number(20) as usize);
        let expected = n_tokens.checked_mul(4 + DIMENSION).and_then(|size| size.checked_add(names));
        if expected != Some(body.len()) {
            return Err(TableError::Damaged("it is cut off or has more than it says"));
        }
        if blake3::hash(body).as_bytes()[..16] != header[24..] {
            return Err(TableError::Damaged("its checksum differs"));
        }
        let (names, body) = body.split_at(names);
        let (scales, rows) = body.split_at(n_tokens * 4);
        let names = std::str::from_utf8(names).map_err(|_| TableError::Damaged("its tokens are no text"))?;
        let vocabulary = Vocabulary::of(names.lines());
        if vocabulary.len() != n_tokens {
            return Err(TableError::Damaged("it has another number of tokens than it says"));
        }
        let scales = scales.as_chunks::<4>().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
        Ok(Self { vocabulary, scales, rows: rows.as_chunks::<DIMENSION>().0 })
    }

    /// Adds a token's vector, so many times.
    #[inline]
    pub(super) fn add(&self, token: u32, times: f32, sum: &mut [f32; DIMENSION]) {
        let weight = times * self.scales[token as usize];
        for (sum, value) in sum.iter_mut().zip(&self.rows[token as usize]) {
            *sum += weight * f32::from(value.cast_signed());
        }
    }
}
