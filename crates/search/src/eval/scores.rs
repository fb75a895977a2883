//! The scores of every file for every row, channel by channel: what weights are tried on before they are built in.

use std::sync::Arc;

use serde::Serialize;

use super::questions::Question;
use super::rows::Row;
use super::run::{EvalError, Kind, Objects, Options, request};
use super::stages::{Stage, Stages};
use crate::embed::Embedder;
use crate::history::{History, HistoryWords};
use crate::parser::Parser;
use crate::rank;

/// What every file scores for one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scores {
    /// The row.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// Of the right files.
    pub language: String,
    /// What was asked.
    pub kind: Kind,
    /// Whether it is a short question in words.
    pub in_words: bool,
    /// How many words it has, separated by space.
    pub n_tokens: usize,
    /// The right files.
    pub gold: Vec<String>,
    /// Each file with what it is worth before anything is asked and its score in each channel, in the channels' order.
    pub files: Vec<(String, f32, Vec<f32>)>,
}

/// Studies the rows of one repository: each whole text and each title, and of the first row's tree the sentences.
pub fn scores(
    objects: &dyn Objects,
    rows: &[Row],
    parser: Arc<dyn Parser>,
    embedder: Arc<dyn Embedder>,
    options: &Options,
    each: &mut dyn FnMut(Scores),
) -> Result<(), EvalError> {
    let mut stages = Stages::new(objects, parser, Arc::clone(&embedder), options.keep.as_deref(), false);
    for (at, row) in rows.iter().enumerate() {
        let stage = stages.at(row)?;
        let history = Arc::new(HistoryWords::of(&History::read(&row.base_commit, &stage.log)));
        let mut study = |stage: &Stage, kind: Kind, text: &str, gold: &[String]| {
            let request = request(text, Some(Arc::clone(&history)));
            let (files, in_words) = rank::study(&*stage.reader, &*embedder, &request)?;
            each(Scores {
                id: row.id.clone(),
                repo: row.repo.clone(),
                language: row.language.clone(),
                kind,
                in_words,
                n_tokens: text.split_whitespace().count(),
                gold: gold.to_vec(),
                files: files
                    .into_iter()
                    .map(|file| (file.path, file.standing, file.channels.to_vec()))
                    .collect(),
            });
            Ok::<(), EvalError>(())
        };
        study(&stage, Kind::Issue, &row.text, &row.gold)?;
        study(&stage, Kind::Title, row.title(), &row.gold)?;
        drop(stage);
        if at == 0 && options.sentences > 0 {
            let (questions, stage) = stages.sentences(row, options.sentences)?;
            for Question { text, file, .. } in questions {
                study(&stage, Kind::Phrase, &text, &[file])?;
            }
        }
    }
    Ok(())
}
