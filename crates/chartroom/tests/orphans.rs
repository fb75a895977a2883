//! However the server ends, nothing that an agent started outlives it.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use program::{Home, Server, processes_of, wait_until};
use rustix::process::Signal;

const TOKEN: &str = "0123456789abcdef";

/// Starts a server with a session whose agent started a process with a session of its own, and returns them with the
/// number of processes that this makes.
fn server_with_an_orphan(home: &Home) -> Server {
    let folder = home.path().join("shop");
    std::fs::create_dir(&folder).unwrap();
    let agent = chartroom_testkit::fakes::claude();
    let config = home.write(
        "config.toml",
        &format!("[agents.claude-code]\ncommand = {:?}\n", agent.display().to_string()),
    );
    let mut command = home.command(&["shop", "--trust", "--port", "0"]);
    command.env("CHARTROOM_TOKEN", TOKEN).env("CHARTROOM_CONFIG", config);
    let server = Server::start(command);
    let post = |path: &str, body: serde_json::Value| {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let answer = server.request("POST", path, &headers, &body.to_string());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
        serde_json::from_str::<serde_json::Value>(body).unwrap()
    };
    let session = post(
        "/api/session/create",
        serde_json::json!({ "cliType": "claude-code", "projectDir": folder.display().to_string() }),
    );
    let session_id = session["sessionId"].as_str().unwrap();
    post(&format!("/api/session/{session_id}/send"), serde_json::json!({ "message": "orphan" }));
    wait_until("the agent starts its orphan", || {
        processes_of(&home.path()).iter().any(|pid| {
            // Its own session: the first field after the name and the state, parent, group is the session.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let name_and_rest = stat.rsplit_once(") ");
            name_and_rest.is_some_and(|(name, rest)| {
                name.ends_with("(sleep") && rest.split(' ').nth(3) == Some(&pid.to_string())
            })
        })
    });
    server
}

#[test]
fn kill_minus_9_of_the_server_leaves_no_child_and_no_grandchild() {
    let home = Home::new();
    let mut server = server_with_an_orphan(&home);
    server.signal(Signal::KILL);
    server.child.wait().unwrap();
    wait_until("everything ends with the server", || processes_of(&home.path()).is_empty());
}

#[test]
fn ctrl_c_ends_every_child_before_the_server_is_gone() {
    let home = Home::new();
    let server = server_with_an_orphan(&home);
    server.signal(Signal::INT);
    assert_eq!(server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&home.path()).is_empty());
}
