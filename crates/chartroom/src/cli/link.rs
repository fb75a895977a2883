//! `chartroom link`: a new one-time link to the workbench that runs already, for another browser.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use chartroom_protocol::agent::LaunchResponse;

use super::{answer, settings};
use crate::data::DataFolder;
use crate::exit::{Failure, Outcome};

pub(super) fn run() -> Result<Outcome, Failure> {
    let data = settings::data()?;
    let Some(origin) = data.running_server() else {
        return Err(Failure::impossible("no Chartroom is running here; start one with `chartroom serve`"));
    };
    let code = ask(&data, &origin).with_context(|| {
        format!("the Chartroom at {origin} did not answer; stop it and start it again with `chartroom serve`")
    })?;
    answer(&format!("{origin}/?token={code}\n"))?;
    Ok(Outcome::Done)
}

/// One request by hand: the binary has no other use for an HTTP client.
fn ask(data: &DataFolder, origin: &str) -> anyhow::Result<String> {
    let token = std::fs::read_to_string(data.token_file()).context("reading the token")?;
    let host = origin.strip_prefix("http://").context("an origin begins with http://")?;
    let mut stream = TcpStream::connect(host).context("connecting")?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).context("setting a time-out")?;
    let head = format!(
        "POST /api/launch HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        token.trim()
    );
    stream.write_all(head.as_bytes()).context("asking")?;
    let mut text = String::new();
    stream.read_to_string(&mut text).context("reading the answer")?;
    let (head, body) = text.split_once("\r\n\r\n").context("the answer has no body")?;
    anyhow::ensure!(head.starts_with("HTTP/1.1 200"), "{}", head.lines().next().unwrap_or_default());
    let answer: LaunchResponse = serde_json::from_str(body).context("the answer is no launch code")?;
    Ok(answer.code)
}
