//! Chunks of one symbol, file or neighbourhood as one result, and not too many of one file.

use std::collections::HashMap;

use chartroom_protocol::index::GroupBy;

use super::candidates::Candidate;
use crate::query::plan::{Intent, Plan};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

/// Lines that share a group when there is no symbol.
const WINDOW: u32 = 25;
const PER_FILE: usize = 2;
const PER_FILE_SECOND: usize = 3;

/// Candidates shown as one.
pub(super) struct Group {
    /// The best first.
    pub(super) candidates: Vec<Candidate>,
    /// The definition that the group is about.
    pub(super) symbol: Option<Symbol>,
}

impl Group {
    pub(super) fn best(&self) -> &Candidate {
        &self.candidates[0]
    }

    pub(super) fn span(&self) -> (u32, u32) {
        let lines = |pick: fn(&Candidate) -> u32| self.candidates.iter().map(pick);
        let start = lines(|candidate| candidate.stored.chunk.start_line).min().unwrap_or(1);
        (start, lines(|candidate| candidate.stored.chunk.end_line).max().unwrap_or(start))
    }
}

/// The definition that a chunk is shown as: the one in it that a term names, else the one it is about.
pub(super) fn symbol_of<'a>(candidate: &Candidate, plan: &Plan, symbols: &'a [Symbol]) -> Option<&'a Symbol> {
    let chunk = &candidate.stored.chunk;
    let named = symbols
        .iter()
        .filter(|symbol| {
            (chunk.start_line..=chunk.end_line).contains(&symbol.start_line)
                && symbol.kind != SymbolKind::Impl
        })
        .find(|symbol| {
            let name = symbol.qualified_name.rsplit('.').next().unwrap_or_default().to_lowercase();
            plan.terms.iter().any(|term| term.whole && term.text == name)
        });
    named.or_else(|| symbols.iter().find(|symbol| Some(&symbol.symbol_id) == chunk.symbol_id.as_ref()))
}

/// Groups in the order of their best candidates.
pub(super) fn grouped(
    candidates: Vec<(Candidate, Option<Symbol>)>,
    by: GroupBy,
    plan: &Plan,
    limit: usize,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let collapses = plan.intent == Intent::Identifier || plan.reference_seeking;
    for (candidate, symbol) in candidates {
        let chunk = &candidate.stored.chunk;
        let key = match (by, &symbol) {
            (GroupBy::File, _) => format!("file:{}", chunk.rel_path),
            // The same declaration twice in a file, for people who look for its name.
            (GroupBy::Symbol, Some(symbol)) if collapses => {
                format!("label:{}:{}", chunk.rel_path, symbol.label)
            }
            (GroupBy::Symbol, Some(symbol)) => format!("symbol:{}", symbol.symbol_id),
            (GroupBy::Symbol, None) => {
                format!("fallback:{}:{}", chunk.rel_path, chunk.start_line.saturating_sub(1) / WINDOW)
            }
        };
        match places.get(&key) {
            Some(at) => groups[*at].candidates.push(candidate),
            None => {
                places.insert(key, groups.len());
                groups.push(Group { candidates: vec![candidate], symbol });
            }
        }
    }
    diverse(groups, by, limit)
}

/// At most two groups of a file; when that leaves too few, three.
fn diverse(groups: Vec<Group>, by: GroupBy, limit: usize) -> Vec<Group> {
    if by == GroupBy::File {
        return groups.into_iter().take(limit).collect();
    }
    let mut per_file: HashMap<String, usize> = HashMap::new();
    let mut chosen = vec![false; groups.len()];
    let mut count = 0;
    for most in [PER_FILE, PER_FILE_SECOND] {
        for (group, chosen) in groups.iter().zip(&mut chosen) {
            let taken = per_file.entry(group.best().stored.chunk.rel_path.clone()).or_insert(0);
            if !*chosen && *taken < most && count < limit {
                *chosen = true;
                *taken += 1;
                count += 1;
            }
        }
    }
    groups.into_iter().zip(chosen).filter_map(|(group, chosen)| chosen.then_some(group)).collect()
}
