//! Stories with real processes: chaotic language servers, and the service's own life and death.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/household.rs"]
mod household;

use std::time::{Duration, Instant};

use chartroom_protocol::lsp::{
    CheckParams, FileText, Freshness, LspConfig, LspSetting, ServerOutcome, ServerState,
};
use household::Household;
use serde_json::json;

/// A config with one well-behaved server and one in `mode`, both for `.foo`.
fn config(mode: &str) -> LspConfig {
    let fake = chartroom_testkit::fakes::lsp();
    serde_json::from_value(json!({
        "diagnosticTimeout": 4_000,
        "firstTouchTimeout": 20_000,
        "servers": {
            "good": { "command": fake, "args": ["good"], "extensions": [".foo"] },
            "chaos": { "command": fake, "args": [mode], "extensions": [".foo"] },
        },
    }))
    .unwrap()
}

fn check(files: &[&str]) -> CheckParams {
    let files = files.iter().map(|file| FileText { file_path: (*file).to_owned(), text: None }).collect();
    CheckParams { files, ..CheckParams::default() }
}

/// Lets a chaotic server do its worst beside a good one. Returns its state afterwards and why.
async fn chaos(mode: &str) -> (ServerState, String, ServerOutcome) {
    let household = Household::new("//- a.foo\nERR real trouble\n", LspSetting::Enabled(config(mode)));
    let orchestrator = household.orchestrator();
    let mut last = None;
    for round in 0..3 {
        household.project.write("a.foo", &format!("ERR real trouble {round}\n"));
        let response = orchestrator.check(check(&["a.foo"])).await;
        let messages: Vec<_> =
            response.files[0].diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        assert_eq!(messages, [format!("real trouble {round}")], "{mode}");
        last = response.servers.into_iter().find(|server| server.id == "chaos").map(|server| server.outcome);
    }
    let row = orchestrator.status().into_iter().find(|row| row.id == "chaos").unwrap();
    let pids: Vec<u32> = orchestrator.status().into_iter().filter_map(|row| row.server_pid).collect();
    orchestrator.shutdown().await;
    for pid in pids {
        assert!(!household::is_alive(pid), "{mode}: {pid} is left");
    }
    (row.status, row.reason.unwrap_or_default(), last.unwrap())
}

const CURRENT: ServerOutcome = ServerOutcome::Answered { freshness: Freshness::Current, said: None };

#[tokio::test]
async fn garbage_malformed_huge_floods_odd_versions_odd_questions_and_lateness_are_survived() {
    for mode in ["garbage", "malformed", "huge", "floods", "versions", "asks", "late"] {
        let (status, reason, outcome) = chaos(mode).await;
        assert_eq!((status, reason.as_str(), outcome), (ServerState::Active, "", CURRENT), "{mode}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_costs_the_other_nothing_but_its_time() {
    let (status, _, outcome) = chaos("never").await;
    assert_eq!(status, ServerState::Starting);
    assert!(matches!(outcome, ServerOutcome::Absent { status: ServerState::Starting, .. }), "{outcome:?}");
    let (status, _, outcome) = chaos("mute").await;
    assert_eq!(status, ServerState::Active);
    assert_eq!(outcome, ServerOutcome::Answered { freshness: Freshness::TimedOut, said: None });
}

// EC-4, EC-5
#[tokio::test]
async fn a_server_that_exits_is_broken_and_says_why() {
    let (status, reason, _) = chaos("exits").await;
    assert_eq!(status, ServerState::Broken);
    assert!(
        reason.contains("exited with status 7 before it was ready: fake-lsp: giving up at once"),
        "{reason}"
    );
    let (status, reason, _) = chaos("crashes").await;
    assert_eq!(status, ServerState::Broken);
    assert!(reason.contains("exited with status 9: fake-lsp: crashing on purpose"), "{reason}");
}

#[tokio::test]
async fn a_server_that_ignores_its_shutdown_is_ended() {
    assert_eq!(chaos("stubborn").await.0, ServerState::Active);
}

// BR-45, BR-46, BR-88, REQ-ARCH-010, REQ-ARCH-020, REQ-ARCH-030, REQ-START-010, BR-23, BR-49, BR-51, BR-91,
// REQ-NAV-020, REQ-NAVR-010, REQ-ARCH-040, REQ-ARCH-070, REQ-ARCH-090, REQ-STATUS-010
#[tokio::test]
async fn the_service_answers_on_both_channels() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config("good")));
    let service = household.pool().service(&household.root);
    assert!(!service.is_alive(), "nothing is started by holding a handle");
    let found = service.check_file("a.foo", None).await;
    assert_eq!(found.len(), 1);
    assert!(service.is_alive());
    assert_eq!(service.diagnostic_epoch().await, 1);
    let all = service.all_diagnostics().await;
    assert_eq!(all["a.foo"], found, "br_49, req_arch_070, and br_92: nothing changes on the way");
    assert_eq!(service.all_diagnostics_after(0, Duration::from_secs(5)).await, all);
    assert!(service.has_tools().await);
    let answer = service.call_tool("lsp_check", json!({ "filePath": "a.foo" })).await;
    assert_eq!(answer.text, "<diagnostics file=\"a.foo\">\nERROR [1:1] x\n</diagnostics>");
    let answer = service
        .call_tool("lsp_hover", json!({ "filePath": "/etc/passwd", "line": 1, "symbol": "root" }))
        .await;
    assert!(
        answer.is_error && answer.text.starts_with("File is outside workspace boundary"),
        "{}",
        answer.text
    );
    // One orchestrator behind both: still one process a server.
    let counters = service.metrics().await.unwrap();
    assert_eq!((counters.server_starts, counters.server_crashes), (2, 0));
    let status = service.status().await;
    assert_eq!(status.unavailable, None);
    let pids: Vec<u32> = status.servers.iter().filter_map(|row| row.server_pid).collect();
    assert_eq!(pids.len(), 2);
    service.shutdown().await;
    assert!(!service.is_alive());
    for pid in pids {
        assert!(!household::is_alive(pid), "{pid} is left");
    }
    assert_eq!(service.check_file("a.foo", None).await, [], "dead is for good");
}

