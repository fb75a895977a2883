//! A search: words and vectors asked, fused by rank, weighed by what each chunk shows, grouped.
//!
//! Everything after the two questions to the reader is pure. Weights are the reference's where it has them; ours are
//! named where they differ.

mod answer;
mod bm25;
mod by_file;
mod candidates;
mod channel;
mod chunk_scores;
mod definitions;
mod evidence;
mod explain;
mod files;
mod filter;
mod group;
mod hashes;
mod mentioned;
mod noise;
mod past;
mod places;
mod study;

#[cfg(test)]
mod tests;

use chartroom_protocol::index::{RankingMode, SearchAsk, SearchScope};
use serde_json::{Value, json};

use crate::embed::Embedder;
use crate::paths;
use crate::query::operators;
use crate::query::plan::{self, Intent, Plan};
use crate::query::weigh::weigh;
use crate::request::{SearchError, SearchOutcome, SearchRequest, SearchWarning};
use crate::store::GenerationReader;
use candidates::{Candidate, Passes};
use definitions::Definitions;
use filter::{Filter, Removed};

pub use channel::{Channel, ChannelWeights, N_CHANNELS};
pub use study::{StudiedFile, rankings_without, study};

/// The most candidates that are looked at.
const MAX_CANDIDATES: usize = 80;
/// How often a search with `must:` asks again for more.
const MUST_RETRIES: usize = 2;
/// What changed files are worth, and how many may have changed for that to say anything.
const CHANGED_BOOST: f64 = 1.10;
const MAX_CHANGED_FILES: usize = 50;

/// Answers a search.
pub fn search(
    reader: &dyn GenerationReader,
    embedder: &dyn Embedder,
    request: &SearchRequest,
) -> Result<SearchOutcome, SearchError> {
    match request.ask {
        SearchAsk::Find | SearchAsk::Edit => find(reader, embedder, request),
        SearchAsk::Explain => explain::explain(reader, embedder, request),
    }
}

/// The best first, whatever the query looks like; for an edit always by file.
fn find(
    reader: &dyn GenerationReader,
    embedder: &dyn Embedder,
    request: &SearchRequest,
) -> Result<SearchOutcome, SearchError> {
    let parsed = operators::parse(&request.query);
    let plan = match request.ask {
        SearchAsk::Edit => plan::plan(&parsed.text).about_files(),
        SearchAsk::Find | SearchAsk::Explain => plan::plan(&parsed.text),
    };
    let definitions = Definitions::of(reader, &plan)?;
    // A few words of which none is the name of anything here are about the code, whatever they are spelled like.
    let names_nothing = plan.n_tokens > 1 && !plan.reference_seeking && definitions.is_empty();
    let plan = if names_nothing { plan.about_files() } else { plan };
    let (filter, bad_patterns) = Filter::new(request, &parsed.operators);
    let passes = Passes::prepare(embedder, &plan, &parsed.text);
    let about = plan.about_files.then(|| weigh(&title(&request.query), &parsed.text));
    let mut warnings = passes.warnings();
    warnings.extend(bad_patterns);
    if parsed.only_operators {
        warnings.push(SearchWarning::OnlyOperators);
    }

    let mut limit = (request.limit * 8).clamp(32, MAX_CANDIDATES);
    // A subtree, a language, a pattern: what they leave may stand far down, so that more is asked for at once. Without
    // tests and docs about half is left.
    if filter.is_narrow() {
        limit = MAX_CANDIDATES * 4;
    } else if request.scope != SearchScope::Mixed {
        limit += limit / 2;
    }
    // Files that the paths leave out take no part in a ranking by file: every one that comes back counts, unless what its
    // chunks hold is asked for.
    if about.is_some() && !filter.looks_into_chunks() {
        limit = request.limit * 2;
    }
    let mut attempts = 0;
    let (mut ranked, removed) = loop {
        let found = match &about {
            Some(query) => {
                let history = request.history.as_deref();
                let weights = ChannelWeights::of_query(query, request.ask);
                let weights = if plan.in_words { weights.in_words() } else { weights };
                by_file::candidates(reader, query, &weights, &passes, &filter, history, limit)?
            }
            None => passes.run(reader, limit)?,
        };
        let exhausted = found.len() < limit;
        let mut found = found;
        found.extend(definitions.not_among(&found, reader)?);
        let (kept, removed) = filter.apply(found);
        let ranked = match &about {
            Some(_) => boosted(kept, request),
            None => rank(kept, &plan, &definitions, request),
        };
        attempts += 1;
        let enough = filter.must_is_empty() || ranked.len() >= request.limit;
        if enough || exhausted || attempts > MUST_RETRIES {
            break (ranked, removed);
        }
        limit *= 2;
    };
    if ranked.is_empty() && !filter.must_is_empty() {
        warnings.push(SearchWarning::MustUnsatisfied);
    }
    order(&mut ranked, &plan);
    let lead = about.as_ref().and_then(|_| lead(&ranked));
    let debug = request.debug.then(|| debug(&plan, request, &passes, limit, attempts, &removed, &filter));
    let (results, files) = answer::results(reader, request, &plan, ranked)?;
    warnings.sort();
    warnings.dedup();
    Ok(SearchOutcome { noise_mitigation: noise::of(&files), results, warnings, lead, debug })
}

