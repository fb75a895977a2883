//! A real agent that would trust a folder, or let a browser in, with the token file in its hands: the command and the
//! server both refuse it, and a person's own program beside it is served.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]

#[path = "common/story.rs"]
mod story;

use chartroom_testkit::project::Project;
use serde_json::{Value, json};
use story::{Place, Server};

/// The output of the last finished tool call of a history.
fn said(history: &Value) -> String {
    let entries = history["entries"].as_array().unwrap();
    let tool =
        entries.iter().rfind(|entry| entry["type"] == "tool_call").unwrap_or_else(|| panic!("{history}"));
    tool["toolOutput"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_with_the_token_file_is_refused_by_the_command_and_by_the_server() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let other = Project::new("//- a.txt\nx\n");
    let added = server.post("/api/project", json!({ "path": other.root() })).await;
    let trust = format!("/api/project/{}/trust", added["projectId"].as_str().unwrap());
    let body = json!({ "realPath": other.root(), "trusted": true });

    let ask = |path: &str, body: &Value| {
        format!(
            "curl -s -X POST -H \"authorization: Bearer $(cat {data}/token)\" -H 'content-type: application/json' -d '{body}' http://{host}{path}; echo",
            data = place.data.path("data").display(),
            host = server.host(),
        )
    };
    let chartroom =
        format!("CHARTROOM_HOME={} {}", place.data.path("data").display(), env!("CARGO_BIN_EXE_chartroom"));
    let folder = other.root().display();
    // As it is, without its mark, and as a daemon of its own session, whose parent is gone.
    let attempts = [
        format!("{chartroom} trust --yes {folder}"),
        format!("unset CHARTROOM_AGENT; {chartroom} trust --yes {folder}; {chartroom} link"),
        ask(&trust, &body),
        ask("/api/launch", &json!({})),
        "(setsid sh ask.sh > daemon.txt 2>&1 &); while [ ! -s daemon.txt ]; do sleep 0.1; done; cat daemon.txt".to_owned(),
    ];
    place.project.write("ask.sh", &ask(&trust, &body));
    let mut browser = server.create("claude-code", Some("bypassPermissions")).await;
    let call =
        json!({ "command": format!("exec 2>&1; {}; echo end", attempts.join("; ")), "description": "d" });
    browser.send(&server, &format!("[[tool:Bash:{call}]]")).await;
    browser.until_idle().await;
    let said = said(&server.get(&browser.path("history")).await);
    assert!(said.contains("end"), "{said}");
    assert_eq!(said.matches("cannot trust a folder or let a browser in").count(), 3, "{said}");
    assert_eq!(said.matches("FORBIDDEN_PROCESS").count(), 3, "{said}");
    let is_trusted = async || {
        let projects = server.get("/api/project").await;
        let projects = projects["projects"].as_array().unwrap().clone();
        projects.iter().find(|project| project["projectId"] == added["projectId"]).unwrap()["trusted"].clone()
    };
    assert_eq!(is_trusted().await, false);

    // The agent still lives, and so does its person.
    let (status, answer) = server.ask("POST", &trust, body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(is_trusted().await, true);
    server.stop().await;
}
