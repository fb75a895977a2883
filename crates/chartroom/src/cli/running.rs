//! One request to the Chartroom that runs on the data folder, by hand: the binary has no other use for an HTTP client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use chartroom_protocol::error::ErrorResponse;

use crate::data::DataFolder;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Posts JSON to the running server and gives the body of its answer.
pub(super) fn post(data: &DataFolder, origin: &str, path: &str, body: &str) -> anyhow::Result<String> {
    ask(data, origin, "POST", path, body)
}

/// Gets the body of an answer from the running server.
pub(super) fn get(data: &DataFolder, origin: &str, path: &str) -> anyhow::Result<String> {
    ask(data, origin, "GET", path, "")
}

/// Asks the running server to take something away.
pub(super) fn delete(data: &DataFolder, origin: &str, path: &str) -> anyhow::Result<String> {
    ask(data, origin, "DELETE", path, "")
}

fn ask(data: &DataFolder, origin: &str, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
    let token = std::fs::read_to_string(data.token_file()).context("reading the token")?;
    let host = origin.strip_prefix("http://").context("an origin begins with http://")?;
    let mut stream = TcpStream::connect(host).context("connecting")?;
    stream.set_read_timeout(Some(PATIENCE)).context("setting a time-out")?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        token.trim(),
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).context("asking")?;
    let mut text = String::new();
    stream.read_to_string(&mut text).context("reading the answer")?;
    let (head, body) = text.split_once("\r\n\r\n").context("the answer has no body")?;
    anyhow::ensure!(
        ["HTTP/1.1 200", "HTTP/1.1 201"].iter().any(|ok| head.starts_with(ok)),
        "{}",
        said(head, body)
    );
    anyhow::ensure!(
        !head.to_ascii_lowercase().contains("transfer-encoding: chunked"),
        "the answer comes in pieces"
    );
    Ok(body.to_owned())
}

/// What the server says of a request that it does not take.
fn said(head: &str, body: &str) -> String {
    let error = serde_json::from_str::<ErrorResponse>(body).ok().map(|answer| answer.error.message);
    error.unwrap_or_else(|| head.lines().next().unwrap_or_default().to_owned())
}