#[tokio::test]
async fn one_service_is_shared_by_all_users_of_a_root_and_ends_with_the_last() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config("good")));
    let pool = household.pool();
    let agents: Vec<_> = (0..10).map(|_| pool.service(&household.root)).collect();
    let answers =
        futures_util::future::join_all(agents.iter().map(|agent| agent.check_file("a.foo", None))).await;
    assert!(answers.iter().all(|found| found.len() == 1));
    let counters = agents[3].metrics().await.unwrap();
    assert_eq!(counters.server_starts, 2, "ten agents, one process a server");
    let pids: Vec<u32> = agents[0].status().await.servers.iter().filter_map(|row| row.server_pid).collect();
    drop(agents);
    household::all_gone(&pids).await;
}

// EC-6, BR-21, REQ-LIFE-080, REQ-GRACE-040
#[tokio::test]
async fn a_service_that_is_killed_in_mid_check_is_dead_and_says_so() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config("mute")));
    let service = household.pool().service(&household.root);
    assert!(service.start().await);
    let pid = household.service_pid().await;
    let kill = async {
        // The check is under way once its servers run.
        household::until(|| household::n_children(pid) >= 2).await;
        household::kill_9(pid);
    };
    let began = Instant::now();
    let (found, ()) = tokio::join!(service.check_file("a.foo", None), kill);
    assert_eq!(found, []);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(!service.is_alive());
    assert_eq!(service.check_file("a.foo", None).await, [], "at once, and not restarted");
    let why = service.status().await.unavailable.unwrap();
    assert!(why.starts_with("LSP unavailable: the service"), "{why}");
    let answer = service.call_tool("lsp_check", json!({ "filePath": "a.foo" })).await;
    assert!(answer.is_error && answer.text.starts_with("LSP unavailable"), "{}", answer.text);
    // Only the user brings it back.
    assert!(service.restart(None).await);
    assert_eq!(service.check_file("a.foo", None).await.len(), 1);
    service.shutdown().await;
}

// EC-52, REQ-START-020, BR-54, REQ-NAV-055
#[tokio::test]
async fn a_service_that_never_says_it_is_ready_is_dead() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::default());
    let service = household.pool_of(&["hangs"]).service(&household.root);
    assert!(!service.start().await);
    let why = service.unavailable().unwrap();
    assert_eq!(why, "LSP unavailable: service startup failed: no lsp/ready within 10 s");
    assert!(!service.has_tools().await, "br_54, req_nav_055");
}

// EC-1, EC-2, REQ-GRACE-020, REQ-GRACE-030
#[tokio::test]
async fn a_service_that_cannot_start_is_silently_off() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::default());
    let service = household.pool_without_program().service(&household.root);
    assert_eq!(service.check_file("a.foo", None).await, []);
    assert!(!service.is_alive());
}

// REQ-GRACE-045
#[tokio::test]
async fn a_start_that_failed_is_not_tried_again_although_it_would_succeed() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config("good")));
    let program = household.root.as_path().join("service");
    let service = household.pool_with(program.clone(), &[]).service(&household.root);
    assert_eq!(service.check_file("a.foo", None).await, []);
    household::install_service(&program);
    for _ in 0..3 {
        assert_eq!(service.check_file("a.foo", None).await, []);
        assert!(!service.start().await && !service.is_alive());
    }
    // Only the user brings it back.
    assert!(service.restart(None).await);
    assert_eq!(service.check_file("a.foo", None).await.len(), 1);
    service.shutdown().await;
}

