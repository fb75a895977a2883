//! A language server that misbehaves in every way we know, beside a good one, as an agent sees it: through a real
//! `chartroom mcp`, its service and its keepers.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;

use agent::{Agent, Scene, found};
use program::{processes_of, wait_until};
use serde_json::{Value, json};

fn edit(agent: &mut Agent, old: &str, new: &str) -> Value {
    agent.call("edit_file", json!({ "filePath": "a.foo", "oldText": old, "newText": new }))
}

/// Edits twice with a chaotic server in the house; the answers are those of the good one, to the byte. Returns the
/// chaotic server's line of the status.
fn chaos(mode: &str) -> Value {
    let scene = Scene::trusted("good");
    let fake = chartroom_testkit::fakes::lsp().display().to_string();
    let config = format!(
        "[lsp]\nfirstTouchTimeout = 20000\ndiagnosticTimeout = 10000\n\
         [lsp.servers.good]\ncommand = {fake:?}\nargs = [\"good\"]\nextensions = [\".foo\"]\n\
         [lsp.servers.chaos]\ncommand = {fake:?}\nargs = [{mode:?}]\nextensions = [\".foo\"]\n"
    );
    std::fs::write(&scene.config, config).unwrap();
    std::fs::write(scene.shop().join("a.foo"), "fine\n").unwrap();
    let mut agent = scene.agent();
    for (old, new) in [("fine", "ERR one"), ("ERR one", "ERR two")] {
        let message = new.strip_prefix("ERR ").unwrap();
        let text = format!("Edited a.foo (1 replacement).\n\n{}", found("a.foo", message));
        let expected = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
        assert_eq!(edit(&mut agent, old, new), expected, "{mode}");
    }
    // And mended: clean, in the same words as without any language service.
    let text = "Edited a.foo (1 replacement).";
    let expected = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    assert_eq!(edit(&mut agent, "ERR two", "fine"), expected, "{mode}");
    let (_, status, stderr) = scene.run(&["lsp", "status", "--root", "shop", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let rows = status["servers"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!((&row("good")["status"], &row("good")["freshness"]), (&json!("active"), &json!("current")));
    assert_eq!(agent.leave(), (0, String::new()), "{mode}: not a word");
    wait_until("no process is left", || processes_of(&scene.home.path()).is_empty());
    assert_eq!(scene.traces(), Vec::<String>::new());
    row("chaos")
}

/// It misbehaves, and yet its diagnostics arrive.
#[track_caller]
fn is_survived(mode: &str) {
    let row = chaos(mode);
    assert_eq!((&row["status"], &row["freshness"]), (&json!("active"), &json!("current")), "{mode}: {row}");
}

#[test]
fn garbage_on_stdout() {
    is_survived("garbage");
}

#[test]
fn malformed_json() {
    is_survived("malformed");
}

#[test]
fn a_message_of_100_megabytes() {
    is_survived("huge");
}

#[test]
fn a_flood_of_notifications() {
    is_survived("floods");
}

#[test]
fn duplicate_and_out_of_order_versions() {
    is_survived("versions");
}

#[test]
fn questions_with_and_without_sense() {
    is_survived("asks");
}

#[test]
fn answers_late() {
    is_survived("late");
}

#[test]
fn ignores_its_shutdown() {
    is_survived("stubborn");
}

#[test]
fn never_answers() {
    let row = chaos("never");
    assert_eq!(row["status"], "starting", "{row}");
    let row = chaos("mute");
    assert_eq!((&row["status"], &row["freshness"]), (&json!("active"), &json!("timed-out")), "{row}");
}

#[test]
fn exits_at_once() {
    let row = chaos("exits");
    assert_eq!(row["status"], "broken", "{row}");
    assert!(row["reason"].as_str().unwrap().contains("exited with status 7"), "{row}");
    assert_eq!(row["hint"], "chartroom lsp restart chaos");
}

#[test]
fn crashes_in_mid_request() {
    let row = chaos("crashes");
    assert_eq!(row["status"], "broken", "{row}");
    assert!(row["reason"].as_str().unwrap().contains("exited with status 9"), "{row}");
}

// EC-6
#[test]
fn the_service_is_killed_in_mid_check() {
    let scene = Scene::trusted("mute");
    std::fs::write(scene.shop().join("a.foo"), "fine\n").unwrap();
    let mut agent = scene.agent();
    let call =
        agent.begin("edit_file", json!({ "filePath": "a.foo", "oldText": "fine", "newText": "ERR x" }));
    // The server says nothing for two minutes: once it runs, the check is under way.
    wait_until("the check is under way", || !scene.servers().is_empty());
    let service = scene.processes("lsp-service");
    let pid = rustix::process::Pid::from_raw(i32::try_from(service[0]).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let answer = agent.end_of(call).unwrap();
    let text = "Edited a.foo (1 replacement).";
    assert_eq!(answer, json!({ "content": [{ "type": "text", "text": text }], "isError": false }));
    assert_eq!(std::fs::read_to_string(scene.shop().join("a.foo")).unwrap(), "ERR x\n");
    let (code, status, _) = scene.run(&["lsp", "status", "--root", "shop"]);
    assert_eq!((code, status.as_str()), (1, "LSP unavailable: the service was ended by signal 9\n"));
    assert_eq!(agent.leave().0, 0);
    wait_until("no process is left", || processes_of(&scene.home.path()).is_empty());
}
