//! A story with a real agent: the real server on a socket, a browser's WebSocket, the scripted model API.
//!
//! What the browser gets is printed one line a frame, without ids and times. Of text that grows only its beginning
//! and its end are printed: how often it is shown in between depends on the machine. State and options have no
//! place in the order, since they are sent when a batch is done; they are looked at on their own.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::net::SocketAddr;
use std::time::Duration;

use chartroom::app::App;
use chartroom::config::Config;
use chartroom::data::DataFolder;
use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::project::Project;
use chartroom_testkit::tools;
use chartroom_transport::Keeper;
use chartroom_workspace::CanonicalRoot;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const TOKEN: &str = "a-token-of-the-stories-0123456789";
/// Longer than any machine needs; reached only when something hangs.
const LIMIT: Duration = Duration::from_secs(180);

/// What outlives a server: the model, the folders.
pub(crate) struct Place {
    pub(crate) api: ModelApi,
    pub(crate) project: Project,
    pub(crate) home: Project,
    pub(crate) data: Project,
}

impl Place {
    pub(crate) async fn new() -> Self {
        let place = Self {
            api: ModelApi::start().await,
            project: Project::new("//- README.md\nhello\n"),
            home: Project::new(""),
            data: Project::new(""),
        };
        place.home.write(
            ".codex/config.toml",
            &format!(
                "model = \"gpt-5.4\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
                 [model_providers.mock]\nname = \"mock\"\nbase_url = \"{}\"\nenv_key = \"MOCK_API_KEY\"\n\
                 wire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n\
                 [analytics]\nenabled = false\n[feedback]\nenabled = false\n",
                place.api.openai_url()
            ),
        );
        place
    }

    fn config(&self, warm: usize) -> Config {
        let home = self.home.root().display();
        let text = format!(
            r#"
[server]
token = "{TOKEN}"
[agents.claude-code]
command = "{claude}"
warmProcesses = {warm}
[agents.claude-code.env]
HOME = "{home}"
CLAUDE_CONFIG_DIR = "{home}/.claude"
ANTHROPIC_BASE_URL = "{url}"
ANTHROPIC_API_KEY = "sk-ant-dummy"
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"
DISABLE_AUTOUPDATER = "1"
CLAUDE_CODE_MAX_RETRIES = "2"
IS_SANDBOX = "1"
[agents.codex]
command = "{codex}"
[agents.codex.env]
HOME = "{home}"
CODEX_HOME = "{home}/.codex"
MOCK_API_KEY = "dummy"
"#,
            claude = tools::claude().display(),
            codex = tools::codex_acp().display(),
            url = self.api.anthropic_url(),
        );
        toml::from_str(&text).unwrap()
    }
}

