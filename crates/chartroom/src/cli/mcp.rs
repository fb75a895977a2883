//! `chartroom mcp`: the tools on stdio, for any MCP client.

use std::path::PathBuf;
use std::sync::Arc;

use super::{block_on, settings};
use crate::app::index;
use crate::app::language::Workspace;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};
use crate::logs;
use crate::mcp::{Group, ToolServer, Toolbox};

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
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    let folder = args.root.clone().unwrap_or_else(|| PathBuf::from("."));
    block_on(async move {
        let workspace = Workspace::open(&folder, &config, &data)?;
        let tools = Arc::new(Toolbox::open(
            &workspace,
            index::for_tools(&config, &data, &workspace.gate),
            &args.only,
        ));
        let stdio = (tokio::io::stdin(), tokio::io::stdout());
        let running = rmcp::serve_server(ToolServer::new(tools), stdio)
            .await
            .map_err(|error| Failure::impossible(format!("the client does not speak MCP ({error})")))?;
        if let Err(error) = running.waiting().await {
            tracing::debug!("the MCP server ended badly: {error}");
        }
        workspace.lsp.shutdown().await;
        Ok(Outcome::Done)
    })
}
