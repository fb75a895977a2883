//! Asking the reader: a lexical pass and a dense one, fused by rank.

use std::collections::{BTreeSet, HashMap};

use super::channel::NEAR_IN_WORDS;
use crate::embed::Embedder;
use crate::query::forms::{FORM_WEIGHT, other_forms};
use crate::query::plan::{Intent, Plan, is_stopword};
use crate::query::words::for_each_term;
use crate::request::{SearchError, SearchWarning};
use crate::store::{Among, GenerationReader, LexicalField, LexicalTerm, Scored, StoredChunk};

/// The constant of reciprocal rank fusion.
const FUSION: f64 = 60.0;
/// A query can be a whole issue; words beyond this add nothing that the rarest of these do not say.
const MAX_WORDS: usize = 256;

/// Passes with the place a chunk has in each.
type Ranks = Vec<(&'static str, usize)>;

/// A chunk that may answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) stored: StoredChunk,
    pub(super) fusion: f64,
    pub(super) lexical: f64,
    pub(super) multiplier: f64,
    pub(super) exact: bool,
    pub(super) defines: bool,
    /// A name that is asked for is defined in it.
    pub(super) is_definition: bool,
    pub(super) score: f64,
    /// Its place in each pass, from 1.
    pub(super) ranks: Ranks,
}

impl Candidate {
    /// A chunk of which nothing is known yet.
    pub(super) fn of(stored: StoredChunk) -> Self {
        Self {
            stored,
            fusion: 0.0,
            lexical: 0.0,
            multiplier: 1.0,
            exact: false,
            defines: false,
            is_definition: false,
            score: 0.0,
            ranks: Vec::new(),
        }
    }
}

/// What is asked.
pub(super) struct Passes {
    terms: Vec<LexicalTerm>,
    /// The query's vector, or why there is none.
    dense: Option<Result<Vec<f32>, String>>,
    dense_weight: f64,
    /// What the nearness of a file weighs.
    pub(super) near_weight: f32,
}

impl Passes {
    pub(super) fn prepare(embedder: &dyn Embedder, plan: &Plan, text: &str) -> Self {
        // The mean of a whole issue's words says nothing, and a name of the code is better looked for as it is: the built-in
        // table is asked short questions in words only.
        let fits = plan.in_words || embedder.provider() != "static";
        let asks = plan.dense && fits && embedder.dimension() > 0 && !text.trim().is_empty();
        let dense = asks.then(|| embedder.embed_query(text).map_err(|error| error.to_string()));
        // One or two words are looked for as words first; a table knows no more of them than what they often mean.
        let dense_weight = if embedder.provider() == "static" { 0.4 } else { 1.0 };
        let near_weight = if plan.in_words { NEAR_IN_WORDS } else { 1.0 };
        Self { terms: lexical_terms(plan, text), dense, dense_weight, near_weight }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = vec!["lexical"];
        if matches!(self.dense, Some(Ok(_))) {
            names.push("dense");
        }
        names
    }

    pub(super) fn warnings(&self) -> Vec<SearchWarning> {
        match &self.dense {
            Some(Err(reason)) => vec![SearchWarning::NoVectors { reason: reason.clone() }],
            _ => Vec::new(),
        }
    }

    /// The nearest chunks of these files, each with its file.
    pub(super) fn nearest(
        &self,
        reader: &dyn GenerationReader,
        limit: usize,
        among: &Among<'_>,
    ) -> Result<Vec<(Scored, String)>, SearchError> {
        match &self.dense {
            Some(Ok(vector)) => Ok(reader.dense_in(vector, limit, among)?),
            _ => Ok(Vec::new()),
        }
    }

    /// Up to `limit` candidates of each pass, fused.
    pub(super) fn run(
        &self,
        reader: &dyn GenerationReader,
        limit: usize,
    ) -> Result<Vec<Candidate>, SearchError> {
        let lexical = reader.lexical(&self.terms, limit)?;
        let dense = match &self.dense {
            Some(Ok(vector)) => reader.dense(vector, limit)?,
            Some(Err(reason)) if self.terms.is_empty() => {
                return Err(SearchError::AllPassesFailed(reason.clone()));
            }
            _ => Vec::new(),
        };
        let mut order: Vec<String> = Vec::new();
        let mut fused: HashMap<String, (f64, Ranks)> = HashMap::new();
        for (name, weight, list) in [("lexical", 1.0, lexical), ("dense", self.dense_weight, dense)] {
            let (mut rank, mut last) = (0, None);
            for (at, Scored { chunk_id, score }) in list.into_iter().enumerate() {
                // Equal scores have equal ranks: nothing but the order of ids puts one before the other.
                if last != Some(score) {
                    (rank, last) = (at + 1, Some(score));
                }
                let entry = fused.entry(chunk_id.clone()).or_insert_with(|| {
                    order.push(chunk_id);
                    (0.0, Vec::new())
                });
                entry.0 += weight / (FUSION + rank as f64);
                entry.1.push((name, rank));
            }
        }
        // The worst are not worth being read.
        order.sort_by(|left, right| {
            let score = |id: &String| fused.get(id).map_or(0.0, |(score, _)| *score);
            score(right).total_cmp(&score(left)).then_with(|| left.cmp(right))
        });
        order.truncate(limit);
        let candidates = reader.chunks(&order)?.into_iter().filter_map(|stored| {
            let (fusion, ranks) = fused.remove(&stored.chunk.id)?;
            Some(Candidate { fusion, ranks, ..Candidate::of(stored) })
        });
        Ok(candidates.collect())
    }
}

/// Every word once, in the label, the path and the text. Stopwords only when there is nothing else.
fn lexical_terms(plan: &Plan, text: &str) -> Vec<LexicalTerm> {
    let mut words: Vec<String> = Vec::new();
    let mut stopwords: Vec<String> = Vec::new();
    for_each_term(text, |word| {
        let list = if is_stopword(word) || word.chars().count() < 2 { &mut stopwords } else { &mut words };
        if list.len() < MAX_WORDS && !list.iter().any(|known| known == word) {
            list.push(word.to_owned());
        }
    });
    let words = if words.is_empty() { stopwords } else { words };
    let label_weight = match plan.intent {
        Intent::Identifier | Intent::Uncertain => 2.5,
        Intent::Mixed => 2.0,
        Intent::Semantic => 1.5,
    };
    let label_weight = if plan.reference_seeking { 0.5 } else { label_weight };
    let fields =
        [(LexicalField::Symbol, label_weight), (LexicalField::Path, 0.8), (LexicalField::Content, 1.0)];
    let mut terms: Vec<LexicalTerm> = Vec::new();
    for word in &words {
        terms.extend(fields.map(|(field, weight)| LexicalTerm { text: word.clone(), field, weight }));
    }
    for form in words.iter().flat_map(|word| other_forms(word)).collect::<BTreeSet<String>>() {
        if !words.contains(&form) {
            terms.extend(fields.map(|(field, weight)| LexicalTerm {
                text: form.clone(),
                field,
                weight: weight * FORM_WEIGHT,
            }));
        }
    }
    terms
}
