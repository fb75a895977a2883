//! Terminals through the real server: a real shell over its socket, who may have one, and that nothing of it is left.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;
#[path = "common/program.rs"]
mod program;

use std::net::SocketAddr;

use chartroom_protocol::terminal::{TerminalCommand, TerminalFrame};
use chartroom_workspace::CanonicalRoot;
use fake_server::{FakeServer, PATIENCE, TOKEN};
use futures_util::{SinkExt as _, StreamExt as _};
use program::{Home, Server, processes_of, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

/// A browser's end of a terminal's socket, which draws all that it is sent.
struct Looking {
    stream: WebSocketStream<TcpStream>,
    text: String,
    n_drawn: u64,
}

/// What the socket said beside what was printed.
type Said = Result<Option<TerminalFrame>, String>;

impl Looking {
    async fn at(address: SocketAddr, id: &str) -> Self {
        let stream = connect(address, id, &[("authorization", &format!("Bearer {TOKEN}"))]).await.unwrap();
        Looking { stream, text: String::new(), n_drawn: 0 }
    }

    async fn next(&mut self) -> Said {
        let message = tokio::time::timeout(PATIENCE, self.stream.next()).await;
        match message.unwrap_or_else(|_| panic!("nothing more after {:?}", self.text)) {
            Some(Ok(Message::Binary(bytes))) => {
                self.n_drawn += bytes.len() as u64;
                self.text.push_str(&String::from_utf8_lossy(&bytes));
                self.command(&TerminalCommand::Read { bytes: self.n_drawn }).await;
                Ok(None)
            }
            Some(Ok(Message::Text(text))) => Ok(Some(serde_json::from_str(&text).unwrap())),
            Some(Ok(Message::Close(Some(close)))) => Err(close.reason.to_string()),
            Some(Ok(_)) => Ok(None),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("no more".to_owned()),
        }
    }

    async fn until(&mut self, wanted: &str) -> String {
        while !self.text.contains(wanted) {
            self.next().await.unwrap();
        }
        std::mem::take(&mut self.text)
    }

    async fn type_in(&mut self, text: &str) {
        self.stream.send(Message::binary(text.as_bytes().to_vec())).await.unwrap();
    }

    async fn command(&mut self, command: &TerminalCommand) {
        let text = serde_json::to_string(command).unwrap();
        // A socket that is closed already says so by itself.
        self.stream.send(Message::text(text)).await.ok();
    }
}

async fn connect(
    address: SocketAddr,
    id: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
    let mut request = format!("ws://{address}/ws/terminal/{id}").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.map(|(stream, _)| stream)
}

async fn open(server: &FakeServer, session_id: Option<&str>) -> (u16, Value) {
    let mut body = json!({ "projectId": server.project_id().await, "columns": 90, "rows": 20 });
    if let Some(session_id) = session_id {
        body["sessionId"] = session_id.into();
    }
    server.ask("POST", "/api/terminal", body).await
}

async fn opened(server: &FakeServer) -> String {
    let (status, terminal) = open(server, None).await;
    assert_eq!(status, 201, "{terminal}");
    terminal["terminalId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_is_typed_into_resized_looked_at_again_and_closed() {
    let server = FakeServer::start().await;
    let id = opened(&server).await;
    let mut looking = Looking::at(server.address, &id).await;
    // The shell may have printed its prompt before the socket was there.
    assert!(matches!(looking.next().await, Ok(Some(TerminalFrame::Attached { .. }))));
    looking.type_in("echo in''$(pwd) size''$(stty size)\n").await;
    looking.until(&format!("in{} size20 90", server.project())).await;
    looking.command(&TerminalCommand::Resize { columns: 120, rows: 40 }).await;
    looking.type_in("echo size''$(stty size)\n").await;
    looking.until("size40 120").await;
    // A reload: another socket is given what was printed before.
    drop(looking);
    let mut again = Looking::at(server.address, &id).await;
    let Ok(Some(TerminalFrame::Attached { replayed })) = again.next().await else { panic!("no first frame") };
    assert!(replayed > 0);
    again.until("size40 120").await;
    again.type_in("exit 4\n").await;
    let how = loop {
        if let Some(TerminalFrame::Ended { how, success }) = again.next().await.unwrap() {
            break (how, success);
        }
    };
    assert_eq!(how, ("exited with status 4".to_owned(), false));
    let list = format!("/api/terminal?projectId={}", server.project_id().await);
    let (_, listed) = server.ask("GET", &list, Value::Null).await;
    assert_eq!(listed["terminals"][0]["ended"], "exited with status 4");
    let (status, _) = server.ask("DELETE", &format!("/api/terminal/{id}"), Value::Null).await;
    assert_eq!(status, 204);
    let closed = loop {
        if let Err(reason) = again.next().await {
            break reason;
        }
    };
    assert_eq!(closed, "the terminal was closed");
    let (status, gone) = server.ask("DELETE", &format!("/api/terminal/{id}"), Value::Null).await;
    assert_eq!((status, gone["error"]["code"].as_str()), (404, Some("NOT_FOUND")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_thousand_lines_come_through_to_a_browser_that_draws_them() {
    let server = FakeServer::start().await;
    let id = opened(&server).await;
    let mut looking = Looking::at(server.address, &id).await;
    looking.type_in("yes | head -200000 | cat -n; echo en''ded\n").await;
    let printed = looking.until("ended").await;
    assert!(printed.contains("200000\ty\r\n"));
    assert_eq!(printed.matches("\ty\r\n").count(), 200_000, "none is left out");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_s_terminal_begins_in_its_folder() {
    let server = FakeServer::start().await;
    let session_id = server.create("codex").await;
    let (status, terminal) = open(&server, Some(&session_id)).await;
    assert_eq!((status, terminal["folder"].as_str()), (201, Some(server.project().as_str())), "{terminal}");
    let (status, none) = open(&server, Some("none")).await;
    assert_eq!((status, none["error"]["code"].as_str()), (404, Some("SESSION_NOT_FOUND")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_untrusted_folder_has_no_terminal_and_taking_trust_back_ends_it() {
    let server = FakeServer::start().await;
    let id = opened(&server).await;
    let mut looking = Looking::at(server.address, &id).await;
    looking.type_in("echo be''gun\n").await;
    looking.until("begun").await;
    let root = CanonicalRoot::open(server.project()).unwrap();
    server.app.gate().trust().revoke(root.as_path()).unwrap();
    let how = loop {
        if let Some(TerminalFrame::Ended { how, .. }) = looking.next().await.unwrap() {
            break how;
        }
    };
    assert_eq!(how, "was ended by signal 9");
    let (status, refused) = open(&server, None).await;
    assert_eq!((status, refused["error"]["code"].as_str()), (403, Some("WORKSPACE_UNTRUSTED")), "{refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_s_socket_opens_to_no_stranger() {
    let server = FakeServer::start().await;
    let id = opened(&server).await;
    let bearer = format!("Bearer {TOKEN}");
    for (headers, expected) in [
        (vec![], 401),
        (vec![("authorization", "Bearer wrong")], 401),
        (vec![("authorization", bearer.as_str()), ("origin", "http://evil.example")], 403),
        (vec![("authorization", bearer.as_str()), ("host", "evil.example")], 403),
        (vec![("authorization", bearer.as_str()), ("sec-fetch-site", "cross-site")], 403),
    ] {
        match connect(server.address, &id, &headers).await {
            Err(tungstenite::Error::Http(answer)) => {
                assert_eq!(answer.status().as_u16(), expected, "{headers:?}");
            }
            other => panic!("{headers:?}: {other:?}"),
        }
    }
    server.stop().await;
}

/// What runs in a terminal is below a child of ours, as an agent is.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_below_a_child_of_ours_can_neither_open_nor_look_at_a_terminal() {
    let server = FakeServer::start().await;
    let id = opened(&server).await;
    let (host, port) = (server.address.ip(), server.address.port());
    let request = |head: &str| {
        format!(
            "{head} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nAuthorization: Bearer {TOKEN}\\r\\nConnection: close\\r\\n"
        )
    };
    let upgrade = "Upgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n";
    let mut looking = Looking::at(server.address, &id).await;
    for head in [
        format!(
            "{}Content-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}",
            request("POST /api/terminal")
        ),
        format!("{}{upgrade}", request(&format!("GET /ws/terminal/{id}"))),
    ] {
        let script =
            format!("exec 3<>/dev/tcp/{host}/{port}; printf '{head}' >&3; cat <&3; echo; echo en\"\"ded");
        std::fs::write(format!("{}/ask.sh", server.project()), script).unwrap();
        looking.type_in("bash ask.sh\n").await;
        let answer = looking.until("ended").await;
        assert!(answer.contains("FORBIDDEN_PROCESS"), "{answer}");
    }
    server.stop().await;
}

/// Starts a server with a terminal in which a process of its own session runs.
fn server_with_a_shell(home: &Home) -> Server {
    std::fs::create_dir(home.path().join("shop")).unwrap();
    let mut command = home.command(&["shop", "--trust", "--port", "0"]);
    command.env("CHARTROOM_TOKEN", TOKEN).env("SHELL", "/bin/sh");
    let server = Server::start(command);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let ask = |method: &str, path: &str, body: &str| {
        let answer = server.request(method, path, &headers, body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
        serde_json::from_str::<Value>(body).unwrap()
    };
    let projects = ask("GET", "/api/project", "");
    let body = json!({ "projectId": projects["projects"][0]["projectId"], "columns": 80, "rows": 24 });
    let terminal = ask("POST", "/api/terminal", &body.to_string());
    let id = terminal["terminalId"].as_str().unwrap().to_owned();
    let address: SocketAddr = server.host().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut looking = Looking::at(address, &id).await;
        looking.type_in("trap '' HUP TERM; setsid sleep 1000 & sleep 1000 & echo be''gun\n").await;
        looking.until("begun").await;
    });
    server
}

#[test]
fn kill_minus_9_of_the_server_leaves_nothing_of_a_terminal() {
    let home = Home::new();
    let mut server = server_with_a_shell(&home);
    server.signal(Signal::KILL);
    server.child.wait().unwrap();
    wait_until("everything ends with the server", || processes_of(&home.path()).is_empty());
}

#[test]
fn ctrl_c_of_the_server_ends_its_terminals() {
    let home = Home::new();
    let server = server_with_a_shell(&home);
    server.signal(Signal::INT);
    assert_eq!(server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home.path()).is_empty());
}