/// How far the first file is ahead of the second.
fn lead(ranked: &[Candidate]) -> Option<f64> {
    let first = ranked.first().filter(|first| first.score > 0.0)?;
    let path = |candidate: &Candidate| candidate.stored.chunk.rel_path.clone();
    let second = ranked.iter().find(|candidate| path(candidate) != path(first));
    Some(1.0 - second.map_or(0.0, |second| second.score) / first.score)
}

/// The first line of a query, without its operators.
fn title(query: &str) -> String {
    operators::parse(query.trim_start().lines().next().unwrap_or_default()).text
}

/// Candidates that are weighed already: only what was changed goes up.
fn boosted(mut candidates: Vec<Candidate>, request: &SearchRequest) -> Vec<Candidate> {
    let boost = boosts_changed(request);
    for candidate in &mut candidates {
        if boost && request.changed_files.contains(&candidate.stored.chunk.rel_path) {
            candidate.multiplier = CHANGED_BOOST;
            candidate.score *= CHANGED_BOOST;
        }
    }
    candidates
}

/// Weighs every candidate.
fn rank(
    candidates: Vec<Candidate>,
    plan: &Plan,
    definitions: &Definitions,
    request: &SearchRequest,
) -> Vec<Candidate> {
    let boost = boosts_changed(request);
    candidates
        .into_iter()
        .map(|mut candidate| {
            let evidence = evidence::of(plan, &candidate.stored.chunk);
            let path = &candidate.stored.chunk.rel_path;
            let category = paths::category(path);
            let changed = if boost && request.changed_files.contains(path) { CHANGED_BOOST } else { 1.0 };
            candidate.is_definition = definitions.begin_in(&candidate.stored.chunk);
            candidate.exact = evidence.exact;
            candidate.lexical = evidence.score * plan.lexical_weight;
            candidate.defines = evidence.defines;
            candidate.multiplier = category.multiplier(request.scope) * changed;
            let defined = if evidence.defines { DEFINITION_BOOST } else { 1.0 };
            candidate.score = (candidate.fusion * defined + candidate.lexical) * candidate.multiplier;
            candidate
        })
        .collect()
}

/// A chunk that defines what is asked for is more than one that mentions it. Ours.
const DEFINITION_BOOST: f64 = 1.5;

fn boosts_changed(request: &SearchRequest) -> bool {
    request.ranking_mode == RankingMode::AutoChangedFirst
        && (1..=MAX_CHANGED_FILES).contains(&request.changed_files.len())
}

/// Definitions of the names that are asked for first, then what is exact when that is asked for, then by score; ties by
/// where it stands.
fn order(candidates: &mut [Candidate], plan: &Plan) {
    candidates.sort_by(|left, right| {
        let pinned = |candidate: &Candidate| plan.pin_exact && candidate.exact;
        let place = |candidate: &Candidate| {
            let chunk = &candidate.stored.chunk;
            (chunk.rel_path.clone(), chunk.start_line, chunk.id.clone())
        };
        right
            .is_definition
            .cmp(&left.is_definition)
            .then_with(|| pinned(right).cmp(&pinned(left)))
            .then_with(|| right.score.total_cmp(&left.score))
            .then_with(|| place(left).cmp(&place(right)))
    });
}

fn debug(
    plan: &Plan,
    request: &SearchRequest,
    passes: &Passes,
    limit: usize,
    attempts: usize,
    removed: &Removed,
    filter: &Filter,
) -> Value {
    json!({
        "queryIntent": {
            "intent": plan.intent.as_str(),
            "confidence": plan.confidence.as_str(),
            "referenceSeeking": plan.reference_seeking,
            "singleTermLookup": plan.intent == Intent::Uncertain && plan.terms.len() == 1,
        },
        "retrieval": { "mode": if plan.dense { "hybrid" } else { "lexical" }, "scorePolicyKind": "rank_fusion" },
        "passesUsed": passes.names(),
        "candidateLimit": limit,
        "mustRetry": { "attempts": attempts, "used": attempts > 1 },
        "operatorSummary": filter.summary(),
        "filterSummary": removed.summary(),
        "changedFilesBoost": { "applied": boosts_changed(request), "changedFiles": request.changed_files.len() },
        "rerank": { "enabled": false },
    })
}
