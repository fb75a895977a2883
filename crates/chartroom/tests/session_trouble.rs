//! Agents that misbehave, and a disk that is full, as a browser sees them: the finished server over HTTP, with the
//! fake agents as processes. Each trouble is a clear error with its code; nothing hangs, nothing is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;
#[path = "common/program.rs"]
mod program;

use chartroom_testkit::fakes;
use fake_server::FakeServer;
use program::{Home, Server, wait_until};
use serde_json::{Value, json};

const TOKEN: &str = "0123456789abcdef";

/// A server whose agents are these programs with this variable set for them.
struct Scene {
    home: Home,
    server: Server,
}

impl Scene {
    /// The processes of the fake agents; the server has others, the language service among them.
    fn agents(&self) -> Vec<u32> {
        let is_fake = |pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|program| program.display().to_string().contains("/fake-"))
        };
        program::processes_of(&self.home.path()).into_iter().filter(is_fake).collect()
    }

    fn new(claude: &str, acp: &str, mode: &str) -> Self {
        Self::with_config(&format!(
            "[agents.claude-code]\ncommand = {claude:?}\nwarmProcesses = 0\n\
                 [agents.claude-code.env]\nFAKE_CLAUDE = {mode:?}\n\
                 [agents.codex]\ncommand = {acp:?}\n[agents.codex.env]\nFAKE_ACP = {mode:?}\n"
        ))
    }

    fn with_config(config: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("shop")).unwrap();
        let config = home.write("config.toml", config);
        let mut command = home.command(&["shop", "--trust", "--port", "0"]);
        command.env("CHARTROOM_TOKEN", TOKEN).env("CHARTROOM_CONFIG", config);
        let server = Server::start(command);
        Self { home, server }
    }

    fn fakes(mode: &str) -> Self {
        Self::new(&fakes::claude().display().to_string(), &fakes::acp().display().to_string(), mode)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.server.request(method, path, &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
    }

    fn create(&self, cli_type: &str) -> (u16, Value) {
        let folder = self.home.path().join("shop").display().to_string();
        self.ask("POST", "/api/session/create", &json!({ "cliType": cli_type, "projectDir": folder }))
    }

    /// Sends a message to a new session and returns its history when the turn has ended, with its id.
    fn turn(&self, cli_type: &str, message: &str) -> (String, Value) {
        let (status, created) = self.create(cli_type);
        assert_eq!(status, 201, "{created}");
        let id = created["sessionId"].as_str().unwrap().to_owned();
        let (status, sent) =
            self.ask("POST", &format!("/api/session/{id}/send"), &json!({ "message": message }));
        assert_eq!(status, 202, "{sent}");
        let mut history = Value::Null;
        wait_until("the turn ends", || {
            history = self.ask("GET", &format!("/api/session/{id}/history"), &Value::Null).1;
            history["turns"].as_array().unwrap().iter().any(|turn| turn["type"] != "turn_started")
        });
        (id, history)
    }
}

