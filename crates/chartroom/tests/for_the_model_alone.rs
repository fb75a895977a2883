//! Diagnostics are for the model, as text in a tool's answer, and for nobody else: no object beside the text, no
//! other message, no page, no log, no metric, no remote.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;
#[path = "common/sockets.rs"]
mod sockets;

use agent::{Agent, Scene, found};
use program::Server;
use serde_json::{Value, json};
use sockets::Watch;

const TOKEN: &str = "0123456789abcdef";
/// A message that is found wherever it goes.
const MESSAGE: &str = "unmistakable-trouble";

/// Breaks a file with the tool; returns the whole result.
fn break_a_file(agent: &mut Agent, scene: &Scene) -> Value {
    std::fs::write(scene.shop().join("a.foo"), "fine\n").unwrap();
    let edit = json!({ "filePath": "a.foo", "oldText": "fine", "newText": format!("ERR {MESSAGE}") });
    agent.call("edit_file", edit)
}

// BR-12, REQ-SCOPE-030
#[test]
fn an_answer_holds_the_formatted_text_and_no_diagnostic_as_an_object() {
    let scene = Scene::trusted("good");
    let mut agent = scene.agent();
    let text = format!("Edited a.foo (1 replacement).\n\n{}", found("a.foo", MESSAGE));
    // The whole result: nothing structured, nothing in `_meta`, one block of text.
    let expected = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    assert_eq!(break_a_file(&mut agent, &scene), expected);
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.foo\n@@\n-ERR {MESSAGE}\n+ERR {MESSAGE}2\n*** End Patch\n"
    );
    let text = format!("Patched 1 file: a.foo.\n\n{}", found("a.foo", &format!("{MESSAGE}2")));
    let expected = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    assert_eq!(agent.call("apply_patch", json!({ "patch": patch })), expected);
    // A hook's answer lands in the agent's own history: text there too.
    let input = json!({
        "tool_name": "Edit", "cwd": scene.shop(), "tool_input": { "file_path": scene.shop().join("a.foo") },
    });
    let input = scene.home.write("input.json", &input.to_string());
    let mut hook = scene.command(&["hook", "claude"]);
    hook.stdin(std::fs::File::open(input).unwrap());
    let (code, stdout, stderr) = program::finish(hook.output().unwrap());
    assert_eq!((code, stderr.as_str()), (0, ""));
    let context = found("a.foo", &format!("{MESSAGE}2"));
    assert_eq!(
        serde_json::from_str::<Value>(&stdout).unwrap(),
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": context } })
    );
}

