//! Many sessions streaming at once: how long an event takes from the agent's write to the reader's frame, and what it
//! costs, beside a relay that only copies each agent's pipe to a socket.
//!
//! The agents are this program again ([`agent`]): they write recorded Claude lines, and every write carries the time
//! of that write in its text. Between them and the reader is all of ours: pipe, parser, translation, upsert
//! processor, journal, feed, WebSocket. The processor holds small pieces back on purpose (its gradient and its
//! timeouts); that delay is a choice and not our speed, so the recording is cut such that every write is shown at
//! once: each text delta crosses the next step of the gradient, and ends and tool calls are never held back. One write
//! makes exactly one frame; the run fails if that is not so, since then something else was measured.
//!
//! The same is done with 50 sessions and, at the same number of events a second, with 200 and a reader for each.
//!
//! `CHARTROOM_BENCH_SESSIONS` and `CHARTROOM_BENCH_SECONDS` make it smaller for a try; with the first of them the first
//! words are left out.

pub(crate) mod agent;
pub(crate) mod messages;
pub(crate) mod relay;
mod window;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;

use crate::measurement::{Measurement, median_ms, p95_ms};
use crate::server::{Server, Socket, cpu_ms};
use window::Window;

/// Between two writes of one agent of 50: far livelier than a model. More agents write less often each.
const INTERVAL: Duration = Duration::from_millis(50);
const SESSIONS: [usize; 2] = [50, 200];
/// How many first words are measured.
const FIRST_WORDS: usize = 40;

/// What a run was.
#[derive(Debug, Clone, Copy)]
struct Plan {
    n_sessions: usize,
    n_rounds: usize,
    interval: Duration,
}

impl Plan {
    fn all() -> anyhow::Result<Vec<Self>> {
        let seconds = number("CHARTROOM_BENCH_SECONDS", 20)?;
        let sessions = match number("CHARTROOM_BENCH_SESSIONS", 0)? {
            0 => SESSIONS.to_vec(),
            n_sessions => vec![n_sessions],
        };
        sessions.into_iter().map(|n_sessions| Self::new(n_sessions, u64::try_from(seconds)?)).collect()
    }

    fn new(n_sessions: usize, seconds: u64) -> anyhow::Result<Self> {
        let interval = INTERVAL * u32::try_from(n_sessions.div_ceil(50))?;
        let round = interval * u32::try_from(agent::WRITES_PER_ROUND)?;
        let n_rounds = Duration::from_secs(seconds).as_millis() / round.as_millis();
        Ok(Self { n_sessions, n_rounds: usize::try_from(n_rounds)?.max(1), interval })
    }

    fn n_events(self) -> usize {
        self.n_sessions * self.n_rounds * agent::WRITES_PER_ROUND
    }

    /// What every agent is asked to do.
    fn message(self) -> String {
        format!("{} {}", self.n_rounds, self.interval.as_micros())
    }
}

/// What came of a run.
struct Outcome {
    latencies: Vec<Duration>,
    /// Of the whole run, with its messages and their turns.
    cpu_ms: f64,
    /// While all sessions streamed.
    cpu_per_thousand: f64,
}

impl Outcome {
    fn at(&self, share: f64) -> f64 {
        let index =
            ((self.latencies.len() as f64 * share) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(index).map_or(0.0, |latency| latency.as_secs_f64() * 1000.0)
    }
}

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut rows = Vec::new();
    for plan in Plan::all()? {
        let relay = runtime.block_on(relay::measure(plan)).context("the bare relay")?;
        let ours = runtime.block_on(measure(plan)).context("through the server")?;
        let n_sessions = plan.n_sessions;
        let thousands = plan.n_events() as f64 / 1000.0;
        let per_turn = |outcome: &Outcome| {
            let of_events = outcome.cpu_per_thousand * thousands;
            (outcome.cpu_ms - of_events).max(0.0) / n_sessions as f64
        };
        let row = |what: &str, ours: f64, unit, relay: f64| {
            let name = format!("stream, {n_sessions} sessions: {what}");
            Measurement::new(&name, ours, unit).beside("pipe-to-socket relay", relay)
        };
        rows.extend([
            row("event to frame, p50", ours.at(0.50), "ms", relay.at(0.50)).aim("0.2 ms"),
            row("event to frame, p99", ours.at(0.99), "ms", relay.at(0.99)).aim("1.5 ms"),
            row("CPU per 1,000 events", ours.cpu_ms / thousands, "ms", relay.cpu_ms / thousands).aim("2.5×"),
            row("… of it while all stream", ours.cpu_per_thousand, "ms", relay.cpu_per_thousand),
            row("CPU of a message and its turn's begin and end", per_turn(&ours), "ms", per_turn(&relay)),
        ]);
    }
    if std::env::var_os("CHARTROOM_BENCH_SESSIONS").is_some() {
        return Ok(rows);
    }
    let mut first = runtime.block_on(first_words()).context("first words")?;
    rows.extend([
        Measurement::new("stream: an answer's first word to its frame, median", median_ms(&mut first), "ms"),
        Measurement::new("stream: an answer's first word to its frame, P95", p95_ms(&mut first), "ms")
            .aim("200 ms"),
    ]);
    Ok(rows)
}

