//! Asking every row of every system.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use chartroom_protocol::index::{GroupBy, RankingMode, ResultMode, SearchAsk, SearchResult, SearchScope};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::beside::{Plain, plain_ranking};
use super::questions::{Question, names};
use super::rows::{Leak, Row};
use super::stages::{Stage, Stages};
use super::tree::TreeError;
use crate::embed::{Embedder, NoEmbedder};
use crate::history::{History, HistoryWords};
use crate::parser::Parser;
use crate::paths::is_searched;
use crate::rank::{self, Channel};
use crate::request::{SearchError, SearchRequest};
use crate::store::StoreError;
use crate::symbols::Language;

/// Files that an answer is looked at.
const DEPTH: usize = 20;

/// Ours, as the tool asks it.
pub const OURS: &str = "chartroom";
/// Ours with words alone.
const WITHOUT_VECTORS: &str = "chartroom, words alone";

/// Where trees, files and logs come from.
pub trait Objects {
    /// The files of a commit with the names of their contents.
    fn tree(&self, commit: &str) -> Result<BTreeMap<String, String>, String>;
    /// Contents by name, in order.
    fn contents(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, String>;
    /// `git log` of a commit's ancestors, as [`crate::history::FORMAT`] has it.
    fn log(&self, commit: &str) -> Result<Vec<u8>, String>;
}

/// What sort of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A whole text.
    Issue,
    /// Its first line.
    Title,
    /// A name of the code.
    Symbol,
    /// A sentence in words.
    Phrase,
}

/// One system's answer to one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The row.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// Of the right files.
    pub language: String,
    /// What was asked.
    pub kind: Kind,
    /// Whether the question gives the file away.
    pub leak: Leak,
    /// Who answered.
    pub system: String,
    /// The right files.
    pub gold: Vec<String>,
    /// The files of the answer, the best first.
    pub files: Vec<String>,
    /// How long it took.
    pub ms: f64,
    /// How far the first answer is ahead, 0 to 1, where a system tells.
    pub lead: Option<f64>,
}

/// Why rows could not be asked.
#[derive(Debug, Error)]
pub enum EvalError {
    /// The repository did not answer.
    #[error("{0}")]
    Objects(String),
    /// The tree could not be made.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The index failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// What is asked besides the rows' texts.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Ask ours without each channel too.
    pub ablation: bool,
    /// So many names a repository.
    pub names: usize,
    /// So many sentences a repository.
    pub sentences: usize,
    /// Where indexes are kept for the next run; whoever changes what is indexed removes the folder.
    pub keep: Option<PathBuf>,
}

/// Another program that is asked in the same tree.
pub trait Beside {
    /// Its name in reports.
    fn name(&self) -> &str;
    /// The files of its answer, the best first; none when it cannot answer.
    fn ask(&mut self, tree: &Path, query: &str) -> Option<Vec<String>>;
}

/// Asks the rows of one repository, in the order of their commits in `rows`.
pub fn evaluate(
    objects: &dyn Objects,
    rows: &[Row],
    parser: Arc<dyn Parser>,
    embedder: Arc<dyn Embedder>,
    options: &Options,
    others: &mut [Box<dyn Beside>],
    each: &mut dyn FnMut(Answer),
) -> Result<(), EvalError> {
    let mut stages =
        Stages::new(objects, parser, Arc::clone(&embedder), options.keep.as_deref(), !others.is_empty());
    for (at, row) in rows.iter().enumerate() {
        let stage = stages.at(row)?;
        let history = Arc::new(HistoryWords::of(&History::read(&row.base_commit, &stage.log)));
        let mut asker = Asker {
            row,
            embedder: &*embedder,
            ablation: options.ablation,
            history: Some(history),
            others: &mut *others,
            each: &mut *each,
        };
        asker.ask(&stage, Kind::Issue, &row.text, &row.gold)?;
        asker.ask(&stage, Kind::Title, row.title(), &row.gold)?;
        if at == 0 {
            for Question { text, file, .. } in names(&*stage.reader, options.names)? {
                asker.ask(&stage, Kind::Symbol, &text, &[file])?;
            }
            drop(stage);
            if options.sentences > 0 {
                let (questions, stage) = stages.sentences(row, options.sentences)?;
                for Question { text, file, .. } in questions {
                    asker.ask(&stage, Kind::Phrase, &text, &[file])?;
                }
            }
        }
    }
    Ok(())
}

