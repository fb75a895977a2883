//! A story with a real agent: the scripted model, a project, the finished server as a process of its own with a
//! cleared environment, and a browser on its WebSocket.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

#[path = "browser.rs"]
mod browser;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::project::Project;
use chartroom_testkit::tools;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) use browser::Browser;

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
        Self::with(Project::new("//- README.md\nhello\n")).await
    }

    pub(crate) async fn with(project: Project) -> Self {
        let place =
            Self { api: ModelApi::start().await, project, home: Project::new(""), data: Project::new("") };
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

    pub(crate) fn config(&self, n_warm: usize) -> String {
        let home = self.home.root().display();
        format!(
            r#"
[agents.claude-code]
command = "{claude}"
warmProcesses = {n_warm}
[agents.claude-code.env]
CLAUDE_CONFIG_DIR = "{home}/.claude"
ANTHROPIC_BASE_URL = "{url}"
ANTHROPIC_API_KEY = "sk-ant-dummy"
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"
DISABLE_AUTOUPDATER = "1"
CLAUDE_CODE_MAX_RETRIES = "2"
IS_SANDBOX = "1"
[agents.codex]
command = "{codex}"
warmProcesses = {n_warm}
[agents.codex.env]
CODEX_HOME = "{home}/.codex"
MOCK_API_KEY = "dummy"
"#,
            claude = tools::claude().display(),
            codex = tools::codex_acp().display(),
            url = self.api.anthropic_url(),
        )
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    host: String,
    project: PathBuf,
}

impl Server {
    pub(crate) async fn start(place: &Place) -> Self {
        Self::start_with(place, &place.config(0), &[]).await
    }

    pub(crate) async fn start_warm(place: &Place, n_warm: usize) -> Self {
        Self::start_with(place, &place.config(n_warm), &[]).await
    }

    /// Starts it with these variables beside the few that every program needs, and nothing of the test's own.
    #[expect(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]
    pub(crate) async fn start_with(place: &Place, config: &str, variables: &[(&str, &str)]) -> Self {
        place.home.write("config.toml", config);
        let mut child = Command::new(env!("CARGO_BIN_EXE_chartroom"))
            .args(["serve", "--port", "0", "--trust"])
            .arg(place.project.root())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", place.home.root())
            // Agents and servers that are killed leave their scratch files: here they go with the home.
            .env("TMPDIR", place.home.root())
            .env("CHARTROOM_HOME", place.data.path("data"))
            .env("CHARTROOM_CONFIG", place.home.path("config.toml"))
            .env("CHARTROOM_TOKEN", TOKEN)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let Some((_, link)) = ready.split_once("http://") else {
            let mut why = String::new();
            stderr.read_to_string(&mut why).unwrap();
            panic!("the server did not start: {why}");
        };
        // Its log is read to its end, so that it never waits for us.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let host = link.split('/').next().unwrap().to_owned();
        Self { child, host, project: place.project.root().to_owned() }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Stops the server as a service manager does and waits for its end.
    pub(crate) async fn stop(self) {
        self.signal(Signal::TERM);
        assert!(self.ended().await.success(), "the server ended badly");
    }

    /// kill -9.
    pub(crate) async fn die(self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    async fn ended(mut self) -> std::process::ExitStatus {
        let child = std::mem::replace(&mut self.child, nothing());
        let wait = tokio::task::spawn_blocking(move || {
            let mut child = child;
            child.wait().unwrap()
        });
        tokio::time::timeout(LIMIT, wait).await.expect("the server ends").unwrap()
    }

    /// The processes below the server, by their parents.
    pub(crate) fn descendants(&self) -> Vec<u32> {
        descendants(self.child.id())
    }

    /// Asks a route; returns status and body.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("http://{}{path}", self.host);
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

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Creates a session and follows it as a browser does.
    pub(crate) async fn create(&self, cli_type: &str, mode: Option<&str>) -> Browser {
        let mut body = json!({"cliType": cli_type, "projectDir": self.project});
        if let Some(mode) = mode {
            body["mode"] = json!(mode);
        }
        let (status, created) = self.ask("POST", "/api/session/create", body).await;
        assert_eq!((status, &created["cliType"]), (201, &json!(cli_type)), "{created}");
        self.follow(created["sessionId"].as_str().unwrap()).await
    }

    pub(crate) async fn follow(&self, session_id: &str) -> Browser {
        Browser::open(self, session_id, None).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whatever a failed story left running; an error means that it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Takes the place of a child that was taken away: a process that has ended.
#[expect(clippy::disallowed_methods, reason = "a child to put in the place of another")]
fn nothing() -> Child {
    Command::new("true").stdin(Stdio::null()).spawn().unwrap()
}

/// Returns the processes below this one that live, by their parents.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Returns the Claude processes below the server, each with the session that it was started for.
pub(crate) fn agents(server: &Server) -> Vec<(u32, String)> {
    let session = |pid: u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let mut words = line.split('\0');
        if words.next()? != tools::claude().to_str()? {
            // The keeper's own line has the same words further on.
            return None;
        }
        words.find(|word| *word == "--session-id")?;
        words.next().map(|session_id| (pid, session_id.to_owned()))
    };
    server.descendants().into_iter().filter_map(session).collect()
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

    /// The same in a session of its own, which no signal to the agent's group reaches. The agent's shell waits for it.
    pub(crate) async fn in_its_own_session() -> Self {
        let tool = Self::new().await;
        Self { command: format!("setsid --wait bash -c '{}'", tool.command), ..tool }
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

/// Waits until none of these lives: the keepers end them when the server is gone, and nobody else is told.
pub(crate) async fn until_gone(pids: &[u32]) {
    let gone = async {
        while pids.iter().any(|pid| lives(*pid)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = tokio::time::timeout(LIMIT, gone).await;
    assert!(
        ended.is_ok(),
        "these outlived the server: {:?}",
        pids.iter().filter(|pid| lives(**pid)).collect::<Vec<_>>()
    );
}
