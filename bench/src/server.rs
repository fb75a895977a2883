//! The finished server as a process of its own, as the benchmarks of sessions use it: over HTTP and WebSocket.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const TOKEN: &str = "a-token-of-the-benchmark-0123456789";

pub(crate) struct Server {
    child: Child,
    host: String,
    project: PathBuf,
    /// Keeps its connection, as clients do.
    client: ureq::Agent,
    _home: tempfile::TempDir,
}

impl Server {
    /// Starts a server with this config; its one project is an empty, trusted folder.
    pub(crate) fn start(config: &str) -> anyhow::Result<Self> {
        let home = tempfile::tempdir().context("making a home folder")?;
        let path = home.path().canonicalize().context("resolving the home folder")?;
        let project = path.join("project");
        std::fs::create_dir(&project).context("making a project")?;
        std::fs::write(path.join("config.toml"), config).context("writing the config")?;
        let program = std::env::current_exe().context("finding this program")?.with_file_name("chartroom");
        let mut command = program_command(&program);
        command
            .args(["serve", "--port", "0", "--trust"])
            .arg(&project)
            .env_clear()
            .env("HOME", &path)
            .env("TMPDIR", &path)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("CHARTROOM_HOME", path.join("data"))
            .env("CHARTROOM_CONFIG", path.join("config.toml"))
            .env("CHARTROOM_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let stdout = child.stdout.take().context("stdout is piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context("reading the ready line")?;
        let host = line
            .split_once("http://")
            .and_then(|(_, link)| link.split('/').next())
            .context("the server printed no link")?
            .to_owned();
        let client = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { child, host, project, client, _home: home })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks a route that must succeed.
    pub(crate) fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let mut answer = self
            .client
            .post(format!("http://{}{path}", self.host))
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json")
            .send(body.to_string())
            .with_context(|| format!("asking {path}"))?;
        let text = answer.body_mut().read_to_string().context("reading the answer")?;
        anyhow::ensure!(answer.status().is_success(), "{path} answered {text}");
        serde_json::from_str(&text).context("the answer is JSON")
    }

    /// Asks a route that only reads and must succeed.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<()> {
        let answer = ureq::get(format!("http://{}{path}", self.host))
            .header("authorization", format!("Bearer {TOKEN}"))
            .call()
            .with_context(|| format!("asking {path}"))?;
        answer.into_body().read_to_string().map(drop).context("reading the answer")
    }

    /// Creates a session and returns its id.
    pub(crate) fn create(&self, cli_type: &str) -> anyhow::Result<String> {
        let created =
            self.post("/api/session/create", &json!({ "cliType": cli_type, "projectDir": self.project }))?;
        Ok(created["sessionId"].as_str().context("a session has an id")?.to_owned())
    }

    pub(crate) fn send(&self, session_id: &str, message: &str) -> anyhow::Result<()> {
        self.post(&format!("/api/session/{session_id}/send"), &json!({ "message": message })).map(drop)
    }

    /// Opens a WebSocket that follows a session, and returns when its greeting has been read.
    pub(crate) async fn follow(&self, session_id: &str) -> anyhow::Result<Socket> {
        let mut request = format!("ws://{}/ws", self.host).into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse()?);
        let stream = TcpStream::connect(&self.host).await.context("connecting")?;
        stream.set_nodelay(true)?;
        let (stream, _) =
            tokio_tungstenite::client_async(request, stream).await.context("opening a socket")?;
        let mut socket = Socket { stream };
        let subscribe = json!({ "type": "subscribe", "sessionId": session_id });
        socket.stream.send(Message::text(subscribe.to_string())).await?;
        // A subscription's greeting ends with the state.
        loop {
            let text = socket.next().await?;
            if text.contains("\"session:state\"") && text.contains(session_id) {
                return Ok(socket);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL: the keepers end the agents. It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A reader's end.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    pub(crate) async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            match self.stream.next().await.context("the server closed the socket")?? {
                Message::Text(text) => return Ok(text.as_str().to_owned()),
                Message::Close(reason) => anyhow::bail!("the server closed the socket: {reason:?}"),
                _ => {}
            }
        }
    }
}

/// The processor time that a process has used so far, in milliseconds.
pub(crate) fn cpu_ms(pid: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("reading its processor time")?;
    let fields: Vec<&str> = stat.rsplit_once(") ").context("a stat line")?.1.split(' ').collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    // utime and stime, in the kernel's hundredths of a second.
    let used = ticks(11).zip(ticks(12)).context("utime and stime")?;
    Ok((used.0 + used.1) * 10.0)
}

/// The most memory that a process has held so far, in KiB.
pub(crate) fn peak_kib(pid: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).context("reading its memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    line.trim().trim_end_matches(" kB").trim().parse().context("VmHWM is a number")
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts programs as a shell would")]
pub(crate) fn program_command(program: &Path) -> Command {
    Command::new(program)
}
