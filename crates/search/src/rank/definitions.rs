//! Where the names are defined that a query is made of.
//!
//! Words say that a chunk has a name and labels that it seems to be about it; only the definitions themselves say which one
//! defines it, and not the header that declares it or the table that lists it.

use std::collections::{BTreeSet, HashMap};

use super::candidates::Candidate;
use crate::query::plan::Plan;
use crate::request::SearchError;
use crate::store::{Chunk, GenerationReader, Symbol};
use crate::symbols::SymbolKind;

/// A name that more files define is no name of one thing.
const MAX_FILES: usize = 32;

/// The lines of definitions, by file.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<String, BTreeSet<u32>>);

impl Definitions {
    /// Looks up the names of a plan.
    pub(super) fn of(reader: &dyn GenerationReader, plan: &Plan) -> Result<Self, SearchError> {
        let mut lines: HashMap<String, BTreeSet<u32>> = HashMap::new();
        for name in &plan.names {
            let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
            if last.is_empty() || reader.files_defining(last)? > MAX_FILES {
                continue;
            }
            let found = reader.symbols_named(last)?;
            let qualified = name.replace("::", ".").replace('#', ".");
            let is_meant = |symbol: &&Symbol| symbol.qualified_name.ends_with(&qualified);
            // What stands before a name may be a package, which no definition says.
            let some_is_meant = found.iter().any(|symbol| is_meant(&symbol));
            for symbol in found.iter().filter(|symbol| !some_is_meant || is_meant(symbol)) {
                if symbol.kind != SymbolKind::Impl {
                    lines.entry(symbol.rel_path.clone()).or_default().insert(symbol.start_line);
                }
            }
        }
        Ok(Self(lines))
    }

    /// Says whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says whether one begins in this chunk.
    pub(super) fn begin_in(&self, chunk: &Chunk) -> bool {
        self.0
            .get(&chunk.rel_path)
            .is_some_and(|lines| lines.range(chunk.start_line..=chunk.end_line).next().is_some())
    }

    /// The chunks of definitions that were not found by their words.
    pub(super) fn not_among(
        &self,
        found: &[Candidate],
        reader: &dyn GenerationReader,
    ) -> Result<Vec<Candidate>, SearchError> {
        let known: BTreeSet<&str> =
            found.iter().map(|candidate| candidate.stored.chunk.id.as_str()).collect();
        let mut missing = Vec::new();
        let mut files: Vec<&String> = self.0.keys().collect();
        files.sort();
        for file in files {
            let chunks = reader.chunks_in(file)?.into_iter();
            let is_missing = |chunk: &Chunk| self.begin_in(chunk) && !known.contains(chunk.id.as_str());
            missing.extend(chunks.filter(|stored| is_missing(&stored.chunk)).map(Candidate::of));
        }
        Ok(missing)
    }
}
