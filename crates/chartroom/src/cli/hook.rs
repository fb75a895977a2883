//! `chartroom hook claude`: Claude Code's PostToolUse hook. Its JSON on stdin, its answer on stdout; never fails.

use std::io::Read as _;
use std::path::PathBuf;

use chartroom_lsp::render::{Limits, after_edit, after_write};
use chartroom_protocol::lsp::CheckScope;
use serde_json::{Value, json};

use super::{answer, block_on, settings};
use crate::app::language::Workspace;
use crate::config::Overrides;
use crate::exit::{Failure, Outcome};
use crate::logs;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    client: Client,
}

#[derive(Debug, clap::Subcommand)]
enum Client {
    /// Claude Code, after Edit, MultiEdit and Write
    Claude,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let Client::Claude = args.client;
    let _logs = logs::to_stderr();
    let mut input = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut input) {
        tracing::debug!("the hook's input cannot be read: {error}");
    }
    // Whatever goes wrong, the edit stands and the agent goes on.
    match context(&input) {
        Ok(Some(context)) => {
            let output = json!({
                "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": context },
            });
            answer(&format!("{output}\n"))?;
        }
        Ok(None) => {}
        Err(Failure::Usage(reason) | Failure::Impossible(reason)) => {
            tracing::debug!("the hook has nothing to say: {reason}");
        }
    }
    Ok(Outcome::Done)
}

/// What a tool did, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
struct Mutation {
    file: String,
    folder: PathBuf,
    scope: CheckScope,
}

/// Reads the hook's input; nothing for tools that write no file.
fn mutation(input: &str) -> Option<Mutation> {
    let input: Value = serde_json::from_str(input).ok()?;
    let scope = match input.get("tool_name")?.as_str()? {
        "Edit" | "MultiEdit" => CheckScope::Files,
        "Write" => CheckScope::Project,
        _ => return None,
    };
    let file = input.pointer("/tool_input/file_path")?.as_str()?.to_owned();
    let folder = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| input.get("cwd")?.as_str().map(PathBuf::from))?;
    Some(Mutation { file, folder, scope })
}

fn context(input: &str) -> Result<Option<String>, Failure> {
    let Some(Mutation { file, folder, scope }) = mutation(input) else { return Ok(None) };
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    block_on(async move {
        let workspace = Workspace::open(&folder, &config, &data)?;
        let response = workspace.lsp.check_paths(vec![file], scope).await;
        let limits = workspace.lsp.config().map(Limits::of).unwrap_or_default();
        workspace.lsp.shutdown().await;
        let text = response.map(|response| match scope {
            CheckScope::Files => after_edit(&response.files, limits),
            CheckScope::Project => after_write(&response.files, &response.others, limits),
        });
        Ok(text.map(|text| text.trim_start().to_owned()).filter(|text| !text.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_write_a_file_are_looked_at() {
        let input = |tool: &str| {
            json!({ "tool_name": tool, "cwd": "/p", "tool_input": { "file_path": "/p/a.ts" } }).to_string()
        };
        let of = |scope| Some(Mutation { file: "/p/a.ts".into(), folder: "/p".into(), scope });
        assert_eq!(mutation(&input("Edit")), of(CheckScope::Files));
        assert_eq!(mutation(&input("Write")), of(CheckScope::Project));
        assert_eq!(mutation(&input("Bash")), None);
        for garbage in ["", "{", "[]", "null", r#"{"tool_name":"Edit"}"#, r#"{"tool_name":1}"#] {
            assert_eq!(mutation(garbage), None, "{garbage}");
        }
    }
}
