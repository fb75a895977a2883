//! `chartroom hook claude`: Claude Code's PostToolUse hook. Its JSON on stdin, its answer on stdout; never fails.

use std::io::Read as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{answer, workspace};
use crate::after_edit::Mutation;
use crate::app::agent_tools::AGENT_MARK;
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

/// More is no edit of a file that is checked; what is cut off is no JSON and not looked at.
const MOST_INPUT: u64 = 64 * 1024 * 1024;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let Client::Claude = args.client;
    let _logs = logs::to_stderr();
    let mut input = String::new();
    if let Err(error) = std::io::stdin().take(MOST_INPUT).read_to_string(&mut input) {
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

/// Reads the hook's input: what was written, and the workspace; nothing for tools that write no file.
fn read(input: &str) -> Option<(Mutation, PathBuf)> {
    let input: Value = serde_json::from_str(input).ok()?;
    let mutation = Mutation::read(input.get("tool_name")?.as_str()?, input.get("tool_input")?)?;
    let folder = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| input.get("cwd")?.as_str().map(PathBuf::from))?;
    Some((mutation, folder))
}

fn context(input: &str) -> Result<Option<String>, Failure> {
    // An agent that Chartroom started has the diagnostics already.
    if std::env::var_os(AGENT_MARK).is_some() {
        return Ok(None);
    }
    let Some((mutation, folder)) = read(input) else { return Ok(None) };
    workspace::within(Some(&folder), async |opened| Ok(mutation.diagnostics(&opened.workspace.lsp).await))
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::lsp::CheckScope;

    use super::*;

    #[test]
    fn only_tools_that_write_a_file_are_looked_at() {
        let input = |tool: &str| {
            json!({ "tool_name": tool, "cwd": "/p", "tool_input": { "file_path": "/p/a.ts" } }).to_string()
        };
        let of = |scope| Some((Mutation { file: "/p/a.ts".into(), scope }, PathBuf::from("/p")));
        assert_eq!(read(&input("Edit")), of(CheckScope::Files));
        assert_eq!(read(&input("Write")), of(CheckScope::Project));
        assert_eq!(read(&input("Bash")), None);
        for garbage in ["", "{", "[]", "null", r#"{"tool_name":"Edit"}"#, r#"{"tool_name":1}"#] {
            assert_eq!(read(garbage), None, "{garbage}");
        }
    }
}