/// A running server.
pub(crate) struct Server {
    pub(crate) app: App,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Server {
    pub(crate) async fn start(place: &Place) -> Self {
        Self::start_warm(place, 0).await
    }

    pub(crate) async fn start_warm(place: &Place, warm: usize) -> Self {
        let data = DataFolder::open(&place.data.path("data")).unwrap();
        let keeper = Keeper { program: env!("CARGO_BIN_EXE_chartroom").into(), args: vec!["keeper".into()] };
        let app = App::open(place.config(warm), data, keeper).unwrap();
        let root = CanonicalRoot::open(place.project.root()).unwrap();
        app.gate().trust().trust(&root).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move {
            stopped.await.ok();
        };
        let task = tokio::spawn(chartroom::http::run(listener, app.clone(), shutdown));
        Self { app, address, stop: Some(stop), task }
    }

    /// Stops the server as Ctrl-C does and waits for its end.
    pub(crate) async fn stop(mut self) {
        self.stop.take().unwrap().send(()).ok();
        tokio::time::timeout(LIMIT, self.task).await.expect("the server stops").unwrap().unwrap();
    }

    /// Asks a route; returns status and body.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let method = method.to_owned();
        let asked = tokio::task::spawn_blocking(move || {
            let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
            let bearer = format!("Bearer {TOKEN}");
            let answer = if method == "GET" {
                agent.get(&url).header("authorization", &bearer).call()
            } else {
                agent
                    .post(&url)
                    .header("authorization", &bearer)
                    .header("content-type", "application/json")
                    .send(body.to_string())
            };
            let mut answer = answer.unwrap();
            let text = answer.body_mut().read_to_string().unwrap();
            (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
        });
        asked.await.unwrap()
    }

    /// Asks a route that must succeed.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("POST", path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Creates a session and follows it as a browser does.
    pub(crate) async fn create(&self, place: &Place, cli_type: &str, mode: Option<&str>) -> Browser {
        let mut body = json!({"cliType": cli_type, "projectDir": place.project.root()});
        if let Some(mode) = mode {
            body["mode"] = json!(mode);
        }
        let (status, created) = self.ask("POST", "/api/session/create", body).await;
        assert_eq!((status, &created["cliType"]), (201, &json!(cli_type)), "{created}");
        self.follow(created["sessionId"].as_str().unwrap()).await
    }

    /// Opens a WebSocket and subscribes to a session.
    pub(crate) async fn follow(&self, session_id: &str) -> Browser {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut browser = Browser {
            socket,
            session_id: session_id.to_owned(),
            turns: Vec::new(),
            queue: "queue []".to_owned(),
            states: Vec::new(),
        };
        let subscribe = json!({"type": "subscribe", "sessionId": session_id, "requestId": "subscribe"});
        browser.socket.send(Message::text(subscribe.to_string())).await.unwrap();
        browser
    }
}

/// One browser on one session.
pub(crate) struct Browser {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) session_id: String,
    turns: Vec<String>,
    /// The queue as it was printed last.
    queue: String,
    /// Every state with its note, in order.
    pub(crate) states: Vec<String>,
}

impl Browser {
    pub(crate) fn path(&self, command: &str) -> String {
        format!("/api/session/{}/{command}", self.session_id)
    }

    /// Sends a message and returns its turn's id.
    pub(crate) async fn send(&self, server: &Server, message: &str) -> Value {
        server.post(&self.path("send"), json!({"message": message})).await
    }

    /// Returns the next frame.
    pub(crate) async fn frame(&mut self) -> Value {
        let next = async {
            loop {
                match self.socket.next().await.expect("the socket stays open").unwrap() {
                    Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                    Message::Close(reason) => panic!("the server closed the socket: {reason:?}"),
                    _ => {}
                }
            }
        };
        tokio::time::timeout(LIMIT, next).await.expect("a frame comes")
    }

