//! Codex through its ACP adapter: a new session, a long answer, and loading it again.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Direct, FIRST, Place, is_ended, is_said, until_frame};
use crate::measurement::{Measurement, median_ms};
use crate::server::Server;
use chartroom_testkit::tools;

const LONG: &str = "[[words:2000]]";

#[derive(Default)]
struct Times {
    first: Vec<Duration>,
    stream: Vec<Duration>,
    load: Vec<Duration>,
}

pub(super) fn run(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    n_rounds: usize,
) -> anyhow::Result<Vec<Measurement>> {
    let server = place.server(0)?;
    let (mut bare, mut ours) = (Times::default(), Times::default());
    // The program's pages are read from the disk once.
    direct(place, &mut Times::default())?;
    for _ in 0..n_rounds {
        direct(place, &mut bare)?;
        runtime.block_on(through_us(&server, &mut ours))?;
    }
    let row = |what: &str, ours: &mut [Duration], bare: &mut [Duration]| {
        Measurement::new(&format!("codex: {what}"), median_ms(ours), "ms")
            .beside("codex-acp directly", median_ms(bare))
            .aim("1.1×")
    };
    Ok(vec![
        row("new session to first token", &mut ours.first, &mut bare.first),
        row("an answer of 2,000 words, sent to ended", &mut ours.stream, &mut bare.stream),
        row("load of that session", &mut ours.load, &mut bare.load),
    ])
}

fn direct(place: &Place, times: &mut Times) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut agent = Acp::start(place)?;
    let created = agent.ask("session/new", |agent| json!({"cwd": agent.cwd, "mcpServers": []}))?;
    let session_id = created["sessionId"].as_str().context("a session has an id")?.to_owned();
    agent.prompt(&session_id, FIRST)?;
    agent.direct.until(|line| line.contains("agent_message_chunk"))?;
    times.first.push(began.elapsed());
    agent.answer()?;
    let began = Instant::now();
    agent.prompt(&session_id, LONG)?;
    agent.answer()?;
    times.stream.push(began.elapsed());
    let cwd = agent.direct.cwd.clone();
    drop(agent.direct.child.kill());
    let began = Instant::now();
    let mut again = Acp::start(place)?;
    again.ask("session/load", |_| json!({"sessionId": session_id, "cwd": cwd, "mcpServers": []}))?;
    times.load.push(began.elapsed());
    Ok(())
}

async fn through_us(server: &Server, times: &mut Times) -> anyhow::Result<()> {
    let began = Instant::now();
    let session_id = server.create("codex")?;
    let mut socket = server.follow(&session_id).await?;
    server.send(&session_id, FIRST)?;
    until_frame(&mut socket, is_said).await?;
    times.first.push(began.elapsed());
    until_frame(&mut socket, is_ended).await?;
    let began = Instant::now();
    server.send(&session_id, LONG)?;
    until_frame(&mut socket, is_ended).await?;
    times.stream.push(began.elapsed());
    server.post(&format!("/api/session/{session_id}/kill"), &json!({}))?;
    let began = Instant::now();
    server.post(&format!("/api/session/{session_id}/load"), &json!({}))?;
    times.load.push(began.elapsed());
    server.post(&format!("/api/session/{session_id}/kill"), &json!({}))?;
    Ok(())
}

/// An ACP agent on plain pipes, initialised.
struct Acp {
    direct: Direct,
    n_asked: u64,
}

impl Acp {
    fn start(place: &Place) -> anyhow::Result<Self> {
        let mut agent = Self { direct: place.direct(&tools::codex_acp(), &[])?, n_asked: 0 };
        agent.ask("initialize", |_| json!({"protocolVersion": 1, "clientCapabilities": {}}))?;
        Ok(agent)
    }

    fn ask(&mut self, method: &str, params: impl FnOnce(&Direct) -> Value) -> anyhow::Result<Value> {
        let params = params(&self.direct);
        self.write(method, params)?;
        self.answer()
    }

    fn prompt(&mut self, session_id: &str, text: &str) -> anyhow::Result<()> {
        let prompt = json!([{"type": "text", "text": text}]);
        self.write("session/prompt", json!({"sessionId": session_id, "prompt": prompt}))
    }

    fn write(&mut self, method: &str, params: Value) -> anyhow::Result<()> {
        self.n_asked += 1;
        let id = self.n_asked;
        self.direct.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// Reads on to the answer of the last request.
    fn answer(&mut self) -> anyhow::Result<Value> {
        loop {
            let line = self.direct.until(|line| line.contains("\"id\":"))?;
            let message: Value = serde_json::from_str(&line).context("a line of JSON")?;
            if message["id"] == json!(self.n_asked) {
                anyhow::ensure!(message.get("error").is_none(), "codex-acp refused: {message}");
                return Ok(message["result"].clone());
            }
        }
    }
}
