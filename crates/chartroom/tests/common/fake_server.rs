//! The real server on a socket, with fake agents `claude-code` and `codex` and one trusted project.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chartroom::app::App;
use chartroom::config::Config;
use chartroom::data::DataFolder;
use chartroom_protocol::ws::{ClientFrame, ServerFrame};
use chartroom_sessions::Registry;
use chartroom_sessions::fake::FakeProvider;
use chartroom_transport::Keeper;
use chartroom_workspace::CanonicalRoot;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

pub const TOKEN: &str = "a-token-of-the-tests-0123456789";
/// Generous: it only ends a hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct FakeServer {
    pub address: SocketAddr,
    pub app: App,
    pub claude: FakeProvider,
    pub codex: FakeProvider,
    pub folder: tempfile::TempDir,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    task: Option<tokio::task::JoinHandle<anyhow::Result<()>>>,
}

impl FakeServer {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// The same with more in the user's config.
    pub async fn start_with(set: impl FnOnce(&mut Config)) -> Self {
        let mut server = Self::without_socket(set).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        server.address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let app = server.app.clone();
        server.task = Some(tokio::spawn(chartroom::http::run(listener, app, async move {
            drop(stopped.await);
        })));
        server.stop = Some(stop);
        server
    }

    async fn without_socket(set: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (claude, codex) = (FakeProvider::new("claude-code"), FakeProvider::new("codex"));
        let mut config = Config::default();
        config.server.token = Some(TOKEN.to_owned());
        set(&mut config);
        let data = DataFolder::open(&folder.path().join("data")).unwrap();
        let keeper = Keeper { program: env!("CARGO_BIN_EXE_chartroom").into(), args: vec!["keeper".into()] };
        let mut registry = Registry::default();
        registry.register(Arc::new(claude.clone()));
        registry.register(Arc::new(codex.clone()));
        let app = App::open_with(config, data, keeper, |_, _| registry).unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        app.projects().ensure(&CanonicalRoot::open(&project).unwrap(), true).await.unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 4747));
        Self { address, app, claude, codex, folder, stop: None, task: None }
    }

    pub fn project(&self) -> String {
        self.folder.path().join("project").canonicalize().unwrap().display().to_string()
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    pub async fn project_id(&self) -> String {
        self.app.projects().list().await.unwrap()[0].project_id.to_string()
    }

    pub async fn stop(mut self) {
        drop(self.stop.take());
        self.task.take().expect("it has a socket").await.unwrap().unwrap();
    }

    /// Asks over HTTP and returns the status and the body.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let (method, text) = (method.to_owned(), body.to_string());
        tokio::task::spawn_blocking(move || {
            let agent = ureq::Agent::new_with_config(
                ureq::config::Config::builder().http_status_as_error(false).build(),
            );
            let bearer = format!("Bearer {TOKEN}");
            let answer = match method.as_str() {
                "GET" => agent.get(&url).header("authorization", &bearer).call(),
                "DELETE" => agent.delete(&url).header("authorization", &bearer).call(),
                _ => agent
                    .post(&url)
                    .header("authorization", &bearer)
                    .header("content-type", "application/json")
                    .send(text),
            };
            let mut answer = answer.unwrap();
            let status = answer.status().as_u16();
            let text = answer.body_mut().read_to_string().unwrap();
            (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
        })
        .await
        .unwrap()
    }

    pub async fn create(&self, cli_type: &str) -> String {
        let body = json!({ "cliType": cli_type, "projectDir": self.project() });
        let (status, answer) = self.ask("POST", "/api/session/create", body).await;
        assert_eq!(status, 201, "{answer}");
        answer["sessionId"].as_str().unwrap().to_owned()
    }

    pub async fn connect(&self) -> Socket {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        let bearer = format!("Bearer {TOKEN}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (stream, _) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        Socket { stream }
    }
}

/// A browser's end of the socket.
pub struct Socket {
    pub stream: WebSocketStream<TcpStream>,
}

impl Socket {
    pub async fn send(&mut self, frame: Value) {
        // What the test says is what the types say.
        if frame.get("type").is_some() && frame.get("deliberately").is_none() {
            serde_json::from_value::<ClientFrame>(frame.clone()).unwrap();
        }
        self.stream.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub async fn next(&mut self) -> ServerFrame {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("a frame in time");
            match message.expect("the socket is open").unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("expected text, got {other:?}"),
            }
        }
    }

    pub async fn until(&mut self, fits: impl Fn(&ServerFrame) -> bool) -> Vec<ServerFrame> {
        let mut seen = Vec::new();
        loop {
            let frame = self.next().await;
            let done = fits(&frame);
            seen.push(frame);
            if done {
                return seen;
            }
        }
    }

    /// Reads until the answer to a request: its result, or the message of its error.
    pub async fn answer(&mut self, request: &str) -> Result<Value, String> {
        loop {
            match self.next().await {
                ServerFrame::Ack { request_id, result } if request_id == request => return Ok(result),
                ServerFrame::Error { request_id, message, .. } if request_id.as_deref() == Some(request) => {
                    return Err(message);
                }
                _ => {}
            }
        }
    }

    pub async fn subscribe(&mut self, session_id: &str, after_seq: Option<u64>) {
        let mut frame = json!({ "type": "subscribe", "requestId": "subscribe", "sessionId": session_id });
        if let Some(seq) = after_seq {
            frame["afterSeq"] = seq.into();
        }
        self.send(frame).await;
        self.answer("subscribe").await.unwrap();
    }
}
