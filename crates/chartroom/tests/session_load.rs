//! Memory under load: the finished server with fake agents as processes, readers that read and readers that do not.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use std::collections::HashSet;
use std::time::Duration;

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::ws::ServerFrame;
use futures_util::{SinkExt as _, StreamExt as _};
use program::{Home, Server};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const TOKEN: &str = "0123456789abcdef";
const SESSIONS: usize = 20;
/// Readers of the first sessions that subscribe and then never read.
const STOPPED: usize = 5;
/// What a flooded session says in a round: so many items of 100 KB, each shown twice (created and completed).
const FLOOD: usize = 100;
/// A stopped reader may hold a queue (4 MB) and what is in its socket; without a bound it would hold the whole flood,
/// which is 20 MB a reader and round.
const GROWTH_KIB: u64 = 40 * 1024;

async fn ask(host: &str, path: &str, body: Value) -> Value {
    let url = format!("http://{host}{path}");
    let asked = tokio::task::spawn_blocking(move || {
        let request = ureq::post(&url).header("authorization", format!("Bearer {TOKEN}"));
        let mut answer = request.header("content-type", "application/json").send(body.to_string()).unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    });
    asked.await.unwrap()
}

async fn follow(host: &str, session_id: &str) -> WebSocketStream<TcpStream> {
    let mut request = format!("ws://{host}/ws").into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
    let stream = TcpStream::connect(host).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream).await.unwrap();
    let subscribe = json!({ "type": "subscribe", "requestId": "s", "sessionId": session_id });
    socket.send(Message::text(subscribe.to_string())).await.unwrap();
    loop {
        if matches!(next(&mut socket).await, ServerFrame::Ack { .. }) {
            return socket;
        }
    }
}

async fn next(socket: &mut WebSocketStream<TcpStream>) -> ServerFrame {
    loop {
        // Generous: it only ends a hang.
        let message = tokio::time::timeout(Duration::from_secs(300), socket.next()).await.expect("a frame");
        if let Message::Text(text) = message.expect("the socket is open").unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

fn server(home: &Home) -> Server {
    std::fs::create_dir(home.path().join("shop")).unwrap();
    let agent = chartroom_testkit::fakes::claude().display().to_string();
    let config =
        home.write("config.toml", &format!("[agents.claude-code]\ncommand = {agent:?}\nwarmProcesses = 0\n"));
    let mut command = home.command(&["shop", "--trust", "--port", "0"]);
    // Freed memory goes back at once, so that what is measured is what is held.
    command
        .env("CHARTROOM_TOKEN", TOKEN)
        .env("CHARTROOM_CONFIG", config)
        .env("MALLOC_TRIM_THRESHOLD_", "65536");
    Server::start(command)
}

/// What a reader got of one round.
struct Round {
    n_completed: usize,
    /// It fell behind on a busy machine and took the state instead of every frame.
    fell_behind: bool,
}

/// Follows the turn of one round to its end; `ended` are the turns that have ended before.
async fn read_round(socket: &mut WebSocketStream<TcpStream>, ended: &mut HashSet<TurnId>) -> Round {
    let mut round = Round { n_completed: 0, fell_behind: false };
    loop {
        match next(socket).await {
            ServerFrame::Upsert { payload, .. } => {
                let complete = payload.status == chartroom_protocol::upsert::UpsertStatus::Complete;
                round.n_completed += usize::from(complete);
            }
            ServerFrame::Turn { payload, .. } if payload.is_terminal() => {
                ended.insert(payload.turn_id().clone());
                return round;
            }
            ServerFrame::History { entries, turns, .. } if !entries.is_empty() => {
                round.fell_behind = true;
                let n_before = ended.len();
                ended.extend(
                    turns.iter().filter(|turn| turn.is_terminal()).map(|turn| turn.turn_id().clone()),
                );
                if ended.len() > n_before {
                    return round;
                }
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_stays_bounded_while_five_of_40_readers_are_stopped_and_the_volume_doubles() {
    let home = Home::new();
    let server = server(&home);
    let host = server.host();
    let mut ids = Vec::new();
    for _ in 0..SESSIONS {
        let folder = home.path().join("shop").display().to_string();
        let body = json!({ "cliType": "claude-code", "projectDir": folder });
        let created = ask(&host, "/api/session/create", body).await;
        ids.push(created["sessionId"].as_str().unwrap().to_owned());
    }
    let mut stopped = Vec::new();
    let mut readers = Vec::new();
    for n in 0..2 * SESSIONS {
        let socket = follow(&host, &ids[n % SESSIONS]).await;
        if n < STOPPED { stopped.push(socket) } else { readers.push((n % SESSIONS, socket, HashSet::new())) }
    }
    let mut resident = Vec::new();
    for _ in 0..2 {
        for (n, id) in ids.iter().enumerate() {
            // The sessions with a stopped reader say the most.
            let message = if n < STOPPED { format!("flood {FLOOD}") } else { "flood 2".to_owned() };
            ask(&host, &format!("/api/session/{id}/send"), json!({ "message": message })).await;
        }
        let mut tasks = Vec::new();
        for (n, mut socket, mut ended) in std::mem::take(&mut readers) {
            tasks.push(tokio::spawn(async move {
                let round = read_round(&mut socket, &mut ended).await;
                (n, round, socket, ended)
            }));
        }
        for task in tasks {
            let (n, round, socket, ended) = task.await.unwrap();
            // The user's message, the flood, and its end: a reader that reads misses nothing.
            let all = if n < STOPPED { FLOOD } else { 2 } + 2;
            assert!(round.fell_behind || round.n_completed == all, "{n}: {} of {all}", round.n_completed);
            readers.push((n, socket, ended));
        }
        resident.push(resident_kib(server.child.id()));
    }
    let growth = resident[1].saturating_sub(resident[0]);
    assert!(growth < GROWTH_KIB, "{resident:?} KiB: the second round added {growth}");
    // The stopped ones were there all the time, and end with the same state as everybody when they read on.
    for (n, mut socket) in stopped.into_iter().enumerate() {
        let url = format!("http://{host}/api/session/{}/history", ids[n]);
        let history = tokio::task::spawn_blocking(move || {
            let request = ureq::get(&url).header("authorization", format!("Bearer {TOKEN}"));
            request.call().unwrap().body_mut().with_config().limit(1 << 30).read_to_string().unwrap()
        });
        let Ok(ServerFrame::History { seq: last, .. }) = serde_json::from_str(&history.await.unwrap()) else {
            panic!("a history is answered")
        };
        loop {
            match next(&mut socket).await {
                ServerFrame::History { seq, .. } | ServerFrame::Turn { seq, .. } if seq == last => break,
                _ => {}
            }
        }
    }
    server.stop();
}
