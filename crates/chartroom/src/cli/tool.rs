//! `chartroom tool list|call`: any MCP tool, by hand.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chartroom_lsp::mcp::NobodyToAsk;
use chartroom_workspace::regular;
use serde_json::{Value, json};

use super::{answer, workspace};
use crate::exit::{Failure, Outcome};
use crate::logs;
use crate::mcp::Toolbox;

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
    /// List the tools and their arguments
    List,
    /// Call a tool; exit code 1 when it answers with an error
    Call {
        name: String,
        /// Its arguments: JSON, @FILE, or @- for stdin
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args_json: String,
    },
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let _logs = logs::to_stderr();
    workspace::within(args.root.as_deref(), async |opened| {
        let tools = opened.tools_once();
        match &args.act {
            Act::List => list(&tools, args.json).await,
            Act::Call { name, args_json } => call(&tools, name, args_json, args.json).await,
        }
    })
}

async fn list(tools: &Toolbox, as_json: bool) -> Result<Outcome, Failure> {
    let tools = tools.tools().await;
    let text = if as_json {
        let tools: Vec<Value> = tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.schema }))
            .collect();
        json!({ "tools": tools }).to_string()
    } else {
        let lines: Vec<String> =
            tools.iter().map(|tool| format!("{}\n    {}", tool.name, tool.description)).collect();
        lines.join("\n")
    };
    answer(&format!("{text}\n"))?;
    Ok(Outcome::Done)
}

async fn call(tools: &Toolbox, name: &str, arguments: &str, as_json: bool) -> Result<Outcome, Failure> {
    let text = read_arguments(arguments)?;
    let arguments: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("the arguments are not JSON: {error}")))?;
    let Some(result) = tools.call(name, arguments, &NobodyToAsk).await else {
        return Err(Failure::Usage(format!("there is no tool {name}; `chartroom tool list` shows them")));
    };
    let text = match (&result.structured, as_json) {
        (Some(structured), true) => structured.to_string(),
        (None, true) => json!({ "text": result.text, "isError": result.is_error }).to_string(),
        (_, false) => result.text,
    };
    answer(&format!("{text}\n"))?;
    Ok(if result.is_error { Outcome::NotOk } else { Outcome::Done })
}

/// No tool takes more.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

fn read_arguments(arguments: &str) -> Result<String, Failure> {
    match arguments.strip_prefix('@') {
        None => Ok(arguments.to_owned()),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().take(MOST_BYTES + 1).read_to_string(&mut text);
            read.map_err(|error| Failure::impossible(format!("stdin cannot be read ({error})")))?;
            if text.len() as u64 > MOST_BYTES {
                return Err(Failure::impossible(format!("stdin has more than {MOST_BYTES} bytes")));
            }
            Ok(text)
        }
        Some(path) => {
            let unread = |error: &dyn std::fmt::Display| {
                Failure::impossible(format!("{path} cannot be read ({error})"))
            };
            let (bytes, _) = regular::read(Path::new(path), MOST_BYTES).map_err(|error| unread(&error))?;
            String::from_utf8(bytes).map_err(|error| unread(&error.utf8_error()))
        }
    }
}
