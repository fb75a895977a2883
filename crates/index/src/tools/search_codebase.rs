//! `search_codebase`: the gates, then freshness, then the ranking.

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::index::{
    FreshnessDecision, FreshnessMode, Hints, IndexStatus, SearchCodebaseParams, SearchCodebaseResponse,
    Warning,
};

use super::ToolError;
use super::answer::refusal;
use super::doubts::doubts;
use super::resolve::{Resolved, resolve};
use crate::core::{Core, ReadContext};
use crate::sync::{self, Purpose, SEARCH_THRESHOLD_MS};
use chartroom_search::bundle;
use chartroom_search::embed::Embedder;
use chartroom_search::rank;
use chartroom_search::request::{SearchRequest, SearchWarning};

/// A longer query is cut by nobody's intention; it is refused.
const MAX_QUERY_CHARS: usize = 20_000;

/// Refuses what the schema cannot say.
fn validate(params: &SearchCodebaseParams) -> Result<(), ToolError> {
    if params.query.trim().is_empty() {
        return Err(ToolError("The query is empty. Say in words or identifiers what to look for.".into()));
    }
    if params.query.chars().count() > MAX_QUERY_CHARS {
        return Err(ToolError(format!("The query is longer than {MAX_QUERY_CHARS} characters. Shorten it.")));
    }
    if params.limit.is_some_and(|limit| !(1..=SearchCodebaseParams::MAX_LIMIT).contains(&limit)) {
        return Err(ToolError(format!("limit must be between 1 and {}.", SearchCodebaseParams::MAX_LIMIT)));
    }
    let budget = SearchCodebaseParams::BUDGET;
    if params.budget.is_some_and(|wanted| !budget.contains(&wanted)) {
        let (from, to) = (budget.start(), budget.end());
        return Err(ToolError(format!("budget must be between {from} and {to} tokens.")));
    }
    Ok(())
}

/// Searches the codebase that encloses the path, only below the path.
pub(crate) fn search(
    core: &Arc<Core>,
    params: SearchCodebaseParams,
) -> Result<SearchCodebaseResponse, ToolError> {
    validate(&params)?;
    let context = core.read_context();
    let resolved = resolve(context, &params.path)?;
    let mut response = empty(&params, &resolved);
    response.warnings.extend(doubts(&params.query));
    let mut hints = match refusal(&resolved, &params.path, &core.fingerprint) {
        Ok(hints) => hints,
        Err(refusal) => {
            if refusal.status == IndexStatus::RequiresReindex {
                response.freshness_decision =
                    Some(FreshnessDecision::of(FreshnessMode::SkippedRequiresReindex));
            }
            response.status = refusal.status;
            response.reason = Some(refusal.reason);
            response.message = Some(refusal.message);
            response.hints = refusal.hints.some();
            response.indexing = refusal.indexing;
            response.compatibility = refusal.compatibility;
            return Ok(response);
        }
    };
    let root = resolved.root.clone().unwrap_or_default();
    let mut freshness = sync::ensure_freshness(core, &root, SEARCH_THRESHOLD_MS, Purpose::Passive).decision;
    freshness.team = crate::team::overlay(core, &root);
    tell_staleness(&freshness, &mut response.warnings);
    if freshness.mode == FreshnessMode::SkippedIndexing {
        hints.indexing = resolved.progress.clone();
    }
    response.freshness_decision = Some(freshness);
    answer(core, context, &root, resolved.below, params, &mut response, &mut hints)?;
    hints.version = Some(1);
    response.hints = hints.some();
    Ok(response)
}

