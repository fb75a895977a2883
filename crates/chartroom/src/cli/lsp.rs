//! `chartroom lsp status|restart`: the language servers of a workspace.

use std::path::PathBuf;

use chartroom_lsp::render::status_lines;

use super::{answer, block_on, settings};
use crate::app::language::Workspace;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};
use crate::logs;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    act: Act,
    /// The workspace [default: the current folder]
    #[arg(long, value_name = "DIR", global = true)]
    root: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Say of every known server whether it runs, or why not
    Status,
    /// Stop a server, or all, so that the next touch starts it anew
    Restart { id: Option<String> },
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let _logs = logs::to_stderr();
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    let folder = args.root.clone().unwrap_or_else(|| PathBuf::from("."));
    block_on(async move {
        let workspace = Workspace::open(&folder, &config, &data)?;
        if let Act::Restart { id } = &args.act
            && !workspace.lsp.restart(id.as_deref()).await
        {
            let why = workspace.lsp.unavailable().unwrap_or_else(|| "it does not answer".to_owned());
            return Err(Failure::impossible(why));
        }
        let status = workspace.lsp.status().await;
        workspace.lsp.shutdown().await;
        let text = match (&status.unavailable, args.json) {
            (_, true) => serde_json::to_string(&status)
                .map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))?,
            (Some(why), false) => why.clone(),
            (None, false) => status_lines(&status.servers),
        };
        answer(&format!("{text}\n"))?;
        Ok(if status.unavailable.is_some() { Outcome::NotOk } else { Outcome::Done })
    })
}