// BR-80, REQ-EXCL-050
#[test]
fn a_diagnostic_is_said_in_the_answer_and_rendered_nowhere_else() {
    let scene = Scene::trusted("good");
    let mut command = scene.command(&["serve", "--port", "0", "shop"]);
    command.env("CHARTROOM_TOKEN", TOKEN);
    let server = Server::start(command);
    let bearer = format!("Bearer {TOKEN}");
    let get = |path: &str| {
        let answer = server.request("GET", path, &[("authorization", bearer.as_str())], "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    let projects: Value = serde_json::from_str(&get("/api/project")).unwrap();
    let project = projects["projects"][0]["projectId"].as_str().unwrap();
    let status_path = format!("/api/lsp/{project}/status");
    // The server hosts the service that the agent uses: it could show what it knows.
    get(&status_path);
    let mut agent = scene.agent();
    assert!(break_a_file(&mut agent, &scene).to_string().contains(MESSAGE));
    let status = get(&status_path);
    assert!(status.contains("\"serverPid\""), "the same service: {status}");
    for shown in [status, get("/metrics"), get("/api/project")] {
        assert!(!shown.contains(MESSAGE), "{shown}");
    }
    // No route of the page's API can carry one.
    let api: Value = serde_json::from_str(&get("/api/openapi.json")).unwrap();
    let schemas: Vec<&String> = api["components"]["schemas"].as_object().unwrap().keys().collect();
    assert!(schemas.iter().any(|name| *name == "LspStatusResponse"), "{schemas:?}");
    assert!(!schemas.iter().any(|name| name.contains("Diagnostic")), "{schemas:?}");
    let paths: Vec<&String> = api["paths"].as_object().unwrap().keys().collect();
    assert!(!paths.iter().any(|path| path.contains("diagnostic")), "{paths:?}");
    // The client was told once, in the answer: no log message, no other notification, nothing on stderr.
    let unasked = std::mem::take(&mut agent.unasked);
    assert_eq!(unasked, Vec::<Value>::new());
    assert_eq!(agent.leave(), (0, String::new()));
    let (code, stdout, stderr) = server.stop();
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(!stderr.contains(MESSAGE), "{stderr}");
    assert!(!program::text_of_files(&scene.home.data().join("logs")).contains(MESSAGE));
}

// BR-68, REQ-OBS-010, REQ-OBS-030
#[test]
fn counters_are_in_the_debug_log_only_and_nothing_goes_to_the_network() {
    const COUNTERS: [&str; 4] =
        ["language server started", "diagnostics collected", "file checked", "language server crashed"];
    // Without being asked, not a line; with the debug log, every counter of the run.
    for (log, told) in [(None, false), (Some("info"), false), (Some("debug"), true)] {
        let scene = Scene::trusted("good");
        let watch = Watch::of(scene.home.path());
        let mut command = scene.command(&["mcp", "--root", "shop"]);
        if let Some(log) = log {
            command.env("CHARTROOM_LOG", log);
        }
        let mut agent = Agent::start(command);
        assert!(break_a_file(&mut agent, &scene).to_string().contains(MESSAGE));
        let server = scene.servers()[0];
        let pid = rustix::process::Pid::from_raw(i32::try_from(server).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        program::wait_until("the server is gone", || scene.servers().is_empty());
        // The crash is noticed, and the edit does not tell.
        program::wait_until("status tells", || {
            scene.run(&["lsp", "status", "--root", "shop"]).1.contains("good: broken")
        });
        assert_eq!(agent.write("b.foo", "ERR x\n"), "Created b.foo (1 line).");
        let (n_looks, sockets) = watch.end();
        assert!(n_looks > 1, "it was looked at");
        assert_eq!(sockets, std::collections::BTreeSet::new(), "no socket to anywhere");
        let (code, stderr) = agent.leave();
        assert_eq!(code, 0);
        for line in COUNTERS {
            assert_eq!(stderr.contains(line), told, "{log:?}: {line}: {stderr}");
        }
        assert!(told || !stderr.contains(MESSAGE), "{stderr}");
    }
}

// BR-67, REQ-OBS-030, BR-68
#[test]
fn the_servers_counters_are_shown_on_its_own_door_and_it_speaks_to_nobody_else() {
    let scene = Scene::trusted("good");
    let mut command = scene.command(&["serve", "--port", "0", "shop"]);
    command.env("CHARTROOM_TOKEN", TOKEN);
    let server = Server::start(command);
    let bearer = format!("Bearer {TOKEN}");
    let get = |path: &str| server.request("GET", path, &[("authorization", bearer.as_str())], "");
    let projects = get("/api/project");
    let projects: Value = serde_json::from_str(projects.split_once("\r\n\r\n").unwrap().1).unwrap();
    let project = projects["projects"][0]["projectId"].as_str().unwrap();
    get(&format!("/api/lsp/{project}/status"));
    let watch = Watch::of(scene.home.path());
    let mut agent = scene.agent();
    break_a_file(&mut agent, &scene);
    let metrics = get("/metrics");
    let (_, sockets) = watch.end();
    let root = scene.shop().display().to_string();
    for (name, value) in [
        ("server_starts", 1),
        ("server_start_failures", 0),
        ("server_crashes", 0),
        ("collections", 1),
        ("collection_timeouts", 0),
        ("checked_files", 1),
        ("diagnostics", 1),
    ] {
        let line = format!("chartroom_lsp_{name}{{root=\"{root}\"}} {value}\n");
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
    // 127.0.0.1 as the kernel writes it, with our own port: the door, and who came in through it.
    let port: u16 = server.host().rsplit_once(':').unwrap().1.parse().unwrap();
    let door = format!("tcp 0100007F:{port:04X} ");
    assert!(!sockets.is_empty(), "at least the door is seen");
    for socket in &sockets {
        assert!(socket.starts_with(&door), "{socket}");
    }
}