fn error(answer: &Value) -> (&str, &str) {
    let error = &answer["error"];
    (error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

fn said(history: &Value) -> Vec<String> {
    let entries = history["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_agent_that_is_not_installed_is_named_with_the_command_that_installs_it() {
    // Neither is on the PATH of the test's server, and the config names no other.
    let scene = Scene::with_config("");
    for (cli_type, name, install) in [
        ("claude-code", "Claude Code", "npm install -g @anthropic-ai/claude-code"),
        ("codex", "Codex", "npm install -g @zed-industries/codex-acp"),
    ] {
        let (status, answer) = scene.create(cli_type);
        let (code, message) = error(&answer);
        assert_eq!((status, code), (424, "AGENT_NOT_INSTALLED"));
        assert!(message.contains(name) && message.contains(install), "{message}");
    }
}

#[test]
fn an_agent_that_exits_at_once_fails_the_creation_with_its_last_words() {
    let scene = Scene::fakes("exit");
    for (cli_type, last_words) in
        [("claude-code", "fake claude cannot start today"), ("codex", "fake acp cannot start today")]
    {
        let (status, answer) = scene.create(cli_type);
        let (code, message) = error(&answer);
        assert_eq!((status, code), (502, "SESSION_CREATE_FAILED"));
        assert!(message.contains(last_words), "{message}");
    }
    // Its keeper ends a moment after it.
    wait_until("no agent's process is left", || scene.agents().is_empty());
}

#[test]
fn garbage_between_an_agents_lines_is_passed_over() {
    let scene = Scene::fakes("garbage");
    for (cli_type, answer) in [("claude-code", "still here"), ("codex", "garbage")] {
        let (_, history) = scene.turn(cli_type, "garbage");
        assert_eq!(said(&history), ["garbage", answer], "{cli_type}");
        assert_eq!(history["turns"][1]["status"], "completed", "{history}");
    }
}

#[test]
fn a_line_of_50_mb_is_left_out_and_the_turn_goes_on() {
    let scene = Scene::fakes("");
    for cli_type in ["claude-code", "codex"] {
        let (_, history) = scene.turn(cli_type, "longline");
        assert_eq!(said(&history), ["longline", "after the long line"], "{cli_type}");
        assert_eq!(history["turns"][1]["status"], "completed", "{history}");
    }
}

#[test]
fn an_agent_that_dies_in_mid_turn_keeps_what_it_said_and_the_next_message_starts_another() {
    let scene = Scene::fakes("");
    for cli_type in ["claude-code", "codex"] {
        let (id, history) = scene.turn(cli_type, "crash");
        assert_eq!(said(&history), ["crash", "half a "], "{cli_type}");
        let ended = &history["turns"][1];
        assert_eq!((&ended["type"], &ended["errorCode"]), (&json!("turn_error"), &json!("PROCESS_CRASH")));
        let message = ended["errorMessage"].as_str().unwrap();
        assert!(message.contains("exited with status 3") && message.contains("on purpose"), "{message}");
        let (_, status) = scene.ask("GET", &format!("/api/session/{id}/status"), &Value::Null);
        assert_eq!((&status["state"], &status["isAlive"]), (&json!("dead"), &json!(false)), "{cli_type}");
    }
}

/// The agent takes the message and never says a word; a person's stop still ends the turn, and the agent with it.
#[test]
fn an_agent_that_never_answers_is_stopped_by_a_person() {
    let scene = Scene::fakes("");
    for cli_type in ["claude-code", "codex"] {
        let id = scene.create(cli_type).1["sessionId"].as_str().unwrap().to_owned();
        let path = |route: &str| format!("/api/session/{id}/{route}");
        assert_eq!(scene.ask("POST", &path("send"), &json!({ "message": "silent" })).0, 202);
        let state = || scene.ask("GET", &path("status"), &Value::Null).1["state"].clone();
        assert_eq!(state(), json!("working"));
        let (status, answer) = scene.ask("POST", &path("cancel"), &json!({}));
        if status != 200 {
            assert_eq!((status, error(&answer).0), (502, "INTERRUPT_FAILED"), "{answer}");
        }
        wait_until("the turn is ended for the agent", || state() == json!("dead"));
        let (_, history) = scene.ask("GET", &path("history"), &Value::Null);
        let last = history["turns"].as_array().unwrap().last().unwrap();
        assert_eq!(last["status"], "cancelled", "{history}");
    }
}

/// Takes as long as the limit, ten seconds.
#[test]
fn an_agent_that_does_not_tell_what_fills_its_context_is_given_up_and_the_session_goes_on() {
    let scene = Scene::fakes("");
    let id = scene.create("claude-code").1["sessionId"].as_str().unwrap().to_owned();
    let path = |route: &str| format!("/api/session/{id}/{route}");
    assert_eq!(scene.ask("POST", &path("send"), &json!({ "message": "deaf" })).0, 202);
    wait_until("it has the message", || {
        let (_, history) = scene.ask("GET", &path("history"), &Value::Null);
        said(&history) == ["deaf", "before "]
    });
    let (status, answer) = scene.ask("GET", &path("context"), &Value::Null);
    let (code, message) = error(&answer);
    assert_eq!((status, code), (502, "PROTOCOL_ERROR"));
    assert_eq!(message, "claude did not answer get_context_usage within 10 s");
    let (_, status) = scene.ask("GET", &path("status"), &Value::Null);
    assert_eq!((&status["state"], &status["isAlive"]), (&json!("working"), &json!(true)));
}

/// Takes as long as the limit, a minute: the processes are real, and so is the clock.
#[test]
fn an_agent_that_never_gets_ready_is_ended_and_fails_the_creation() {
    let scene = Scene::fakes("mute");
    std::thread::scope(|threads| {
        for cli_type in ["claude-code", "codex"] {
            let scene = &scene;
            threads.spawn(move || {
                let (status, answer) = scene.create(cli_type);
                let (code, message) = error(&answer);
                assert_eq!((status, code), (502, "SESSION_CREATE_FAILED"));
                assert!(message.contains("60 s"), "{message}");
            });
        }
    });
    wait_until("its process is gone", || scene.agents().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_on_a_full_disk_is_refused_and_accepted_when_there_is_room_again() {
    let server = FakeServer::start().await;
    server.claude.behave(|behaviour| behaviour.plays = Some(1));
    let id = server.create("claude-code").await;
    let send = format!("/api/session/{id}/send");
    let long = json!({ "message": "word ".repeat(40_000) });
    server.app.sessions().store().pretend_full(true).await.unwrap();
    let (status, answer) = server.ask("POST", &send, long.clone()).await;
    let (code, message) = error(&answer);
    assert_eq!((status, code), (500, "INTERNAL"));
    assert!(message.starts_with("the disk of the data folder is full"), "{message}");
    let (status, answer) = server.ask("GET", &format!("/api/session/{id}/queue"), Value::Null).await;
    assert_eq!((status, answer), (200, json!({ "messages": [] })));
    server.app.sessions().store().pretend_full(false).await.unwrap();
    assert_eq!(server.ask("POST", &send, long).await.0, 202);
    server.stop().await;
}
