//! The scripted model APIs as a program, for stories that are not written in Rust.
//!
//! Prints one line with its addresses as JSON. On stdin: `open NAME` opens a gate, `reached NAME` answers
//! `reached NAME` once a stream waits there, `keep NAME JSON` keeps a reply for `[[answer:NAME]]` and answers
//! `kept NAME`, `last` answers the body of the last request. Ends with stdin.

use std::io::Write as _;

use chartroom_testkit::model_api::{ModelApi, Reply};
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let api = ModelApi::start().await;
    say(&serde_json::json!({ "anthropic": api.anthropic_url(), "openai": api.openai_url() }).to_string())?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match line.split_once(' ') {
            Some(("open", gate)) => api.open(gate),
            Some(("keep", named)) => say(&keep(&api, named))?,
            Some(("reached", gate)) => {
                api.reached(gate).await;
                say(&line)?;
            }
            None if line == "last" => {
                let last = api.requests().into_iter().last();
                say(&last.map_or_else(String::new, |request| request.body.to_string()))?;
            }
            _ => say(&format!("unknown: {line}"))?,
        }
    }
    Ok(())
}

fn keep(api: &ModelApi, named: &str) -> String {
    let (name, json) = named.split_once(' ').unwrap_or((named, ""));
    match serde_json::from_str::<Reply>(json) {
        Ok(reply) => {
            api.keep(name, reply);
            format!("kept {name}")
        }
        Err(error) => format!("not kept {name}: {error}"),
    }
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
