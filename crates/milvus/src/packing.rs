//! Documents of any length in text columns of a fixed one: compressed, in base64, cut into rows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::server::Row;
use chartroom_search::store::StoreError;

/// Of a column's length a little is left, so that no server has to count as we do.
const PART: usize = Row::MAX_DATA - 535;

/// No document of ours is longer when unpacked: what says so is damaged.
const MAX_UNPACKED: usize = 256 << 20;

/// The rows of a document, `id` first with the number of those that follow.
pub(crate) fn pack(id: &str, document: &impl Serialize) -> Result<Vec<Row>, StoreError> {
    let json = serde_json::to_vec(document).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    let text = STANDARD.encode(lz4_flex::compress_prepend_size(&json));
    let parts: Vec<&[u8]> = text.as_bytes().chunks(PART).collect();
    let rows = parts.iter().enumerate().map(|(at, part)| {
        let text = String::from_utf8_lossy(part);
        match at {
            0 => Row::plain(id, format!("{}:{text}", parts.len() - 1)),
            more => Row::plain(part_id(id, more), text),
        }
    });
    Ok(rows.collect())
}

/// The id of a later row.
pub(crate) fn part_id(id: &str, at: usize) -> String {
    format!("{id}.{at}")
}

/// How many rows follow the first one.
pub(crate) fn more_parts(first: &str) -> Result<usize, StoreError> {
    let number = first.split_once(':').and_then(|(number, _)| number.parse().ok());
    number.filter(|more| *more <= MAX_UNPACKED / PART).ok_or_else(|| damaged("the first row says no number"))
}

/// The document of these rows, in order.
pub(crate) fn unpack<T: DeserializeOwned>(rows: &[&str]) -> Result<T, StoreError> {
    let Some((first, rest)) = rows.split_first() else { return Err(damaged("there are no rows")) };
    let (_, first) = first.split_once(':').ok_or_else(|| damaged("the first row says no number"))?;
    let text: String = std::iter::once(first).chain(rest.iter().copied()).collect();
    let packed = STANDARD.decode(text).map_err(|error| damaged(&error.to_string()))?;
    let length = packed.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    if length > MAX_UNPACKED || length > packed.len().saturating_mul(256) {
        return Err(damaged("a length that cannot be"));
    }
    let json = lz4_flex::decompress_size_prepended(&packed).map_err(|error| damaged(&error.to_string()))?;
    serde_json::from_slice(&json).map_err(|error| damaged(&error.to_string()))
}

fn damaged(what: &str) -> StoreError {
    StoreError::Corrupt(format!("what the server holds cannot be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_however_long() {
        for length in [0, 1, 1000, 300_000] {
            // Hashes do not compress.
            let document: Vec<String> = (0..length)
                .step_by(64)
                .map(|at: usize| blake3::hash(&at.to_le_bytes()).to_string())
                .collect();
            let rows = pack("x", &document).unwrap();
            assert!(rows.iter().all(|row| row.data.len() <= Row::MAX_DATA));
            assert_eq!(more_parts(&rows[0].data).unwrap(), rows.len() - 1);
            assert_eq!(
                rows.last().unwrap().id,
                if rows.len() == 1 { "x".into() } else { part_id("x", rows.len() - 1) }
            );
            let texts: Vec<&str> = rows.iter().map(|row| row.data.as_str()).collect();
            assert_eq!(unpack::<Vec<String>>(&texts).unwrap(), document);
        }
    }

    #[test]
    fn garbage_is_damage_and_no_panic() {
        for rows in [&[][..], &["x"], &["0:!"], &["0:AAAA"], &["1:////", "x"], &["99999999999:"]] {
            assert!(matches!(unpack::<Vec<String>>(rows), Err(StoreError::Corrupt(_))), "{rows:?}");
        }
        assert!(more_parts("99999999999:").is_err());
    }
}
