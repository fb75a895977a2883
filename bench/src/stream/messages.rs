//! What a message costs by itself: many of them, one after the other, each with a turn in which nothing is said. In the
//! stream that is a difference of two figures that are each as noisy as the machine.

use anyhow::Context as _;
use tokio::sync::mpsc;

use super::{number, start};
use crate::measurement::Measurement;
use crate::server::{Socket, cpu_ms};

/// How many sessions have a reader each: all of them hear of each other's turns.
const SESSIONS: [usize; 2] = [50, 200];
/// How many messages are sent, to one session after the other.
const MESSAGES: usize = 1000;
/// Before the count: files and buffers get their size.
const WARM_UP: usize = 200;

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let sessions = match number("CHARTROOM_BENCH_SESSIONS", 0)? {
        0 => SESSIONS.to_vec(),
        n_sessions => vec![n_sessions],
    };
    let n_messages = number("CHARTROOM_BENCH_MESSAGES", MESSAGES)?;
    let mut rows = Vec::new();
    for n_sessions in sessions {
        let cpu = runtime.block_on(measure(n_sessions, n_messages))?;
        let name = format!("messages, {n_sessions} sessions: CPU of one and its turn's begin and end");
        rows.push(Measurement::new(&name, cpu, "ms"));
    }
    Ok(rows)
}

/// Returns how much processor time one message took.
async fn measure(n_sessions: usize, n_messages: usize) -> anyhow::Result<f64> {
    let server = start()?;
    let (ends, mut ended) = mpsc::channel(n_sessions);
    let mut sessions = Vec::new();
    for _ in 0..n_sessions {
        let session_id = server.create("claude-code")?;
        let socket = server.follow(&session_id).await?;
        drop(tokio::spawn(read(socket, session_id.clone(), ends.clone())));
        sessions.push(session_id);
    }
    let mut before = 0.0;
    for (index, session_id) in sessions.iter().cycle().take(WARM_UP + n_messages).enumerate() {
        if index == WARM_UP {
            before = cpu_ms(server.pid())?;
        }
        server.send(session_id, "0 0")?;
        let of = ended.recv().await.context("every reader ended")??;
        anyhow::ensure!(of == *session_id, "another session's turn ended");
    }
    Ok((cpu_ms(server.pid())? - before) / n_messages as f64)
}

/// Tells of the end of each turn.
async fn read(mut socket: Socket, session_id: String, ends: mpsc::Sender<anyhow::Result<String>>) {
    loop {
        let end = match socket.next().await {
            Ok(frame) if frame.contains("\"turn_complete\"") => Ok(session_id.clone()),
            Ok(frame) if frame.contains("\"turn_error\"") => Err(anyhow::anyhow!("a turn failed: {frame}")),
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        let is_over = end.is_err();
        // Nobody hears it when all has been counted.
        if ends.send(end).await.is_err() || is_over {
            return;
        }
    }
}
