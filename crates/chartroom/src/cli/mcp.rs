//! `chartroom mcp`: the tools on stdio, for any MCP client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use super::workspace;
use crate::app::bridge;
use crate::exit::{Failure, Outcome};
use crate::logs;
use crate::mcp::{Group, ToolServer, stdio};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workspace [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Only these groups of tools
    #[arg(long, value_delimiter = ',', value_name = "GROUPS")]
    only: Vec<Group>,
    /// Hand on what is said to the server that gave this socket to an agent
    #[arg(long, value_name = "SOCKET", hide = true, conflicts_with_all = ["root", "only"])]
    bridge: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Some(socket) = &args.bridge {
        return cross(socket);
    }
    let _logs = logs::to_stderr();
    // Clients end their servers by closing stdin or by a signal; either way the others who use the same language
    // service are told before it ends.
    workspace::within(args.root.as_deref(), async |opened| {
        let tools = Arc::new(opened.served_tools(&args.only));
        let (stdio, handing_on) = stdio::guarded(tokio::io::stdin(), tokio::io::stdout());
        let handing_on = tokio::spawn(handing_on);
        let running = match rmcp::serve_server(ToolServer::new(tools), stdio).await {
            Ok(running) => running,
            Err(error) => {
                last_words(handing_on).await;
                return Err(Failure::impossible(format!("the client does not speak MCP ({error})")));
            }
        };
        let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
        tokio::select! {
            ended = running.waiting() => {
                if let Err(error) = ended {
                    tracing::debug!("the MCP server ended badly: {error}");
                }
                last_words(handing_on).await;
            }
            _signal = terminate.recv() => {}
            _signal = interrupt.recv() => {}
        }
        Ok(Outcome::Done)
    })
}

/// What was said last is written before the end.
async fn last_words(handing_on: tokio::task::JoinHandle<()>) {
    if let Err(error) = handing_on.await {
        tracing::debug!("the last words were not handed on: {error}");
    }
}

/// Returns the socket, if the arguments after `mcp` are those that an agent was given and nothing else.
pub(super) fn bridge_alone(mut args: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let (option, socket) = (args.next()?, args.next()?);
    (option == "--bridge" && args.next().is_none()).then(|| PathBuf::from(socket))
}

/// Nothing of ours but the socket need be in reach here.
pub(super) fn cross(socket: &Path) -> Result<Outcome, Failure> {
    let key = std::env::var(bridge::KEY).unwrap_or_default();
    let crossed = bridge::cross(socket, &key);
    crossed
        .map_err(|error| Failure::impossible(format!("the server of this session is not there ({error})")))?;
    Ok(Outcome::Done)
}

fn no_signals(error: std::io::Error) -> Failure {
    Failure::impossible(format!("the system gives no signals ({error}); end some programs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_agent_was_given_is_taken_past_the_parser() {
        let socket = |line: &str| bridge_alone(line.split_whitespace().map(OsString::from));
        assert_eq!(socket("--bridge /run/s"), Some(PathBuf::from("/run/s")));
        for other in ["", "--bridge", "--bridge /run/s --root .", "--root /run/s", "--help"] {
            assert_eq!(socket(other), None, "{other}");
        }
    }
}
