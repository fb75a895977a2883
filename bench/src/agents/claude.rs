//! Claude Code: from nothing to the first token of a new session.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Direct, FIRST, Place, WARMING, is_ended, is_said, until_frame};
use crate::measurement::{Measurement, median_ms, p95_ms};
use crate::server::Server;
use chartroom_testkit::tools;

const ARGS: [&str; 11] = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--include-partial-messages",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
    "--session-id",
    "",
];

pub(super) fn run(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    n_rounds: usize,
) -> anyhow::Result<Vec<Measurement>> {
    let (mut bare, mut bare_second) = (Vec::new(), Vec::new());
    let (mut cold, mut warm, mut second) = (Vec::new(), Vec::new(), Vec::new());
    let cold_server = place.server(0, &tools::codex_acp())?;
    let warm_server = place.server(1, &tools::codex_acp())?;
    // The first session of a project makes the pool fill.
    warm_server.create("claude-code")?;
    // The program's pages are read from the disk once.
    direct(place, n_rounds)?;
    for round in 0..n_rounds {
        let (first, next) = direct(place, round)?;
        bare.push(first);
        bare_second.push(next);
        let (first, next) = runtime.block_on(through_us(&cold_server))?;
        cold.push(first);
        second.push(next);
        // The model goes on answering on its own threads.
        runtime.block_on(async { tokio::time::sleep(WARMING).await });
        warm.push(runtime.block_on(through_us(&warm_server))?.0);
    }
    let (bare_p95, cold_p95, warm_p95) = (p95_ms(&mut bare), p95_ms(&mut cold), p95_ms(&mut warm));
    let (bare, bare_second) = (median_ms(&mut bare), median_ms(&mut bare_second));
    let (cold, warm, second) = (median_ms(&mut cold), median_ms(&mut warm), median_ms(&mut second));
    Ok(vec![
        Measurement::new("claude: new session to first token, cold", cold, "ms")
            .beside("claude directly", bare)
            .aim("1.1×"),
        Measurement::new("claude: new session to first token, warm", warm, "ms")
            .beside("the same, cold", cold)
            .aim("as a second turn"),
        Measurement::new("claude: new session to first token, cold, P95", cold_p95, "ms")
            .beside("claude directly", bare_p95),
        Measurement::new("claude: new session to first token, warm, P95", warm_p95, "ms")
            .beside("the same, cold", cold_p95),
        Measurement::new("claude: second turn to first token", second, "ms")
            .beside("claude directly", bare_second),
    ])
}

/// Returns the time to the first token of a new process and of its second turn.
fn direct(place: &Place, round: usize) -> anyhow::Result<(Duration, Duration)> {
    let mut args = ARGS;
    let session_id = format!("00000000-0000-4000-8000-{round:012}");
    args[ARGS.len() - 1] = &session_id;
    let began = Instant::now();
    let mut agent = place.direct(&tools::claude(), &args)?;
    let first = turn(&mut agent, began)?;
    let second = turn(&mut agent, Instant::now())?;
    Ok((first, second))
}

fn turn(agent: &mut Direct, began: Instant) -> anyhow::Result<Duration> {
    agent.write(&user())?;
    agent.until(|line| line.contains("\"text_delta\""))?;
    let first = began.elapsed();
    agent.until(|line| line.contains("\"type\":\"result\""))?;
    Ok(first)
}

fn user() -> Value {
    let content = json!([{"type": "text", "text": FIRST}]);
    json!({"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null,
        "session_id": ""})
}

/// The same as a page does it: create, follow, send; then once more on the running session.
async fn through_us(server: &Server) -> anyhow::Result<(Duration, Duration)> {
    let began = Instant::now();
    let session_id = server.create("claude-code")?;
    let mut socket = server.follow(&session_id).await?;
    server.send(&session_id, FIRST)?;
    until_frame(&mut socket, is_said).await?;
    let first = began.elapsed();
    until_frame(&mut socket, is_ended).await?;
    let began = Instant::now();
    server.send(&session_id, FIRST)?;
    until_frame(&mut socket, is_said).await?;
    let second = began.elapsed();
    until_frame(&mut socket, is_ended).await?;
    server.post(&format!("/api/session/{session_id}/kill"), &json!({}))?;
    Ok((first, second))
}