    /// Reads frames until one is printed that begins with `end`, and returns the lines.
    pub(crate) async fn until(&mut self, end: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let frame = self.frame().await;
            if let Some(line) = self.print(&frame) {
                let done = line.starts_with(end);
                lines.push(line);
                if done {
                    return lines;
                }
            }
        }
    }

    /// Reads frames until the end of a turn, however it ends, and returns the lines.
    pub(crate) async fn until_end(&mut self, number: usize) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            lines.extend(self.until(&format!("turn {number} ")).await);
            if lines.last().is_some_and(|line| !line.contains(" started ")) {
                return lines;
            }
        }
    }

    /// Waits until a message is shown, finished or not, that begins with this.
    pub(crate) async fn until_said(&mut self, beginning: &str) {
        loop {
            let frame = self.frame().await;
            let payload = &frame["payload"];
            if payload["origin"] == "agent"
                && payload["content"].as_str().is_some_and(|text| text.starts_with(beginning))
            {
                return;
            }
        }
    }

    /// Waits for a question and returns its id with the lines before it.
    pub(crate) async fn until_asked(&mut self) -> (String, Vec<String>) {
        let mut lines = Vec::new();
        loop {
            let frame = self.frame().await;
            lines.extend(self.print(&frame));
            if frame["type"] == "session:question" {
                return (frame["question"]["questionId"].as_str().unwrap().to_owned(), lines);
            }
        }
    }

    fn print(&mut self, frame: &Value) -> Option<String> {
        let payload = &frame["payload"];
        match frame["type"].as_str().unwrap() {
            "session:upsert" => upsert(payload),
            "session:turn" => Some(self.turn(payload)),
            "session:question" => {
                let question = &frame["question"];
                let what = question["toolName"].as_str().or(question["questions"][0]["question"].as_str());
                Some(format!("question {}", what.unwrap_or_default()))
            }
            "session:question-closed" => Some("question closed".to_owned()),
            "session:queue" => {
                let messages = frame["messages"].as_array().unwrap();
                let texts: Vec<&str> =
                    messages.iter().filter_map(|message| message["message"].as_str()).collect();
                let queue = format!("queue {texts:?}");
                // A reader is told the queue when it comes, also when there is nothing in it.
                let changed = self.queue != queue;
                self.queue.clone_from(&queue);
                changed.then_some(queue)
            }
            "session:state" => {
                let note = frame["note"].as_str().map(|note| format!(" ({note})")).unwrap_or_default();
                self.states.push(format!("{}{note}", frame["state"].as_str().unwrap()));
                None
            }
            "session:history" => {
                let entries = frame["entries"].as_array().unwrap();
                let lines: Vec<String> = entries.iter().filter_map(upsert).collect();
                Some(format!("history\n{}", lines.join("\n")).trim_end().to_owned())
            }
            _ => None,
        }
    }

    fn turn(&mut self, payload: &Value) -> String {
        let id = payload["turnId"].as_str().unwrap().to_owned();
        let number = self.turns.iter().position(|turn| *turn == id).unwrap_or_else(|| {
            self.turns.push(id);
            self.turns.len() - 1
        });
        match payload["type"].as_str().unwrap() {
            "turn_started" => format!("turn {number} started {}", payload["modelId"].as_str().unwrap()),
            "turn_complete" => format!("turn {number} {}", payload["status"].as_str().unwrap()),
            _ => format!(
                "turn {number} failed {}: {}",
                payload["errorCode"].as_str().unwrap(),
                payload["errorMessage"].as_str().unwrap()
            ),
        }
    }
}

fn upsert(payload: &Value) -> Option<String> {
    let status = payload["status"].as_str().unwrap();
    if status == "update" {
        return None;
    }
    let content = payload["content"].as_str().unwrap_or_default();
    Some(match (payload["type"].as_str().unwrap(), status) {
        ("message", _) if payload["origin"] == "user" => format!("user {content:?}"),
        (kind @ ("message" | "thinking"), "create") => format!("create {kind}"),
        (kind @ ("message" | "thinking"), status) => format!("{status} {kind} {content:?}"),
        (_, status) => {
            let name = payload["toolName"].as_str().unwrap();
            let output = match payload["toolOutput"].as_str() {
                Some(output) if payload["toolOutputIsError"] == true => format!(" !> {output:?}"),
                Some(output) => format!(" -> {output:?}"),
                None => String::new(),
            };
            format!("{status} tool {name}{output}")
        }
    })
}

/// A tool that tells its process id over loopback and then sleeps for longer than any story.
pub(crate) struct SleepingTool {
    pub(crate) command: String,
    listener: TcpListener,
}

impl SleepingTool {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { command: format!("echo $$ > /dev/tcp/127.0.0.1/{port}; exec sleep 1000"), listener }
    }

    /// Waits until the tool runs and returns its process id.
    pub(crate) async fn pid(&self) -> u32 {
        use tokio::io::AsyncReadExt as _;
        let accept = async {
            let (mut socket, _) = self.listener.accept().await.unwrap();
            let mut pid = String::new();
            socket.read_to_string(&mut pid).await.unwrap();
            pid.trim().parse().unwrap()
        };
        tokio::time::timeout(LIMIT, accept).await.expect("the tool runs")
    }
}

/// Tells whether a process lives; a zombie does not.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}