// EC-35, BR-44, REQ-STATUS-030, REQ-STATUS-035
#[tokio::test]
async fn the_status_says_which_of_its_troubles_a_service_has() {
    let household = || Household::new("//- a.foo\nERR x\n", LspSetting::default());
    let (missing, refusing, killed) = (household(), household(), household());
    let refused = "the service exited with status 3 (the settings are not to my taste)";
    for (household, pool, expected) in [
        (&missing, missing.pool_without_program(), "/no/such/program is not an executable file"),
        (&refusing, refusing.pool_of(&["refuses"]), refused),
    ] {
        let service = pool.service(&household.root);
        assert!(!service.start().await);
        let said = service.status().await.unavailable.unwrap();
        assert!(said.starts_with(&format!("LSP unavailable: service startup failed: {expected}")), "{said}");
        assert_eq!(service.unavailable(), Some(said), "the same wherever it is asked");
    }
    let service = killed.pool().service(&killed.root);
    assert!(service.start().await);
    household::kill_9(killed.service_pid().await);
    household::until(|| !service.is_alive()).await;
    assert_eq!(service.check_file("a.foo", None).await, []);
    let said = service.status().await.unavailable.unwrap();
    assert_eq!(said, "LSP unavailable: the service was ended by signal 9");
}

// BR-72, REQ-LIFE-050
#[tokio::test]
async fn a_service_that_does_not_obey_is_ended_after_a_moment() {
    let config = LspConfig { navigation_tools: false, ..config("good") };
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config));
    let service = household.pool_of(&["deaf"]).service(&household.root);
    assert!(service.start().await);
    let pid = household.service_pid().await;
    let began = Instant::now();
    service.shutdown().await;
    assert!(!household::is_alive(pid), "it is left");
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(1), "it was not asked, or not waited for: {took:?}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    assert!(!service.is_alive());
}

// EC-30, EC-40, BR-25, BR-42, REQ-CFG-010, REQ-STATUS-050
#[tokio::test]
async fn switched_off_nothing_starts_and_status_says_so() {
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Disabled);
    let service = household.pool().service(&household.root);
    assert_eq!(service.check_file("a.foo", None).await, []);
    assert!(!service.has_tools().await && !service.is_alive());
    assert_eq!(service.status().await.unavailable.as_deref(), Some("LSP disabled by configuration"));
}

// EC-34, BR-29, BR-53, BR-81, REQ-NAV-050, REQ-CFG-070, REQ-STATUS-040
#[tokio::test]
async fn without_tools_diagnostics_and_status_stay() {
    let config = LspConfig { navigation_tools: false, ..config("good") };
    let household = Household::new("//- a.foo\nERR x\n", LspSetting::Enabled(config));
    let service = household.pool().service(&household.root);
    assert_eq!(service.check_file("a.foo", None).await.len(), 1);
    assert!(!service.has_tools().await);
    assert!(service.call_tool("lsp_check", json!({ "filePath": "a.foo" })).await.is_error);
    assert_eq!(service.status().await.unavailable, None);
    service.shutdown().await;
}

#[tokio::test]
async fn an_untrusted_workspace_has_a_service_and_no_server() {
    let household = Household::untrusted("//- a.foo\nERR x\n", LspSetting::Enabled(config("good")));
    let service = household.pool().service(&household.root);
    assert_eq!(service.check_file("a.foo", None).await, []);
    let status = service.status().await;
    let row = status.servers.iter().find(|row| row.id == "good").unwrap();
    assert_eq!(row.status, ServerState::Untrusted);
    assert_eq!(row.hint, Some(format!("chartroom trust {}", household.root)));
    service.shutdown().await;
}

// BR-89, REQ-START-030, REQ-START-040
#[tokio::test]
async fn a_wrong_bootstrap_is_said_on_stderr_with_exit_code_1() {
    for (value, said) in [
        (None, "LSP_BOOTSTRAP is not set"),
        (Some("{"), "LSP_BOOTSTRAP is not valid"),
        (Some(r#"{"workspaceRoot":"","dataDir":"/tmp"}"#), "workspaceRoot is empty"),
        (Some(r#"{"workspaceRoot":"/","dataDir":"/tmp","config":7}"#), "LSP_BOOTSTRAP is not valid"),
        (Some(r#"{"workspaceRoot":"/no/such/folder","dataDir":"/tmp"}"#), "workspaceRoot"),
    ] {
        let (code, stderr) = household::run_service(value);
        assert_eq!(code, Some(1), "{value:?}");
        assert!(stderr.contains(said), "{stderr}");
    }
}

#[tokio::test]
async fn hostile_repositories_run_nothing_while_they_are_untrusted() {
    let hostile = chartroom_testkit::hostile::Hostile::new();
    let household = Household::of_folder(&hostile.root(), LspSetting::default(), false);
    let orchestrator = household.orchestrator();
    let files = ["crate/src/lib.rs", "crate/build.rs", "index.ts", "eslint.config.js"];
    for file in files {
        assert!(hostile.root().join(file).is_file(), "{file}");
    }
    let response = orchestrator.check(check(&files)).await;
    assert!(response.files.iter().all(|file| file.diagnostics.is_empty()));
    for row in orchestrator.status() {
        assert_eq!(row.status, ServerState::Untrusted, "{}", row.id);
        assert!(row.hint.unwrap().starts_with("chartroom trust "));
    }
    assert_eq!(hostile.markers(), std::collections::BTreeSet::new());
}
