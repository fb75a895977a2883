//! `chartroom lsp status|restart|install`: the language servers of a workspace.

use std::path::PathBuf;

use chartroom_lsp::LspHandle;
use chartroom_lsp::render::status_lines;
use chartroom_protocol::lsp::LspStatusResponse;

pub(crate) mod install;

use super::{answer, workspace};
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
    /// Install a server into the data folder with a package manager of this machine; without an id, list them
    Install { id: Option<String> },
}

/// Does it to the service that runs, whoever hosts it.
async fn act(act: &Act, service: &LspHandle) -> Result<LspStatusResponse, Failure> {
    if let Act::Restart { id } = act {
        let before = service.status().await;
        if let Some(id) = id
            && before.unavailable.is_none()
            && !before.servers.iter().any(|server| server.id == *id)
        {
            let sentence = format!("there is no language server {id}; `chartroom lsp status` lists them");
            return Err(Failure::Usage(sentence));
        }
        if !service.restart(id.as_deref()).await {
            let why = service.unavailable().unwrap_or_else(|| "it does not answer".to_owned());
            return Err(Failure::impossible(why));
        }
    }
    Ok(service.status().await)
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Act::Install { id } = &args.act {
        return install::run(id.as_deref(), args.json);
    }
    let _logs = logs::to_stderr();
    let root = args.root.as_deref();
    let status = workspace::within(root, async |opened| act(&args.act, &opened.workspace.lsp).await)?;
    let text = match (&status.unavailable, args.json) {
        (_, true) => serde_json::to_string(&status)
            .map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))?,
        (Some(why), false) => why.clone(),
        (None, false) => status_lines(&status.servers),
    };
    answer(&format!("{text}\n"))?;
    Ok(if status.unavailable.is_some() { Outcome::NotOk } else { Outcome::Done })
}
