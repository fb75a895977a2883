//! One file as one row: the text once, compressed, and what was found in it beside.

use serde::{Deserialize, Serialize};

use super::ids::Ids;
use crate::store::{Chunk, FileRecord, StoreError, Symbol};
use crate::symbols::{Facts, SymbolKind};

/// What a row holds besides the manifest's columns.
pub(super) struct Packed {
    pub(super) language: String,
    pub(super) keys: Vec<u8>,
    pub(super) content: Vec<u8>,
    pub(super) facts: Vec<u8>,
    pub(super) text: Vec<u8>,
    pub(super) n_references: usize,
}

/// What is held in memory of every file, to find chunks, symbols and call sites without opening rows.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) chunks: Ids,
    /// Keys of the vectors, one per chunk, or none.
    pub(super) vectors: Box<[VectorKey]>,
    pub(super) symbols: Ids,
    /// Hashes of the names defined here, sorted.
    pub(super) defined: Box<[u32]>,
    /// Hashes of the names called or imported here, sorted.
    pub(super) mentioned: Box<[u32]>,
    /// The package that the file says it belongs to, or that it describes.
    pub(super) package: Option<String>,
}

/// The same as it is stored.
#[derive(Serialize, Deserialize)]
struct PackedKeys {
    chunks: Vec<String>,
    vectors: Vec<VectorKey>,
    symbols: Vec<String>,
    defined: Vec<u32>,
    mentioned: Vec<u32>,
    package: Option<String>,
}

/// Half a blake3 hash, in two numbers that JSON can hold.
pub(super) type VectorKey = (u64, u64);

/// A chunk without its text, which is the next `length` bytes of the file's.
#[derive(Serialize, Deserialize)]
struct PackedChunk(u32, u32, usize, Vec<String>, Option<String>, Option<String>, String);

/// A symbol without what its file says.
#[derive(Serialize, Deserialize)]
struct PackedSymbol(SymbolKind, String, String, u32, u32);

#[derive(Serialize, Deserialize)]
struct Content {
    chunks: Vec<PackedChunk>,
    symbols: Vec<PackedSymbol>,
}

/// The key of what was embedded under this content hash.
pub(super) fn vector_key(content_hash: &str) -> VectorKey {
    let hash = blake3::hash(content_hash.as_bytes());
    let (halves, _) = hash.as_bytes().as_chunks::<8>();
    (u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]))
}

/// The first half of a key, in the order of the table. No two keys of an index have the same.
pub(super) fn short_key(key: VectorKey) -> u64 {
    key.0.swap_bytes()
}

/// A vector's key as its table has it.
pub(super) fn key_bytes(key: VectorKey) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&key.0.to_le_bytes());
    bytes[8..].copy_from_slice(&key.1.to_le_bytes());
    bytes
}

pub(super) fn key_from_bytes(bytes: &[u8]) -> Option<VectorKey> {
    let (halves, []) = bytes.as_chunks::<8>() else { return None };
    match halves {
        [first, second] => Some((u64::from_le_bytes(*first), u64::from_le_bytes(*second))),
        _ => None,
    }
}

/// A name's hash among those of its file.
pub(super) fn name_hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The last part of a qualified name.
pub(super) fn last_name(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}

pub(super) fn pack(record: &FileRecord) -> Result<Packed, StoreError> {
    let text: String = record.chunks.iter().map(|chunk| chunk.content.as_str()).collect();
    let language = record
        .chunks
        .first()
        .map(|chunk| chunk.language.clone())
        .or_else(|| record.symbols.first().map(|symbol| symbol.language.clone()))
        .unwrap_or_else(|| "text".to_owned());
    let content = Content {
        chunks: record
            .chunks
            .iter()
            .map(|chunk| {
                PackedChunk(
                    chunk.start_line,
                    chunk.end_line,
                    chunk.content.len(),
                    chunk.breadcrumbs.clone(),
                    chunk.symbol_id.clone(),
                    chunk.symbol_label.clone(),
                    chunk.content_hash.clone(),
                )
            })
            .collect(),
        symbols: record
            .symbols
            .iter()
            .map(|symbol| {
                PackedSymbol(
                    symbol.kind,
                    symbol.qualified_name.clone(),
                    symbol.label.clone(),
                    symbol.start_line,
                    symbol.end_line,
                )
            })
            .collect(),
    };
    let facts = &record.facts;
    let mut defined: Vec<u32> =
        record.symbols.iter().map(|symbol| name_hash(last_name(&symbol.qualified_name))).collect();
    let mut mentioned: Vec<u32> =
        facts.references.iter().map(|reference| name_hash(&reference.name)).collect();
    mentioned.extend(facts.imports.iter().filter_map(|import| import.name.as_deref()).map(name_hash));
    for hashes in [&mut defined, &mut mentioned] {
        hashes.sort_unstable();
        hashes.dedup();
    }
    let keys = PackedKeys {
        chunks: record.chunks.iter().map(|chunk| chunk.id.clone()).collect(),
        vectors: if record.vectors.is_empty() {
            Vec::new()
        } else {
            record.chunks.iter().map(|chunk| vector_key(&chunk.content_hash)).collect()
        },
        symbols: record.symbols.iter().map(|symbol| symbol.symbol_id.clone()).collect(),
        defined,
        mentioned,
        package: facts.package.clone(),
    };
    Ok(Packed {
        language,
        keys: pack_json(&keys)?,
        content: pack_json(&content)?,
        facts: compress(facts.to_text().as_bytes()),
        text: compress(text.as_bytes()),
        n_references: facts.references.len(),
    })
}

