//! Content as simple as can be: every line is a chunk, every `fn name` a symbol.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chartroom_protocol::index::{SearchChunk, SearchResult, Span, StalenessBucket};
use serde_json::Value;

use crate::content::*;
use crate::embed::{EmbedError, Embedder};
use crate::parser::Parser;
use crate::store::*;

pub(super) fn content() -> Content {
    Content {
        parse_file,
        embedded_text: |chunk| chunk.content.clone(),
        scan,
        search,
        symbol_extensions: || vec![".rs".into()],
    }
}

/// An embedder whose vectors say nothing.
pub(super) struct OneDimension {
    pub(super) model: String,
    /// How many texts it was given.
    pub(super) texts: Arc<AtomicUsize>,
}

impl Embedder for OneDimension {
    fn provider(&self) -> &str {
        "test"
    }
    fn model(&self) -> &str {
        &self.model
    }
    fn dimension(&self) -> usize {
        1
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(vec![vec![1.0]; texts.len()])
    }
}

fn parse_file(_: &dyn Parser, rel_path: &str, text: &str) -> ParsedFile {
    let mut parsed =
        ParsedFile { chunks: Vec::new(), symbols: Vec::new(), graph: Value::Null, unparsed: false };
    for (at, line) in (1u32..).zip(text.lines()) {
        let hash = blake3::hash(format!("{rel_path}:{at}:{line}").as_bytes()).to_hex().to_string();
        parsed.chunks.push(Chunk {
            id: format!("chunk_{}", &hash[..16]),
            rel_path: rel_path.into(),
            start_line: at,
            end_line: at,
            language: "rust".into(),
            content: line.into(),
            breadcrumbs: Vec::new(),
            symbol_id: None,
            symbol_label: None,
            content_hash: hash,
        });
        if let Some(name) = line.strip_prefix("fn ") {
            parsed.symbols.push(Symbol {
                symbol_id: format!("sym_{rel_path}_{name}_{at}"),
                kind: "function".into(),
                qualified_name: name.into(),
                label: format!("function {name}"),
                rel_path: rel_path.into(),
                language: "rust".into(),
                start_line: at,
                end_line: at,
            });
        }
    }
    parsed
}

fn scan(root: &Path, previous: &Manifest, options: &ScanOptions) -> Result<Scan, ScanError> {
    let mut scan = Scan::default();
    let files = std::fs::read_dir(root).map_err(|error| ScanError::Unreadable {
        path: root.display().to_string(),
        reason: error.to_string(),
    })?;
    let mut names: Vec<String> = files
        .filter_map(Result::ok)
        .filter(|file| file.path().is_file())
        .filter_map(|file| file.file_name().into_string().ok())
        .filter(|name| {
            let extension =
                name.rsplit_once('.').map(|(_, extension)| format!(".{extension}")).unwrap_or_default();
            extension == ".rs" || options.custom_extensions.contains(&extension)
        })
        .collect();
    names.sort();
    for name in &names {
        let Ok(bytes) = std::fs::read(root.join(name)) else { continue };
        let hash = blake3::hash(&bytes).to_hex().to_string();
        let stamp = FileStamp { hash, size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
        let file = ScannedFile { rel_path: name.clone(), stamp };
        match previous.files.get(name) {
            None => scan.added.push(file),
            Some(known) if known.hash != file.stamp.hash => scan.modified.push(file),
            Some(_) => {}
        }
    }
    scan.removed = previous.files.keys().filter(|name| !names.contains(name)).cloned().collect();
    Ok(scan)
}

fn search(
    reader: &dyn GenerationReader,
    _embedder: &dyn Embedder,
    request: &SearchRequest,
) -> Result<SearchOutcome, SearchError> {
    let term = LexicalTerm { text: request.query.clone(), field: LexicalField::Content, weight: 1.0 };
    let hits = reader.lexical(&[term], request.limit)?;
    let ids: Vec<_> = hits.into_iter().map(|hit| hit.chunk_id).collect();
    let results = reader.chunks(&ids)?.into_iter().map(|stored| {
        let chunk = stored.chunk;
        SearchResult::Chunk(SearchChunk {
            file: chunk.rel_path,
            span: Span { start_line: chunk.start_line, end_line: chunk.end_line },
            language: chunk.language,
            content: chunk.content,
            score: 1.0,
            indexed_at: None,
            staleness_bucket: StalenessBucket::Unknown,
            symbol_id: None,
            symbol_label: None,
            debug: None,
        })
    });
    Ok(SearchOutcome { results: results.collect(), ..SearchOutcome::default() })
}
