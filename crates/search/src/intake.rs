//! From files on disk to what the store takes: read, parse, embed, stamp.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use chartroom_protocol::index::SkippedFile;
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{Inside, ReadError};
use chartroom_workspace::limits::INDEXED_FILE;
use rayon::prelude::*;

use crate::chunk::{self, ParsedFile, Refusal};
use crate::embed::{EmbedError, Embedder};
use crate::parser::Parser;
use crate::scan::{self, ScanError, ScannedFile};
use crate::store::{FileChange, FileRecord, FileStamp, GenerationWriter};

/// A file changed less than this before it was read may change again without a new time stamp: its stamp is spoiled, so
/// that the next scan looks at its bytes.
const RACY_NS: i128 = 50_000_000;
/// Texts that one thread embeds at a time.
const EMBED_TEXTS: usize = 256;

/// A few files, ready for the store.
pub struct Batch {
    /// In the order of the files.
    pub changes: Vec<FileChange>,
    /// Files that vanished, could not be read or are no text; they are left for the next sync.
    pub skipped: u64,
    /// Those of them that are there and cannot be read.
    pub unreadable: u64,
    /// Those of them that are no text for the index.
    pub refused: Vec<SkippedFile>,
    /// Files that the parser failed on: they are there by lines, without symbols.
    pub unparsed: Vec<String>,
}

/// Why nothing could be made of the files.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The root cannot be opened.
    #[error(transparent)]
    Root(#[from] ScanError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Reads, parses and embeds these files. One bad file never fails the rest; only the embedder can.
///
/// Text whose vector one of the `known` generations has is not embedded again.
pub fn changes_of(
    parser: &dyn Parser,
    embedder: &dyn Embedder,
    root: &Path,
    files: &[ScannedFile],
    known: &[&dyn GenerationWriter],
) -> Result<Batch, IntakeError> {
    let root = CanonicalRoot::open(root).map_err(|error| ScanError::Unreadable {
        path: root.display().to_string(),
        reason: error.to_string(),
    })?;
    let unreadable = AtomicU64::new(0);
    let taken: Vec<Taken> = files
        .par_iter()
        .map(|file| {
            let (stamp, text) = match read(&root, file) {
                Ok(Ok(read)) => read,
                Ok(Err(refusal)) => {
                    return scan::skipped_file(file.rel_path.clone(), refusal)
                        .map_or(Taken::Nothing, Taken::Refused);
                }
                Err(error) => {
                    tracing::debug!(file = file.rel_path, %error, "a file is left out until the next sync");
                    unreadable.fetch_add(u64::from(matches!(error, ReadError::Io(_))), Ordering::Relaxed);
                    return Taken::Nothing;
                }
            };
            let parsed = chunk::parse_file_with(parser, &file.rel_path, &text);
            Taken::Parsed(file.rel_path.clone(), stamp, Box::new(parsed))
        })
        .collect();
    let (mut parsed, mut refused) = (Vec::new(), Vec::new());
    for file in taken {
        match file {
            Taken::Parsed(path, stamp, file) => parsed.push((path, stamp, *file)),
            Taken::Refused(file) => refused.push(file),
            Taken::Nothing => {}
        }
    }
    let skipped = (files.len() - parsed.len()) as u64;
    let unparsed =
        parsed.iter().filter(|(_, _, file)| file.unparsed).map(|(path, _, _)| path.clone()).collect();
    let mut vectors = vectors_of(embedder, &parsed, known)?.into_iter();
    let changes = parsed
        .into_iter()
        .map(|(rel_path, stamp, file)| {
            let vectors = vectors.by_ref().take(file.chunks.len()).collect();
            let ParsedFile { chunks, symbols, facts, unparsed: _ } = file;
            FileChange::Put(Box::new(FileRecord { rel_path, stamp, chunks, vectors, symbols, facts }))
        })
        .collect();
    Ok(Batch { changes, skipped, unreadable: unreadable.into_inner(), refused, unparsed })
}

/// The stamps of these files as they are now, in order; none for one that went, cannot be read or is no text for the
/// index.
pub fn stamps_of(root: &Path, files: &[ScannedFile]) -> Vec<Option<FileStamp>> {
    let Ok(root) = CanonicalRoot::open(root) else { return vec![None; files.len()] };
    files.par_iter().map(|file| Some(read(&root, file).ok()?.ok()?.0)).collect()
}

/// What became of a file.
enum Taken {
    Parsed(String, FileStamp, Box<ParsedFile>),
    /// It is no text for the index.
    Refused(SkippedFile),
    /// It went, or cannot be read.
    Nothing,
}

/// One vector per chunk in order; none at all when the embedder makes none. Known text is not embedded again.
fn vectors_of(
    embedder: &dyn Embedder,
    parsed: &[(String, FileStamp, ParsedFile)],
    known: &[&dyn GenerationWriter],
) -> Result<Vec<Vec<f32>>, IntakeError> {
    if embedder.dimension() == 0 {
        return Ok(Vec::new());
    }
    let chunks: Vec<_> = parsed.iter().flat_map(|(_, _, file)| &file.chunks).collect();
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; chunks.len()];
    for generation in known {
        let unknown: Vec<usize> = (0..chunks.len()).filter(|at| vectors[*at].is_none()).collect();
        let hashes: Vec<_> = unknown.iter().map(|at| chunks[*at].content_hash.as_str()).collect();
        match generation.known_vectors(&hashes) {
            Ok(found) => {
                for (at, vector) in unknown.into_iter().zip(found) {
                    vectors[at] = vector;
                }
            }
            // A damaged index is mended by building it anew; its vectors are made again.
            Err(error) => tracing::debug!(%error, "known vectors cannot be read"),
        }
    }
    let missing: Vec<usize> = (0..chunks.len()).filter(|at| vectors[*at].is_none()).collect();
    let texts: Vec<String> = missing.par_iter().map(|at| chunk::embedded_text(chunks[*at])).collect();
    let made: Vec<Vec<Vec<f32>>> = texts
        .par_chunks(EMBED_TEXTS)
        .map(|texts| {
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            embed(embedder, &texts)
        })
        .collect::<Result<_, _>>()?;
    for (at, vector) in missing.into_iter().zip(made.into_iter().flatten()) {
        vectors[at] = Some(vector);
    }
    Ok(vectors.into_iter().flatten().collect())
}

fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, IntakeError> {
    let vectors = embedder.embed(texts)?;
    if vectors.len() != texts.len() {
        let text = format!("{} vectors for {} texts", vectors.len(), texts.len());
        return Err(EmbedError::Response(text).into());
    }
    Ok(vectors)
}

/// The text of a file and the stamp of exactly these bytes, or why it is no text for the index.
fn read(root: &CanonicalRoot, file: &ScannedFile) -> Result<Result<(FileStamp, String), Refusal>, ReadError> {
    // The stat comes first: a change during the read leaves an older stamp, which the next scan sees.
    let place = Inside::below(root, &file.rel_path).ok_or(ReadError::Missing)?;
    let (bytes, metadata) = place.read(INDEXED_FILE)?;
    if let Err(refusal) = scan::for_the_index(&file.rel_path, &bytes, file.custom) {
        return Ok(Err(refusal));
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as i128;
    let mut stamp = scan::stamp_of(&bytes, &metadata);
    let changed = i128::from(stamp.mtime_ns.max(stamp.ctime_ns));
    if now - changed < RACY_NS || bytes.len() as u64 != metadata.len() {
        stamp.ctime_ns = 0;
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Ok((stamp, text)))
}
