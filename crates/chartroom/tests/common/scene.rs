//! The finished server with the fake agents as processes, asked over HTTP.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

use std::process::{Command, Stdio};

use chartroom_testkit::fakes;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{self, Home, Server, wait_until};

const TOKEN: &str = "0123456789abcdef";

/// A server whose agents are these programs with this variable set for them.
pub struct Scene {
    pub home: Home,
    pub server: Server,
}

impl Scene {
    /// The processes of the fake agents; the server has others, the language service among them.
    pub fn agents(&self) -> Vec<u32> {
        let is_fake = |pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|program| program.display().to_string().contains("/fake-"))
        };
        program::processes_of(&self.home.path()).into_iter().filter(is_fake).collect()
    }

    pub fn new(claude: &str, acp: &str, mode: &str) -> Self {
        Self::with_config(&format!(
            "[agents.claude-code]\ncommand = {claude:?}\nwarmProcesses = 0\n\
                 [agents.claude-code.env]\nFAKE_CLAUDE = {mode:?}\n\
                 [agents.codex]\ncommand = {acp:?}\n[agents.codex.env]\nFAKE_ACP = {mode:?}\n"
        ))
    }

    pub fn with_config(config: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("shop")).unwrap();
        home.write("config.toml", config);
        let server = Server::start(command(&home));
        Self { home, server }
    }

    /// Kills the server and starts another in its place.
    pub fn restart(&mut self) {
        self.server.signal(Signal::KILL);
        self.server.child.wait().unwrap();
        self.server = Server::start(command(&self.home));
    }

    pub fn fakes(mode: &str) -> Self {
        Self::new(&fakes::claude().display().to_string(), &fakes::acp().display().to_string(), mode)
    }

    pub fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.server.request(method, path, &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
    }

    pub fn create(&self, cli_type: &str) -> (u16, Value) {
        let folder = self.home.path().join("shop").display().to_string();
        self.ask("POST", "/api/session/create", &json!({ "cliType": cli_type, "projectDir": folder }))
    }

    /// Sends a message to a new session and returns the session's id.
    pub fn begin(&self, cli_type: &str, message: &str) -> String {
        let (status, created) = self.create(cli_type);
        assert_eq!(status, 201, "{created}");
        let id = created["sessionId"].as_str().unwrap().to_owned();
        let (status, sent) =
            self.ask("POST", &format!("/api/session/{id}/send"), &json!({ "message": message }));
        assert_eq!(status, 202, "{sent}");
        id
    }

    pub fn history(&self, id: &str) -> Value {
        self.ask("GET", &format!("/api/session/{id}/history"), &Value::Null).1
    }

    /// Sends a message to a new session and returns its history when the turn has ended, with its id.
    pub fn turn(&self, cli_type: &str, message: &str) -> (String, Value) {
        let id = self.begin(cli_type, message);
        let mut history = Value::Null;
        wait_until("the turn ends", || {
            history = self.history(&id);
            history["turns"].as_array().unwrap().iter().any(|turn| turn["type"] != "turn_started")
        });
        (id, history)
    }
}

/// The server's command. A write that a limit forbids fails and does not end it, as on any other fault of a disk.
fn command(home: &Home) -> Command {
    let plain = home.command(&["shop", "--trust", "--port", "0"]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.path()).stdin(Stdio::null());
    command.env("CHARTROOM_TOKEN", TOKEN).env("CHARTROOM_CONFIG", home.path().join("config.toml"));
    command
}

pub fn error(answer: &Value) -> (&str, &str) {
    let error = &answer["error"];
    (error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

pub fn said(history: &Value) -> Vec<String> {
    let entries = history["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["content"].as_str().unwrap_or_default().to_owned()).collect()
}
