//! When servers start, break, stop, and what is said about it.

use std::time::Duration;

use chartroom_protocol::lsp::ServerState;
use serde_json::json;

use crate::fake::{Behaviour, Rehearsal};
use crate::tools;

const FILE: &str = "//- a.foo\nERR broken\n";
const BROKEN: &str = "ERROR [1:1] broken";

// BR-18, BR-19, REQ-LIFE-010, REQ-LIFE-020
#[tokio::test(start_paused = true)]
async fn a_server_starts_with_the_first_touch_of_its_language() {
    let servers = [("alpha", Behaviour::default()), ("gamma", Behaviour::default())];
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n//- b.bar\nfine\n", &servers);
    assert_eq!(rehearsal.fakes.n_launched(), 0);
    rehearsal.check("a.foo").await;
    assert_eq!(rehearsal.status("alpha"), [ServerState::Active]);
    assert_eq!(rehearsal.status("gamma"), [ServerState::Idle]);
    rehearsal.check("b.bar").await;
    assert_eq!(rehearsal.status("gamma"), [ServerState::Active]);
}

// EC-46, BR-82, REQ-CONC-010
#[tokio::test(start_paused = true)]
async fn two_checks_at_once_start_one_server() {
    let slow = Behaviour { ready_after: Some(Duration::from_secs(1)), ..Behaviour::default() };
    let rehearsal = Rehearsal::new(FILE, &[("alpha", slow)]);
    let later = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        rehearsal.check("a.foo").await
    };
    let (first, second) = tokio::join!(rehearsal.check("a.foo"), later);
    assert_eq!((first, second), (vec![BROKEN.to_owned()], vec![BROKEN.to_owned()]));
    assert_eq!(rehearsal.fakes.n_launched(), 1);
}

// BR-22, REQ-LIFE-030
#[tokio::test(start_paused = true)]
async fn a_monorepo_has_a_client_for_each_root() {
    let fixture = "//- one/foo.toml\n//- one/a.foo\nERR one\n//- two/foo.toml\n//- two/deep/b.foo\nERR two\n";
    let rehearsal = Rehearsal::new(fixture, &[("alpha", Behaviour::default())]);
    assert_eq!(rehearsal.check("one/a.foo").await, ["ERROR [1:1] one"]);
    assert_eq!(rehearsal.check("two/deep/b.foo").await, ["ERROR [1:1] two"]);
    let roots: Vec<_> =
        rehearsal.fakes.launched.lock().unwrap().iter().map(|(_, root)| root.clone()).collect();
    assert_eq!(roots, [rehearsal.project.path("one"), rehearsal.project.path("two")]);
    let rows: Vec<_> = rehearsal
        .orchestrator
        .status()
        .into_iter()
        .filter(|row| row.id == "alpha")
        .map(|row| row.root.unwrap())
        .collect();
    assert_eq!(rows, ["one", "two"]);
}

// EC-3, EC-33
#[tokio::test(start_paused = true)]
async fn a_program_that_is_not_there_is_unavailable_with_the_way_to_get_it() {
    let rehearsal = Rehearsal::new(FILE, &[]);
    assert_eq!(rehearsal.check("a.foo").await, Vec::<String>::new());
    let row = rehearsal.orchestrator.status().into_iter().find(|row| row.id == "alpha").unwrap();
    assert_eq!(row.status, ServerState::Unavailable);
    assert_eq!(row.reason.as_deref(), Some("alpha was not found"));
    assert!(row.hint.is_some());
}

// EC-4
#[tokio::test(start_paused = true)]
async fn a_server_that_dies_at_its_start_is_broken_and_not_tried_again() {
    let rehearsal =
        Rehearsal::new(FILE, &[("alpha", Behaviour { dies_at_start: true, ..Behaviour::default() })]);
    assert_eq!(rehearsal.check("a.foo").await, Vec::<String>::new());
    assert_eq!(rehearsal.check("a.foo").await, Vec::<String>::new());
    assert_eq!(rehearsal.status("alpha"), [ServerState::Broken]);
    assert_eq!(rehearsal.fakes.n_launched(), 1);
    assert_eq!(rehearsal.orchestrator.metrics().snapshot().server_start_failures, 1);
}