fn answer(
    core: &Core,
    context: ReadContext<'_>,
    root: &str,
    below: String,
    params: SearchCodebaseParams,
    response: &mut SearchCodebaseResponse,
    hints: &mut Hints,
) -> Result<(), ToolError> {
    let failed = |error: &dyn std::fmt::Display| ToolError(format!("Search in '{root}' failed: {error}."));
    let reader = context.store.open_reader(root).map_err(|error| failed(&error))?;
    let Some(reader) = reader else {
        return Err(failed(&"its index is gone; run manage_index with action='status'"));
    };
    let request = SearchRequest {
        root: root.to_owned(),
        below: (!below.is_empty()).then_some(below),
        query: params.query,
        ask: params.ask,
        scope: params.scope,
        result_mode: params.result_mode,
        group_by: params.group_by,
        ranking_mode: params.ranking_mode,
        changed_files: core.git.known(Path::new(root)),
        history: core.commits.known(Path::new(root)),
        limit: response.limit as usize,
        debug: params.debug,
        now_ms: jiff::Timestamp::now().as_millisecond(),
    };
    let outcome = rank::search(&*reader, &*core.embedder, &request).map_err(|error| failed(&error))?;
    response.results = outcome.results;
    if only_knows_words(&*core.embedder) && !bundle::has_a_word(&response.results, &request.query) {
        response.results.clear();
    }
    if response.results.is_empty() {
        response.message = Some(
            "Nothing in this index matches the query. Ask with a name or a word from the code, or with scope='mixed' for tests and docs."
                .to_owned(),
        );
    }
    if let Some(budget) = params.budget {
        let made = bundle::bundle(&*reader, &response.results, &request.query, outcome.lead, budget);
        response.bundle = Some(made.map_err(|error| failed(&error))?);
    }
    let told = |warning: &SearchWarning| Warning::new(warning.code(), warning.message());
    response.warnings.extend(outcome.warnings.iter().map(told));
    response.warnings.sort_by(|a, b| (&a.code, &a.message).cmp(&(&b.code, &b.message)));
    hints.noise_mitigation = outcome.noise_mitigation;
    hints.debug_search = outcome.debug;
    Ok(())
}

/// An embedder without vectors, or with a fixed one for each word, which has a nearest chunk for whatever is typed.
fn only_knows_words(embedder: &dyn Embedder) -> bool {
    embedder.dimension() == 0 || embedder.provider() == "static"
}

fn tell_staleness(freshness: &FreshnessDecision, warnings: &mut Vec<Warning>) {
    let told = match freshness.mode {
        FreshnessMode::Synced
        | FreshnessMode::SkippedRecent
        | FreshnessMode::Coalesced
        | FreshnessMode::ReconciledIgnoreChange => return,
        FreshnessMode::SkippedIndexing => "a rebuild is running; the former index answers",
        FreshnessMode::SkippedMissingPath => "the folder is missing now; the index answers as it was",
        FreshnessMode::SkippedVanishedFiles => {
            let text = freshness.error_message.clone().unwrap_or_default();
            warnings.push(Warning::new("SEARCH_FILES_VANISHED", text));
            return;
        }
        FreshnessMode::SkippedRequiresReindex
        | FreshnessMode::IgnoreReloadFailed
        | FreshnessMode::SyncFailed => {
            "changes since the last sync could not be followed; the index answers as it was"
        }
    };
    let detail = freshness.error_message.as_deref().map(|error| format!(" ({error})")).unwrap_or_default();
    warnings.push(Warning::new("SEARCH_DIRTY_WORKTREE_NOT_SYNCED", format!("{told}{detail}")));
}

fn empty(params: &SearchCodebaseParams, resolved: &Resolved) -> SearchCodebaseResponse {
    SearchCodebaseResponse {
        status: IndexStatus::Ok,
        reason: None,
        path: params.path.clone(),
        codebase_path: resolved.root.clone(),
        query: params.query.clone(),
        scope: params.scope,
        group_by: params.group_by,
        limit: params.limit.unwrap_or(SearchCodebaseParams::DEFAULT_LIMIT),
        result_mode: params.result_mode,
        freshness_decision: None,
        warnings: Vec::new(),
        message: None,
        hints: None,
        indexing: None,
        compatibility: None,
        results: Vec::new(),
        bundle: None,
    }
}