/// An agent that says one word and then nothing for a while: how long until a page shows it.
async fn first_words() -> anyhow::Result<Vec<Duration>> {
    let server = start()?;
    let session_id = server.create("claude-code")?;
    let mut socket = server.follow(&session_id).await?;
    let mut latencies = Vec::new();
    while latencies.len() < FIRST_WORDS {
        server.send(&session_id, agent::FIRST_WORD)?;
        let mut shown = None;
        loop {
            let frame = socket.next().await?;
            let now = since_epoch();
            if shown.is_none() && frame.contains("\"session:upsert\"") && frame.contains("\"agent\"") {
                shown = newest_stamp(&frame).map(|written| now.saturating_sub(written));
            } else if frame.contains("\"turn_complete\"") {
                break;
            }
        }
        latencies.push(shown.context("the word was not shown")?);
    }
    Ok(latencies)
}

fn start() -> anyhow::Result<Server> {
    let program = std::env::current_exe().context("finding this program")?;
    Server::start(&format!(
        "[agents.claude-code]\ncommand = {:?}\nargs = [\"{}\"]\nwarmProcesses = 0\n",
        program.display().to_string(),
        agent::COMMAND,
    ))
}

async fn measure(plan: Plan) -> anyhow::Result<Outcome> {
    let server = start()?;
    let mut sessions = Vec::new();
    for _ in 0..plan.n_sessions {
        let session_id = server.create("claude-code")?;
        let socket = server.follow(&session_id).await?;
        sessions.push((session_id, socket));
    }
    let before = cpu_ms(server.pid())?;
    let window = Arc::new(Window::new(server.pid(), plan.n_sessions));
    let mut readers = Vec::new();
    for (session_id, socket) in sessions {
        server.send(&session_id, &plan.message())?;
        let n_writes = plan.n_rounds * agent::WRITES_PER_ROUND;
        readers.push(tokio::spawn(read(socket, n_writes, Arc::clone(&window))));
    }
    let latencies = gather(readers).await?;
    let cpu_ms = cpu_ms(server.pid())? - before;
    Ok(Outcome { latencies, cpu_ms, cpu_per_thousand: window.cpu_per_thousand()? })
}

async fn gather(
    readers: Vec<tokio::task::JoinHandle<anyhow::Result<Vec<Duration>>>>,
) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    for reader in readers {
        latencies.extend(reader.await??);
    }
    latencies.sort();
    Ok(latencies)
}

async fn read(mut socket: Socket, n_writes: usize, window: Arc<Window>) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::with_capacity(n_writes);
    loop {
        let frame = socket.next().await?;
        let now = since_epoch();
        if frame.contains("\"session:upsert\"")
            && let Some(written) = newest_stamp(&frame)
        {
            window.event(latencies.is_empty())?;
            latencies.push(now.saturating_sub(written));
            if latencies.len() == n_writes {
                window.end()?;
            }
        } else if frame.contains("\"turn_complete\"") {
            anyhow::ensure!(
                latencies.len() == n_writes,
                "{n_writes} writes made {} frames: something was held back",
                latencies.len()
            );
            return Ok(latencies);
        } else if frame.contains("\"turn_error\"") {
            anyhow::bail!("a turn failed: {frame}");
        }
    }
}

/// Returns the time of the last write that this text shows.
fn newest_stamp(text: &str) -> Option<Duration> {
    let stamps = text.split('@').skip(1).filter_map(|rest| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok().map(Duration::from_nanos)
    });
    stamps.max()
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn number(variable: &str, otherwise: usize) -> anyhow::Result<usize> {
    match std::env::var(variable) {
        Ok(text) => text.parse().with_context(|| format!("{variable} is no number")),
        Err(_unset) => Ok(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stamp_of_a_text_counts() {
        assert_eq!(newest_stamp("a @12 b @9 c"), Some(Duration::from_nanos(12)));
        assert_eq!(newest_stamp("nothing @ here"), None);
    }

    #[test]
    fn percentiles_come_from_the_sorted_list() {
        let latencies = (1..=100).map(Duration::from_millis).collect();
        let outcome = Outcome { latencies, cpu_ms: 0.0, cpu_per_thousand: 0.0 };
        assert_eq!((outcome.at(0.5), outcome.at(0.99)), (51.0, 100.0));
    }
}
