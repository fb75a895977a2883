//! What a server says takes bounded memory, however much it says.

use serde_json::{Value, json};

use crate::client::wire::Finding;
use crate::fake::{Behaviour, Rehearsal};

const MIB: usize = 1024 * 1024;

/// What is kept of all files, counted from outside.
fn kept(rehearsal: &Rehearsal) -> usize {
    let bytes = |finding: &Finding| {
        let code = finding.code.as_ref().map_or(0, |code| code.to_string().len());
        size_of::<Finding>() + finding.message.len() + code + finding.source.as_ref().map_or(0, String::len)
    };
    let clients = rehearsal.orchestrator.clients();
    let files = clients.iter().flat_map(|client| client.known().into_iter().map(move |file| (client, file)));
    files.map(|(client, file)| client.held(&file).iter().map(bytes).sum::<usize>()).sum()
}

fn diagnostic(message: &str, code: &str, source: &str) -> Value {
    let place = json!({ "line": 0, "character": 0 });
    json!({ "range": { "start": place, "end": place }, "message": message, "code": code, "source": source })
}

#[tokio::test(start_paused = true)]
async fn a_server_that_publishes_huge_findings_for_400_files_fills_no_memory() {
    let rehearsal = Rehearsal::new("//- a.foo\nERR ours\n", &[("alpha", Behaviour::default())]);
    assert_eq!(rehearsal.check("a.foo").await.len(), 1);
    let list: Vec<Value> = (0..35).map(|_| diagnostic(&"m".repeat(4_000), "E1", "fake")).collect();
    for number in 0..400 {
        let uri = crate::uri::of_path(&rehearsal.project.path(&format!("f{number:03}.foo")));
        rehearsal.fakes.say("alpha", json!({ "uri": uri, "diagnostics": list })).await;
    }
    let kept = kept(&rehearsal);
    assert!(kept < 40 * MIB, "{} MiB are kept", kept / MIB);
    // What is open stays, and so does what came last.
    let known = rehearsal.orchestrator.diagnostics();
    assert_eq!(known.get("a.foo").map(Vec::len), Some(1));
    assert!(known.contains_key("f399.foo") && !known.contains_key("f000.foo"));
    assert_eq!(rehearsal.write("a.foo", "ERR one\nERR two\n").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_file_with_endless_codes_and_sources_fills_no_memory() {
    let rehearsal = Rehearsal::new("//- a.foo\nERR ours\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    let long = "x".repeat(50_000);
    let list: Vec<Value> = (0..200).map(|_| diagnostic("short", &long, &long)).collect();
    let uri = crate::uri::of_path(&rehearsal.project.path("b.foo"));
    rehearsal.fakes.say("alpha", json!({ "uri": uri, "diagnostics": list })).await;
    assert_eq!(rehearsal.orchestrator.diagnostics().get("b.foo").map(Vec::len), Some(1));
    let kept = kept(&rehearsal);
    assert!(kept < MIB, "{} MiB are kept", kept / MIB);
}