struct Asker<'a> {
    row: &'a Row,
    embedder: &'a dyn Embedder,
    ablation: bool,
    history: Option<Arc<HistoryWords>>,
    others: &'a mut [Box<dyn Beside>],
    each: &'a mut dyn FnMut(Answer),
}

impl Asker<'_> {
    fn ask(&mut self, stage: &Stage, kind: Kind, query: &str, gold: &[String]) -> Result<(), EvalError> {
        let reader = &*stage.reader;
        let of_rows = matches!(kind, Kind::Issue | Kind::Title);
        let language = match gold.first().and_then(|path| Language::of(Path::new(path))) {
            Some(language) if !of_rows || self.row.language.is_empty() => language.name().to_owned(),
            _ => self.row.language.clone(),
        };
        let answer = |system: &str, files: Vec<String>, ms: f64, lead: Option<f64>| Answer {
            id: self.row.id.clone(),
            repo: self.row.repo.clone(),
            language: language.clone(),
            kind,
            leak: if kind == Kind::Issue { self.row.leak() } else { super::leak_of(query, gold) },
            system: system.to_owned(),
            gold: gold.to_vec(),
            files,
            ms,
            lead,
        };
        let request = request(query, self.history.clone());
        // Warm: what a snapshot costs once is not what a question costs.
        rank::search(reader, self.embedder, &request)?;
        let began = Instant::now();
        let outcome = rank::search(reader, self.embedder, &request)?;
        let ms = began.elapsed().as_secs_f64() * 1000.0;
        (self.each)(answer(OURS, files_of(&outcome.results), ms, outcome.lead));
        if self.embedder.dimension() > 0 {
            let began = Instant::now();
            let outcome = rank::search(reader, &NoEmbedder, &request)?;
            let ms = began.elapsed().as_secs_f64() * 1000.0;
            (self.each)(answer(WITHOUT_VECTORS, files_of(&outcome.results), ms, outcome.lead));
        }
        let counts = reader.words()?;
        for (name, plain) in [("BM25 per file", Plain::Files), ("BM25 per chunk", Plain::Chunks)] {
            let began = Instant::now();
            let files = plain_ranking(&*counts, query, is_searched, plain, DEPTH)?;
            (self.each)(answer(name, files, began.elapsed().as_secs_f64() * 1000.0, None));
        }
        if self.ablation && of_rows {
            let ranked = rank::rankings_without(reader, &request, &Channel::ALL, DEPTH)?;
            for (channel, files) in Channel::ALL.iter().zip(ranked) {
                (self.each)(answer(&format!("without {}", channel.name()), files, 0.0, None));
            }
        }
        for other in &mut *self.others {
            let Some(tree) = &stage.folder else { continue };
            let began = Instant::now();
            if let Some(files) = other.ask(tree, query) {
                let files = files.into_iter().filter(|file| is_searched(file)).take(DEPTH).collect();
                (self.each)(answer(other.name(), files, began.elapsed().as_secs_f64() * 1000.0, None));
            }
        }
        Ok(())
    }
}

/// As the tool asks, with more results.
pub(super) fn request(query: &str, history: Option<Arc<HistoryWords>>) -> SearchRequest {
    SearchRequest {
        root: "/".to_owned(),
        below: None,
        query: query.to_owned(),
        ask: SearchAsk::Find,
        scope: SearchScope::Runtime,
        result_mode: ResultMode::Grouped,
        group_by: GroupBy::Symbol,
        ranking_mode: RankingMode::Default,
        changed_files: BTreeSet::new(),
        history,
        limit: DEPTH,
        debug: false,
        now_ms: 0,
    }
}

/// The files of an answer, each once.
fn files_of(results: &[SearchResult]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for result in results {
        let file = match result {
            SearchResult::Group(group) => &group.file,
            SearchResult::Chunk(chunk) => &chunk.file,
        };
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    files
}