// EC-5, EC-8, EC-9, BR-20, REQ-LIFE-070, REQ-LIFE-090
#[tokio::test(start_paused = true)]
async fn a_crashed_server_stays_broken_and_the_other_goes_on() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    rehearsal.check("a.foo").await;
    rehearsal.fakes.kill("beta").await;
    assert_eq!(rehearsal.write("a.foo", "ERR next\n").await, ["ERROR [1:1] next"]);
    assert_eq!(
        (rehearsal.status("alpha"), rehearsal.status("beta")),
        (vec![ServerState::Active], vec![ServerState::Broken])
    );
    rehearsal.fakes.kill("alpha").await;
    assert_eq!(rehearsal.write("a.foo", "ERR more\n").await, Vec::<String>::new());
    assert_eq!(rehearsal.fakes.n_launched(), 2, "nothing is restarted");
    let counters = rehearsal.orchestrator.metrics().snapshot();
    assert_eq!((counters.server_starts, counters.server_crashes), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_crash_in_mid_check_ends_the_wait_at_once_and_costs_the_other_server_nothing() {
    let servers = [("alpha", Behaviour::pushing(&[10])), ("beta", Behaviour::pushing(&[400]))];
    let rehearsal = Rehearsal::new(FILE, &servers);
    rehearsal.check("a.foo").await;
    let began = tokio::time::Instant::now();
    let path = rehearsal.project.path("a.foo").to_string_lossy().into_owned();
    let crash = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        rehearsal.fakes.kill("beta").await;
    };
    let (found, ()) =
        tokio::join!(rehearsal.orchestrator.check_file(&path, Some("ERR x\n".to_owned())), crash);
    assert_eq!(found.len(), 1);
    assert!(began.elapsed() < Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_explicit_restart_mends_a_broken_server() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    rehearsal.fakes.kill("alpha").await;
    assert_eq!(rehearsal.check("a.foo").await, Vec::<String>::new());
    assert_eq!(rehearsal.orchestrator.restart(Some("alpha")).await, 1);
    assert_eq!(rehearsal.check("a.foo").await, [BROKEN]);
    assert_eq!(rehearsal.fakes.n_launched(), 2);
}

// BR-24, BR-71, REQ-LIFE-040, REQ-LIFE-060
#[tokio::test(start_paused = true)]
async fn the_end_of_the_service_shuts_every_server_down_and_forgets() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new(FILE, &servers);
    rehearsal.check("a.foo").await;
    rehearsal.orchestrator.shutdown().await;
    let seen = rehearsal.fakes.seen();
    for id in ["alpha", "beta"] {
        assert!(seen.contains(&format!("{id} shutdown ")), "{seen:?}");
        assert!(seen.contains(&format!("{id} exit")), "{seen:?}");
    }
    assert!(rehearsal.orchestrator.diagnostics().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_is_stopped_and_starts_again_when_needed() {
    let config = json!({ "idleTimeout": 60_000 });
    let rehearsal = Rehearsal::with_config(FILE, &[("alpha", Behaviour::default())], config);
    let housekeeping = tokio::spawn(super::super::Orchestrator::run_housekeeping(std::sync::Arc::downgrade(
        &rehearsal.orchestrator,
    )));
    rehearsal.check("a.foo").await;
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(rehearsal.status("alpha"), [ServerState::Active]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(rehearsal.status("alpha"), [ServerState::Idle]);
    assert_eq!(rehearsal.check("a.foo").await, [BROKEN]);
    assert_eq!(rehearsal.fakes.n_launched(), 2);
    housekeeping.abort();
}

const MIB: u64 = 1024 * 1024;

#[tokio::test(start_paused = true)]
async fn the_memory_budget_stops_the_least_recently_used() {
    let servers = [("alpha", Behaviour::default()), ("gamma", Behaviour::default())];
    let rehearsal = Rehearsal::new("//- a.foo\nx\n//- b.bar\nx\n", &servers);
    rehearsal.check("a.foo").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    rehearsal.check("b.bar").await;
    rehearsal.orchestrator.stay_within(100 * MIB, |_| 40 * MIB).await;
    assert_eq!(rehearsal.status("alpha"), [ServerState::Active]);
    rehearsal.orchestrator.stay_within(100 * MIB, |_| 80 * MIB).await;
    assert_eq!(
        (rehearsal.status("alpha"), rehearsal.status("gamma")),
        (vec![ServerState::Idle], vec![ServerState::Active])
    );
    // It comes back with the next touch.
    rehearsal.project.write("a.foo", "ERR again\n");
    assert_eq!(rehearsal.check("a.foo").await.len(), 1);
    assert_eq!(rehearsal.fakes.n_launched(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_a_quarter_of_the_machine_unless_the_user_sets_it() {
    let budget = |config: serde_json::Value| {
        Rehearsal::with_config("", &[], config).orchestrator.budget(Some(16 * 1024 * MIB))
    };
    assert_eq!(budget(json!({})), Some(4 * 1024 * MIB));
    assert_eq!(budget(json!({ "memoryBudget": 100 })), Some(100 * MIB));
    assert_eq!(budget(json!({ "memoryBudget": 0 })), None);
    assert_eq!(Rehearsal::new("", &[]).orchestrator.budget(None), None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_answering_is_not_stopped_for_its_memory_nor_for_its_age() {
    let slow = Behaviour { pulls_after: Some(Duration::from_millis(2_500)), ..Behaviour::default() };
    let servers = [("alpha", slow), ("gamma", Behaviour::default())];
    let config = json!({ "idleTimeout": 1_000 });
    let rehearsal = Rehearsal::with_config("//- a.foo\nx\n//- b.bar\nx\n", &servers, config);
    rehearsal.check("a.foo").await;
    rehearsal.project.write("a.foo", "ERR late\n");
    let check = rehearsal.check("a.foo");
    let pressure = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        // gamma is the one that was used last.
        rehearsal.check("b.bar").await;
        tokio::time::sleep(Duration::from_millis(1_000)).await;
        rehearsal.orchestrator.stay_within(100 * MIB, |_| 80 * MIB).await;
        rehearsal.orchestrator.stop_idle(tokio::time::Instant::now()).await;
        rehearsal.status("alpha")
    };
    let (found, status) = tokio::join!(check, pressure);
    assert_eq!((found.len(), status), (1, vec![ServerState::Active]), "{found:?}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    rehearsal.orchestrator.stay_within(100 * MIB, |_| 180 * MIB).await;
    assert_eq!(rehearsal.status("gamma"), [ServerState::Idle]);
}

// BR-43, REQ-STATUS-020, REQ-STATUS-025
#[tokio::test(start_paused = true)]
async fn every_server_is_listed_with_its_state() {
    let slow = Behaviour { ready_after: None, ..Behaviour::default() };
    let config = json!({ "servers": { "beta": { "enabled": false } } });
    let servers = [("alpha", Behaviour::default()), ("gamma", slow), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::with_config("//- a.foo\nx\n//- b.bar\nx\n", &servers, config);
    rehearsal.check("a.foo").await;
    rehearsal.check("b.bar").await;
    let rows = rehearsal.orchestrator.status();
    assert!(rows.is_sorted_by(|a, b| a.id <= b.id));
    for id in ["alpha", "beta", "gamma", "typescript", "gopls", "pyright", "rust-analyzer", "eslint"] {
        assert!(rows.iter().any(|row| row.id == id), "{id}");
    }
    assert_eq!(rehearsal.status("alpha"), [ServerState::Active]);
    assert_eq!(rehearsal.status("beta"), [ServerState::Disabled]);
    assert_eq!(rehearsal.status("gamma"), [ServerState::Starting]);
    assert_eq!(rehearsal.status("gopls"), [ServerState::Unavailable]);
    *rehearsal.fakes.untrusted.lock().unwrap() = true;
    assert_eq!(rehearsal.status("gopls"), [ServerState::Untrusted]);
}

// EC-48, BR-85, REQ-CONC-020, BR-23, REQ-ARCH-040
#[tokio::test(start_paused = true)]
async fn a_question_comes_after_the_writes_before_it() {
    let rehearsal = Rehearsal::new(FILE, &[("alpha", Behaviour::pushing(&[300]))]);
    rehearsal.check("a.foo").await;
    rehearsal.fakes.seen.lock().unwrap().clear();
    rehearsal.project.write("a.foo", "let x = 1\n");
    let ask = async {
        tokio::task::yield_now().await;
        let arguments = json!({ "filePath": "a.foo", "line": 1, "character": 5 });
        tools::call(&rehearsal.orchestrator, "lsp_goto_definition", arguments).await.unwrap()
    };
    let (_, answer) = tokio::join!(rehearsal.check("a.foo"), ask);
    assert_eq!((answer.text.as_str(), answer.is_error), ("a.foo:1:5", false));
    let seen = rehearsal.fakes.seen();
    let at = |what: &str| seen.iter().position(|seen| seen.starts_with(what)).unwrap();
    assert!(at("alpha didChange a.foo 2") < at("alpha textDocument/definition"), "{seen:?}");
    assert_eq!(rehearsal.fakes.n_launched(), 1, "ARCH-040: one server for both channels");
}
