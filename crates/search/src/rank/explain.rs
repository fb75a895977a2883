//! How one thing works: its definition, who calls it, what tests it and what is written about it.

use chartroom_protocol::index::{GroupBy, ResultMode, ResultRole, SearchGroup, SearchResult, SearchScope};

use super::candidates::Candidate;
use super::{answer, find};
use crate::embed::Embedder;
use crate::paths::{Category, category};
use crate::query::plan;
use crate::request::{SearchError, SearchOutcome, SearchRequest};
use crate::store::{CallEdge, GenerationReader, Symbol};

/// What is shown of each sort, at most.
const CALLERS: usize = 5;
const TESTS: usize = 3;
const DOCS: usize = 3;
/// A call that may as well mean something else is none of this thing.
const SURE: f32 = 0.5;

/// Answers for the first definition that is found: it, then what is around it, then what else was found.
pub(super) fn explain(
    reader: &dyn GenerationReader,
    embedder: &dyn Embedder,
    request: &SearchRequest,
) -> Result<SearchOutcome, SearchError> {
    let request =
        SearchRequest { result_mode: ResultMode::Grouped, group_by: GroupBy::Symbol, ..request.clone() };
    let mut found = match named(reader, &request.query)? {
        Some(query) => find(reader, embedder, &SearchRequest { query, ..request.clone() })?,
        None => find(reader, embedder, &request)?,
    };
    let Some(thing) = first_definition(reader, &found.results)? else { return Ok(found) };
    let mut told = Told { results: Vec::new(), limit: request.limit };
    let is_thing = |group: &SearchGroup| group.symbol_id.as_ref() == Some(&thing.symbol_id);
    for result in &found.results {
        if let SearchResult::Group(group) = result
            && is_thing(group)
        {
            told.tell(group, ResultRole::Definition);
        }
    }
    let name = thing.qualified_name.rsplit('.').next().unwrap_or_default().to_owned();
    let (tests, callers): (Vec<_>, Vec<_>) = callers(reader, &request, &name, &thing)?
        .into_iter()
        .partition(|group| category(&group.file) == Category::Tests);
    for group in callers.iter().take(CALLERS) {
        told.tell(group, ResultRole::Caller);
    }
    let around = SearchRequest {
        query: format!("must:{name} {name}"),
        scope: SearchScope::Docs,
        limit: 4 * (TESTS + DOCS),
        ..request.clone()
    };
    let around = find(reader, embedder, &around)?.results;
    let of = |wanted: Category| {
        let groups = around.iter().filter_map(|result| match result {
            SearchResult::Group(group) => Some(&**group),
            SearchResult::Chunk(_) => None,
        });
        groups.filter(move |group| category(&group.file) == wanted)
    };
    for group in tests.iter().chain(of(Category::Tests)).take(TESTS) {
        told.tell(group, ResultRole::Test);
    }
    for group in of(Category::Docs).take(DOCS) {
        told.tell(group, ResultRole::Document);
    }
    for result in std::mem::take(&mut found.results) {
        told.add(result);
    }
    found.results = told.results;
    Ok(found)
}

/// What is told so far, each thing once.
struct Told {
    results: Vec<SearchResult>,
    limit: usize,
}

impl Told {
    fn tell(&mut self, group: &SearchGroup, role: ResultRole) {
        self.add(SearchResult::Group(Box::new(SearchGroup { role: Some(role), ..group.clone() })));
    }

    fn add(&mut self, result: SearchResult) {
        let id = |result: &SearchResult| match result {
            SearchResult::Group(group) => Some(group.group_id.clone()),
            SearchResult::Chunk(_) => None,
        };
        let known = self.results.iter().any(|known| id(known) == id(&result));
        if self.results.len() < self.limit && !known {
            self.results.push(result);
        }
    }
}

/// The first name of a question that something defines: "how does total_price work" is about `total_price`.
fn named(reader: &dyn GenerationReader, query: &str) -> Result<Option<String>, SearchError> {
    for token in query.split_whitespace().take(64) {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let name = token.rsplit(['.', ':', '#']).next().unwrap_or(token);
        if plan::is_identifier_like(token) && !name.is_empty() && reader.files_defining(name)? > 0 {
            return Ok(Some(token.to_owned()));
        }
    }
    Ok(None)
}

/// The definition of the first result that is one.
fn first_definition(
    reader: &dyn GenerationReader,
    results: &[SearchResult],
) -> Result<Option<Symbol>, SearchError> {
    for result in results {
        if let SearchResult::Group(group) = result
            && let Some(id) = &group.symbol_id
            && let Some(symbol) = reader.symbol(id)?
        {
            return Ok(Some(symbol));
        }
    }
    Ok(None)
}

/// The definitions that call it, the surest first, each shown where it calls.
fn callers(
    reader: &dyn GenerationReader,
    request: &SearchRequest,
    name: &str,
    thing: &Symbol,
) -> Result<Vec<SearchGroup>, SearchError> {
    let mut edges: Vec<CallEdge> = reader.callers(&thing.symbol_id)?;
    edges.retain(|edge| edge.confidence >= SURE && edge.src_symbol_id != thing.symbol_id);
    edges.sort_by(|left, right| {
        let place = |edge: &CallEdge| (edge.site_file.clone(), edge.site_line);
        right.confidence.total_cmp(&left.confidence).then_with(|| place(left).cmp(&place(right)))
    });
    let mut sources: Vec<&str> = Vec::new();
    let mut candidates = Vec::new();
    for edge in &edges {
        if sources.len() == CALLERS + TESTS {
            break;
        }
        if sources.contains(&edge.src_symbol_id.as_str()) {
            continue;
        }
        sources.push(&edge.src_symbol_id);
        let chunks = reader.chunks_in(&edge.site_file)?;
        let has_site = |start: u32, end: u32| (start..=end).contains(&edge.site_line);
        let site = chunks.into_iter().find(|stored| has_site(stored.chunk.start_line, stored.chunk.end_line));
        candidates.extend(
            site.map(|stored| Candidate { score: f64::from(edge.confidence), ..Candidate::of(stored) }),
        );
    }
    let request = SearchRequest { limit: CALLERS + TESTS, ..request.clone() };
    let (results, _) = answer::results(reader, &request, &plan::plan(name), candidates)?;
    let groups = results.into_iter().filter_map(|result| match result {
        SearchResult::Group(group) => Some(*group),
        SearchResult::Chunk(_) => None,
    });
    Ok(groups.collect())
}
