//! The code index with its concrete parts: the store and the embedder that the config names.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chartroom_index::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_search::parser::{Answer, HelperParser, Worker, WorkerError};
use chartroom_workspace::SpawnGate;
use chartroom_workspace::helper::{self, Helper, HelperError};

use super::gate;
use crate::config::Config;
use crate::data::DataFolder;

/// Opens the index of a server, which stays, watches and syncs in the background.
pub(crate) fn serve(config: &Config, data: &DataFolder, gate: &SpawnGate) -> anyhow::Result<IndexService> {
    open(config, data, GitProbe::through(gate.clone()), Some(gate.clone()), true)
}

/// Opens the index for an MCP client, which stays, or for one tool call; without it the other tools still serve.
pub(crate) fn for_tools(
    config: &Config,
    data: &DataFolder,
    gate: &SpawnGate,
    long_running: bool,
) -> Option<IndexService> {
    open(config, data, GitProbe::through(gate.clone()), Some(gate.clone()), long_running)
        .inspect_err(|error| tracing::warn!("there are no index tools: {error:#}"))
        .ok()
}

/// Opens the index for one command.
pub(crate) fn once(config: &Config, data: &DataFolder) -> anyhow::Result<IndexService> {
    // Without it (a read-only data folder) no process is started; the index answers all the same.
    let gate = match gate::open(data.path(), &config.sandbox) {
        Ok(gate) => Some(gate),
        Err(error) => {
            tracing::warn!(%error, "git is not asked which files changed");
            None
        }
    };
    let git = gate.clone().map_or_else(GitProbe::none, GitProbe::through);
    open(config, data, git, gate, false)
}

fn open(
    config: &Config,
    data: &DataFolder,
    git: GitProbe,
    gate: Option<SpawnGate>,
    long_running: bool,
) -> anyhow::Result<IndexService> {
    let settings = IndexSettings {
        data: data.path().to_owned(),
        config: config.index.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        long_running,
        git,
        parser: Arc::new(parser(data, gate)?),
    };
    #[cfg(feature = "milvus")]
    if let Some(store) = super::team::store(&settings).context("opening the team's index")? {
        let embedder = Arc::from(chartroom_search::embed::from_config(&settings.config.embedding)?);
        return IndexService::with_parts(settings, store, embedder).context("opening the code index");
    }
    IndexService::open(settings).context("opening the code index")
}

/// A parser whose helpers are this program itself.
pub(crate) fn parser(data: &DataFolder, gate: Option<SpawnGate>) -> anyhow::Result<HelperParser> {
    // Helpers are started from threads that parse, which are none of the runtime's.
    let runtime = tokio::runtime::Handle::try_current().context("the index needs a runtime")?;
    Ok(HelperParser::new(data.path(), env!("CARGO_PKG_VERSION"), move || {
        let gate = gate.as_ref().ok_or("the data folder cannot be written, so no process is started")?;
        let _entered = runtime.enter();
        let helper = gate.spawn_helper(PARSE_HELPER).map_err(|error| error.to_string())?;
        Ok(Box::new(ParseHelper(helper)))
    }))
}

/// The hidden subcommand of a helper that parses.
pub(crate) const PARSE_HELPER: &str = "parse-helper";

/// What a helper may take: trees of the largest file that is indexed take a fifth of it.
const PARSE_MEMORY: u64 = 192 * 1024 * 1024;

/// Runs a helper that parses.
pub(crate) fn parse_helper() -> ExitCode {
    helper::serve(PARSE_MEMORY, chartroom_search::parser::serve)
}

struct ParseHelper(Helper);

impl Worker for ParseHelper {
    fn ask(&mut self, question: &[u8], timeout: Duration) -> Answer {
        self.0.ask(question, timeout).map_err(|error| match error {
            HelperError::Died(why) => WorkerError::Died(why),
            HelperError::TooSlow => WorkerError::TooSlow,
        })
    }
}
