//! The baseline: a process that starts the same agents and copies each one's pipe to a socket, and nothing else.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::window::Window;
use super::{Outcome, Plan, agent, gather, newest_stamp, since_epoch};
use crate::server::{cpu_ms, program_command};

/// The argument that makes this program a relay; the number of agents follows.
pub(crate) const COMMAND: &str = "play-relay";

/// Runs the relay: prints its port, takes one connection an agent, passes its first line on to the agent and copies
/// what the agent says.
pub(crate) fn play() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let mut stdout = tokio::io::stdout();
        stdout.write_all(format!("{}\n", listener.local_addr()?.port()).as_bytes()).await?;
        stdout.flush().await?;
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let program = std::env::current_exe()?;
            let child = tokio::process::Command::from(program_command(&program))
                .arg(agent::COMMAND)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            drop(tokio::spawn(async move {
                // All of it moves in here, so that the agent lives as long as its copying.
                let mut child = child;
                let (input, output) = (child.stdin.take(), child.stdout.take());
                let (Some(mut input), Some(mut output)) = (input, output) else { return };
                let (mut from, mut to) = socket.into_split();
                let there = tokio::io::copy(&mut from, &mut input);
                let back = copy_back(&mut output, &mut to);
                // The first to end ends both; its reason is that the benchmark is over.
                tokio::select! {
                    _ = there => {}
                    _ = back => {}
                }
            }));
        }
    })
}

async fn copy_back(
    output: &mut tokio::process::ChildStdout,
    socket: &mut tokio::net::tcp::OwnedWriteHalf,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = output.read(&mut buffer).await?;
        if n_read == 0 {
            return Ok(());
        }
        socket.write_all(&buffer[..n_read]).await?;
    }
}

pub(super) async fn measure(plan: Plan) -> anyhow::Result<Outcome> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut relay = tokio::process::Command::from(program_command(&program))
        .arg(COMMAND)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting the relay")?;
    let mut line = String::new();
    BufReader::new(relay.stdout.take().context("stdout is piped")?).read_line(&mut line).await?;
    let port: u16 = line.trim().parse().context("the relay prints its port")?;
    let pid = relay.id().context("the relay runs")?;
    let mut sockets = Vec::new();
    for _ in 0..plan.n_sessions {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).await?;
        // An answer shows that the agent is up.
        let hello =
            json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}});
        socket.write_all(format!("{hello}\n").as_bytes()).await?;
        let mut socket = BufReader::new(socket);
        socket.read_line(&mut String::new()).await?;
        sockets.push(socket);
    }
    let before = cpu_ms(pid)?;
    let window = Arc::new(Window::new(pid, plan.n_sessions));
    let mut readers = Vec::new();
    for mut socket in sockets {
        let content = json!([{"type": "text", "text": plan.message()}]);
        let user = json!({"type": "user", "message": {"role": "user", "content": content}, "uuid": "turn"});
        socket.get_mut().write_all(format!("{user}\n").as_bytes()).await?;
        let n_writes = plan.n_rounds * agent::WRITES_PER_ROUND;
        readers.push(tokio::spawn(read(socket, n_writes, Arc::clone(&window))));
    }
    let latencies = gather(readers).await?;
    let cpu_ms = cpu_ms(pid)? - before;
    relay.kill().await?;
    Ok(Outcome { latencies, cpu_ms, cpu_per_thousand: window.cpu_per_thousand()? })
}

async fn read(
    mut socket: BufReader<TcpStream>,
    n_writes: usize,
    window: Arc<Window>,
) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::with_capacity(n_writes);
    let mut newest = Duration::ZERO;
    let mut line = String::new();
    loop {
        line.clear();
        anyhow::ensure!(socket.read_line(&mut line).await? > 0, "the relay closed the socket");
        let now = since_epoch();
        // The first line of a write that shows its time; the lines after it say the same.
        if let Some(written) = newest_stamp(&line).filter(|written| *written > newest) {
            newest = written;
            window.event(latencies.is_empty())?;
            latencies.push(now.saturating_sub(written));
        }
        if latencies.len() == n_writes {
            window.end()?;
        }
        if line.contains("\"completed\"") && line.contains("command_lifecycle") {
            anyhow::ensure!(latencies.len() == n_writes, "{n_writes} writes, {} read", latencies.len());
            return Ok(latencies);
        }
    }
}
