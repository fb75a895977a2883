//! Codex through its ACP adapter: a new session, a long answer, and loading it again.
//!
//! Both ways start the same program. Most people have npm's script in front of it; that is measured too, since we start
//! what is behind the script and others the script. A person who opens a project finds an agent that was started for it:
//! those rows are called warm.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Direct, FIRST, Place, WARMING, is_ended, is_said, until_frame};
use crate::measurement::{Measurement, median_ms};
use crate::server::Server;
use chartroom_testkit::tools;

const LONG: &str = "[[words:2000]]";
/// How many such answers the session has that is loaded: an afternoon's work.
const N_ANSWERS: usize = 20;

#[derive(Default)]
struct Times {
    first: Vec<Duration>,
    stream: Vec<Duration>,
    load: Vec<Duration>,
    load_long: Vec<Duration>,
}

pub(super) fn run(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    n_rounds: usize,
) -> anyhow::Result<Vec<Measurement>> {
    let (program, script) = (tools::codex_acp(), tools::npm_bin("agents", "codex-acp"));
    let mut measurements = Vec::new();
    for (program, called, is_kept_warm) in
        [(program, "codex", true), (script, "codex by npm's script", false)]
    {
        let (mut ours, mut bare) = compare(runtime, place, &program, n_rounds)?;
        let mut rows = |ours: &mut Times, how: &str| {
            let long_load = format!("load of one with {N_ANSWERS} such answers");
            for (what, ours, bare) in [
                ("new session to first token", &mut ours.first, &mut bare.first),
                ("an answer of 2,000 words, sent to ended", &mut ours.stream, &mut bare.stream),
                ("load of a session with one such answer", &mut ours.load, &mut bare.load),
                (long_load.as_str(), &mut ours.load_long, &mut bare.load_long),
            ] {
                if !ours.is_empty() {
                    let row = Measurement::new(&format!("{called}: {what}{how}"), median_ms(ours), "ms");
                    measurements.push(row.beside("codex-acp directly", median_ms(bare)).aim("1.1×"));
                }
            }
        };
        rows(&mut ours, "");
        if is_kept_warm {
            rows(&mut warm(runtime, place, &program, n_rounds)?, ", warm");
        }
    }
    Ok(measurements)
}

/// Measures what a person finds whose project is open: the agent has been started.
fn warm(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    program: &Path,
    n_rounds: usize,
) -> anyhow::Result<Times> {
    let server = place.server(1, program)?;
    let mut unused = Times::default();
    let short = runtime.block_on(talk_through_us(&server, 1, &mut unused))?;
    let long = runtime.block_on(talk_through_us(&server, N_ANSWERS, &mut unused))?;
    let mut ours = Times::default();
    let warming = || runtime.block_on(async { tokio::time::sleep(WARMING).await });
    for _ in 0..n_rounds {
        warming();
        ours.load.push(load_through_us(&server, &short)?);
        warming();
        ours.load_long.push(load_through_us(&server, &long)?);
        warming();
        runtime.block_on(talk_through_us(&server, 0, &mut ours))?;
    }
    Ok(ours)
}

/// Measures both ways in turns.
fn compare(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    program: &Path,
    n_rounds: usize,
) -> anyhow::Result<(Times, Times)> {
    let server = place.server(0, program)?;
    let (mut ours, mut bare) = (Times::default(), Times::default());
    // The program's pages are read from the disk once; the long session is made once and loaded in every round.
    let bare_long = Talk::directly(place, program, N_ANSWERS, &mut Times::default())?;
    let our_long = runtime.block_on(talk_through_us(&server, N_ANSWERS, &mut Times::default()))?;
    for _ in 0..n_rounds {
        let session = Talk::directly(place, program, 1, &mut bare)?;
        bare.load.push(session.load(place, program)?);
        bare.load_long.push(bare_long.load(place, program)?);
        let session_id = runtime.block_on(talk_through_us(&server, 1, &mut ours))?;
        ours.load.push(load_through_us(&server, &session_id)?);
        ours.load_long.push(load_through_us(&server, &our_long)?);
    }
    Ok((ours, bare))
}

/// A session that was had with the agent itself; its process has ended.
struct Talk {
    agent: Acp,
    session_id: String,
}

impl Talk {
    fn directly(place: &Place, program: &Path, n_answers: usize, times: &mut Times) -> anyhow::Result<Self> {
        let began = Instant::now();
        let mut agent = Acp::start(place, program)?;
        let created = agent.ask("session/new", |agent| json!({"cwd": agent.cwd, "mcpServers": []}))?;
        let session_id = created["sessionId"].as_str().context("a session has an id")?.to_owned();
        agent.prompt(&session_id, FIRST)?;
        agent.direct.until(|line| line.contains("agent_message_chunk"))?;
        times.first.push(began.elapsed());
        agent.answer()?;
        for _ in 0..n_answers {
            let began = Instant::now();
            agent.prompt(&session_id, LONG)?;
            agent.answer()?;
            times.stream.push(began.elapsed());
        }
        agent.direct.end();
        Ok(Self { agent, session_id })
    }

    fn load(&self, place: &Place, program: &Path) -> anyhow::Result<Duration> {
        let (session_id, cwd) = (&self.session_id, &self.agent.direct.cwd);
        let began = Instant::now();
        let mut again = Acp::start(place, program)?;
        again.ask("session/load", |_| json!({"sessionId": session_id, "cwd": cwd, "mcpServers": []}))?;
        Ok(began.elapsed())
    }
}

async fn talk_through_us(server: &Server, n_answers: usize, times: &mut Times) -> anyhow::Result<String> {
    let began = Instant::now();
    let session_id = server.create("codex")?;
    let mut socket = server.follow(&session_id).await?;
    server.send(&session_id, FIRST)?;
    until_frame(&mut socket, is_said).await?;
    times.first.push(began.elapsed());
    until_frame(&mut socket, is_ended).await?;
    for _ in 0..n_answers {
        let began = Instant::now();
        server.send(&session_id, LONG)?;
        until_frame(&mut socket, is_ended).await?;
        times.stream.push(began.elapsed());
    }
    server.post(&format!("/api/session/{session_id}/kill"), &json!({}))?;
    Ok(session_id)
}

fn load_through_us(server: &Server, session_id: &str) -> anyhow::Result<Duration> {
    let began = Instant::now();
    server.post(&format!("/api/session/{session_id}/load"), &json!({}))?;
    let took = began.elapsed();
    server.post(&format!("/api/session/{session_id}/kill"), &json!({}))?;
    Ok(took)
}

/// An ACP agent on plain pipes, initialised.
struct Acp {
    direct: Direct,
    n_asked: u64,
}

impl Acp {
    fn start(place: &Place, program: &Path) -> anyhow::Result<Self> {
        let mut agent = Self { direct: place.direct(program, &[])?, n_asked: 0 };
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