/// Chunks and symbols as they were put.
pub(super) fn unpack(
    path: &str,
    language: &str,
    keys: &Keys,
    content: &[u8],
    text: &[u8],
) -> Result<(Vec<Chunk>, Vec<Symbol>), StoreError> {
    let content: Content = unpack_json(content)?;
    let text = decompress(text)?;
    let text = std::str::from_utf8(&text).map_err(damaged)?;
    let lengths_fit = content.chunks.iter().map(|chunk| chunk.2).sum::<usize>() == text.len();
    if !lengths_fit
        || content.chunks.len() != keys.chunks.len()
        || content.symbols.len() != keys.symbols.len()
    {
        return Err(damaged(format!("the row of {path} contradicts itself")));
    }
    let mut at = 0;
    let mut chunks = Vec::with_capacity(content.chunks.len());
    for (id, packed) in keys.chunks.iter().zip(content.chunks) {
        let PackedChunk(start_line, end_line, length, breadcrumbs, symbol_id, symbol_label, content_hash) =
            packed;
        let piece =
            text.get(at..at + length).ok_or_else(|| damaged(format!("the text of {path} is cut off")))?;
        at += length;
        chunks.push(Chunk {
            id,
            rel_path: path.to_owned(),
            start_line,
            end_line,
            language: language.to_owned(),
            content: piece.to_owned(),
            breadcrumbs,
            symbol_id,
            symbol_label,
            content_hash,
        });
    }
    let symbols = keys
        .symbols
        .iter()
        .zip(content.symbols)
        .map(|(id, PackedSymbol(kind, qualified_name, label, start_line, end_line))| Symbol {
            symbol_id: id,
            kind,
            qualified_name,
            label,
            rel_path: path.to_owned(),
            language: language.to_owned(),
            start_line,
            end_line,
        })
        .collect();
    Ok((chunks, symbols))
}

pub(super) fn unpack_keys(keys: &[u8]) -> Result<Keys, StoreError> {
    let PackedKeys { chunks, vectors, symbols, defined, mentioned, package } = unpack_json(keys)?;
    Ok(Keys {
        chunks: Ids::of("chunk_", chunks),
        vectors: vectors.into(),
        symbols: Ids::of("sym_", symbols),
        defined: defined.into(),
        mentioned: mentioned.into(),
        package,
    })
}

pub(super) fn unpack_facts(facts: &[u8]) -> Result<Facts, StoreError> {
    Ok(Facts::from_text(&unpack_text(facts)?))
}

pub(super) fn unpack_text(bytes: &[u8]) -> Result<String, StoreError> {
    String::from_utf8(decompress(bytes)?).map_err(damaged)
}

fn pack_json(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value)
        .map(|json| compress(&json))
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}

fn unpack_json<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(&decompress(bytes)?).map_err(damaged)
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    lz4_flex::compress_prepend_size(bytes)
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    // The length stands in front and is believed by the decoder: a damaged one must not ask for all memory.
    let length = bytes.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    if length > 64 << 20 || length > bytes.len().saturating_mul(256) {
        return Err(damaged("a length that cannot be"));
    }
    lz4_flex::decompress_size_prepended(bytes).map_err(damaged)
}

fn damaged(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(error.to_string())
}
