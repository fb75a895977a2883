//! The same agents without Chartroom, as a person runs them in a terminal: on the same home, in the same project.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "the agent is started as a shell would")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use chartroom_testkit::tools;
use serde_json::{Value, json};

use crate::story::Place;

/// Has one turn of `claude -p` and returns the session's id: a new session's, or that of the one that goes on.
pub(crate) async fn claude(place: &Place, session_id: Option<&str>, message: &str) -> String {
    let mut command = Command::new(tools::claude());
    command
        .args(["-p", message, "--output-format", "json"])
        .envs([
            ("CLAUDE_CONFIG_DIR", place.home.path(".claude").display().to_string()),
            ("ANTHROPIC_BASE_URL", place.api.anthropic_url()),
            ("ANTHROPIC_API_KEY", "sk-ant-dummy".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("IS_SANDBOX", "1".to_owned()),
        ])
        .stdin(Stdio::null());
    if let Some(session_id) = session_id {
        command.args(["--resume", session_id]);
    }
    in_terminal(place, &mut command);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told} {}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!(result["is_error"], false, "{result}");
    result["session_id"].as_str().unwrap().to_owned()
}

/// Has one turn of codex-acp, asked directly, and returns the session's id: a new session's, or that of the one that
/// goes on.
pub(crate) async fn codex(place: &Place, session_id: Option<&str>, message: &str) -> String {
    let mut command = Command::new(tools::codex_acp());
    command.env("CODEX_HOME", place.home.path(".codex")).env("MOCK_API_KEY", "dummy");
    in_terminal(place, &mut command);
    let project = place.project.root().to_owned();
    let (session_id, message) = (session_id.map(str::to_owned), message.to_owned());
    let turn = tokio::task::spawn_blocking(move || {
        let mut agent = AcpClient::start(command);
        agent.request("initialize", &json!({"protocolVersion": 1}));
        let session_id = match session_id {
            Some(id) => {
                agent.request("session/load", &json!({"sessionId": id, "cwd": project, "mcpServers": []}));
                id
            }
            None => {
                let made = agent.request("session/new", &json!({"cwd": project, "mcpServers": []}));
                made["sessionId"].as_str().unwrap().to_owned()
            }
        };
        let prompt = json!([{"type": "text", "text": message}]);
        let ended = agent.request("session/prompt", &json!({"sessionId": session_id, "prompt": prompt}));
        assert_eq!(ended["stopReason"], "end_turn", "{ended}");
        session_id
    });
    turn.await.unwrap()
}

fn in_terminal(place: &Place, command: &mut Command) {
    let variables: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command
        .env_clear()
        .envs(variables)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", place.home.root())
        .env("TMPDIR", place.home.root())
        .current_dir(place.project.root());
}

/// Just enough of an ACP client.
struct AcpClient {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl AcpClient {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, next: 0 }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "codex-acp ended before {method}");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        // It does not end with its stdin. An error means that it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
