//! Agents that misbehave, and a disk that is full, as a browser sees them: the finished server over HTTP, with the
//! fake agents as processes. Each trouble is a clear error with its code; nothing hangs, nothing is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;
#[path = "common/program.rs"]
mod program;
#[path = "common/scene.rs"]
mod scene;

use fake_server::FakeServer;
use program::wait_until;
use scene::{Scene, error, said};
use serde_json::{Value, json};

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

// TC-3.1c
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
