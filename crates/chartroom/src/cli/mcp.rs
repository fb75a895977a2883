//! `chartroom mcp`: the tools on stdio, for any MCP client.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use super::workspace;
use crate::exit::{Failure, Outcome};
use crate::logs;
use crate::mcp::{Group, ToolServer};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workspace [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Only these groups of tools
    #[arg(long, value_delimiter = ',', value_name = "GROUPS")]
    only: Vec<Group>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let _logs = logs::to_stderr();
    // Clients end their servers by closing stdin or by a signal; either way the others who use the same language
    // service are told before it ends.
    workspace::within(args.root.as_deref(), async |opened| {
        let tools = Arc::new(opened.tools(&args.only));
        let stdio = (tokio::io::stdin(), tokio::io::stdout());
        let running = rmcp::serve_server(ToolServer::new(tools), stdio)
            .await
            .map_err(|error| Failure::impossible(format!("the client does not speak MCP ({error})")))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
        tokio::select! {
            ended = running.waiting() => {
                if let Err(error) = ended {
                    tracing::debug!("the MCP server ended badly: {error}");
                }
            }
            _signal = terminate.recv() => {}
            _signal = interrupt.recv() => {}
        }
        Ok(Outcome::Done)
    })
}

fn no_signals(error: std::io::Error) -> Failure {
    Failure::impossible(format!("the system gives no signals ({error}); end some programs"))
}
