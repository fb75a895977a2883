//! `chartroom index eval`: how well search finds the place, measured in a repository's own history.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chartroom_search::embed::StaticWords;
use chartroom_search::eval::{self, Answer, EvalError, Objects, Options, Row};
use chartroom_search::history::{FORMAT, History, MAX_COMMITS};
use chartroom_workspace::{CanonicalRoot, SpawnGate, git};
use tokio::runtime::Handle;

use super::index::print_json;
use super::{answer, block_on, settings};
use crate::app::gate;
use crate::app::index::parser;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A folder of a git repository that you have trusted
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Ask these texts instead of the repository's own fixes: an object a line with id, base_commit, text, gold
    #[arg(long, value_name = "FILE.jsonl")]
    set: Option<PathBuf>,
    /// At most so many fixes (the newest) or texts of the set (the first)
    #[arg(long, default_value_t = 40, value_name = "N")]
    limit: usize,
    /// Also ask so many names and so many sentences of comments of the newest tree
    #[arg(long, default_value_t = 40, value_name = "N")]
    questions: usize,
    /// Also say what each part of the ranking adds
    #[arg(long)]
    ablation: bool,
    /// Print the figures of whole texts and every answer as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    block_on(async {
        let loaded = settings::load(Overrides::default())?;
        let data = settings::data()?;
        let gate = gate::open(data.path(), &loaded.config.sandbox)?;
        let root = CanonicalRoot::open(&args.path).map_err(|error| Failure::impossible(error.to_string()))?;
        let objects = GateObjects { gate: gate.clone(), root: root.clone(), runtime: Handle::current() };
        let rows = match &args.set {
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::impossible(format!("{} cannot be read ({error})", file.display()))
                })?;
                let mut rows = eval::read_rows(&text)
                    .map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
                rows.truncate(args.limit);
                rows
            }
            None => mined(&gate, &root, args.limit).await?,
        };
        if rows.is_empty() {
            return Err(Failure::impossible(format!(
                "{root} has no commit that can be asked about: a fix with a body that says what was wrong, of one to three \
                 source files"
            )));
        }
        let options = Options {
            ablation: args.ablation,
            names: args.questions,
            sentences: args.questions,
            ..Options::default()
        };
        let parser = Arc::new(parser(&data, Some(gate))?);
        let embedder = StaticWords::built_in().map_err(|error| Failure::impossible(error.to_string()))?;
        let asked = tokio::task::spawn_blocking(move || {
            let mut answers: Vec<Answer> = Vec::new();
            let mut keep = |answer: Answer| answers.push(answer);
            eval::evaluate(&objects, &rows, parser, Arc::new(embedder), &options, &mut [], &mut keep)?;
            Ok::<Vec<Answer>, EvalError>(answers)
        });
        let answers = asked
            .await
            .map_err(|error| Failure::impossible(format!("the measurement ended ({error})")))?
            .map_err(|error| Failure::impossible(format!("{root} cannot be measured: {error}")))?;
        if args.json {
            print_json(&eval::summary(&answers))?;
        } else {
            answer(&eval::report(&answers))?;
        }
        Ok(Outcome::Done)
    })
}

/// The repository's own fixes as rows: what each was about, asked of the tree before it.
async fn mined(gate: &SpawnGate, root: &CanonicalRoot, limit: usize) -> Result<Vec<Row>, Failure> {
    let log = git::log_at(gate, root, "HEAD", FORMAT, MAX_COMMITS)
        .await
        .map_err(|error| Failure::impossible(error.to_string()))?;
    let mined = eval::mine(&History::read("HEAD", &log).commits);
    let row = |mined: eval::MinedRow| Row {
        base_commit: format!("{}^", mined.commit),
        id: mined.commit,
        repo: root.to_string(),
        language: mined.language,
        text: mined.text,
        gold: mined.gold,
        leak: None,
    };
    Ok(mined.into_iter().take(limit).map(row).collect())
}

struct GateObjects {
    gate: SpawnGate,
    root: CanonicalRoot,
    runtime: Handle,
}

impl Objects for GateObjects {
    fn tree(&self, commit: &str) -> Result<BTreeMap<String, String>, String> {
        self.runtime.block_on(git::tree_at(&self.gate, &self.root, commit)).map_err(|error| error.to_string())
    }

    fn contents(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, String> {
        self.runtime.block_on(git::contents(&self.gate, &self.root, names)).map_err(|error| error.to_string())
    }

    fn log(&self, commit: &str) -> Result<Vec<u8>, String> {
        self.runtime
            .block_on(git::log_at(&self.gate, &self.root, commit, FORMAT, MAX_COMMITS))
            .map_err(|error| error.to_string())
    }
}
