//! Every message about several tries, as it stands on the wire. A change here is a change of a promise.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/lines.rs"]
mod lines;

use chartroom_protocol::tries::{
    DiffSize, EndTriesResponse, EndedTry, KeepTryParams, StartTriesParams, TestTriesParams, Tries,
    TriesListResponse, Try, TryAgent, TryState,
};
use chartroom_protocol::worktree::{BringHow, CommandRun, RemoveWorktreeResponse, RunState};
use expect_test::expect_file;
use lines::lines;

#[test]
fn bodies_about_several_tries() {
    let agent = |model: Option<&str>, mode: Option<&str>| TryAgent {
        cli_type: "codex".into(),
        model: model.map(str::to_owned),
        mode: mode.map(str::to_owned),
    };
    let start = |branch: Option<&str>, from: Option<&str>| StartTriesParams {
        message: "make it quick".to_owned(),
        agents: vec![agent(None, None), agent(Some("m"), Some("plan"))],
        branch: branch.map(str::to_owned),
        from: from.map(str::to_owned),
    };
    let removed = |removed| RemoveWorktreeResponse {
        removed,
        uncommitted: vec!["a.rs".to_owned()],
        commits: Vec::new(),
        commit: "c0ffee".to_owned(),
        undo: removed.then(|| "0123456789ab".to_owned()),
    };
    let run = CommandRun {
        command: vec!["npm".to_owned(), "test".to_owned()],
        state: RunState::Passed,
        output: "ok".to_owned(),
        duration_ms: Some(7),
    };
    let bare = |state| Try {
        name: "try-quick-1".to_owned(),
        branch: "try/quick-1".to_owned(),
        cli_type: "codex".into(),
        state,
        note: None,
        session_id: None,
        path: None,
        preparing: None,
        test: None,
        size: None,
        cost_usd: None,
        tokens: None,
        duration_ms: 0,
        removed: None,
    };
    let whole = Try {
        note: Some("the agent is gone".to_owned()),
        session_id: Some("s".into()),
        path: Some("/data/worktrees/shop/try-quick-1".to_owned()),
        preparing: Some(run.clone()),
        test: Some(run),
        size: Some(DiffSize { files: 1, added: 2, removed: 3 }),
        cost_usd: Some(0.25),
        tokens: Some(11),
        duration_ms: 9,
        removed: Some(removed(true)),
        ..bare(TryState::Removed)
    };
    let states = [
        TryState::Making,
        TryState::Failed,
        TryState::Open,
        TryState::Working,
        TryState::NeedsYou,
        TryState::Dead,
    ];
    let tries = |onto: Option<&str>, all: Vec<Try>, kept: Option<&str>| Tries {
        tries_id: "t".to_owned(),
        project_id: "p".into(),
        message: "make it quick".to_owned(),
        created_at: "2026-11-17T10:00:00Z".to_owned(),
        onto: onto.map(str::to_owned),
        test: vec!["npm".to_owned(), "test".to_owned()],
        tries: all,
        kept: kept.map(str::to_owned),
    };
    let keep = |how, onto: Option<&str>, force| KeepTryParams {
        name: "try-quick-1".to_owned(),
        how,
        onto: onto.map(str::to_owned),
        force,
    };
    let ended = |done| EndTriesResponse {
        done,
        brought: None,
        others: vec![EndedTry { name: "try-quick-2".to_owned(), removed: removed(done) }],
    };
    let text = [
        lines(&[start(None, None), start(Some("try/quick"), Some("main"))]),
        lines(&[TriesListResponse {
            tries: vec![
                tries(Some("main"), states.map(bare).to_vec(), None),
                tries(None, vec![whole], Some("try-quick-1")),
            ],
        }]),
        lines(&[TestTriesParams::default(), TestTriesParams { name: Some("try-quick-1".to_owned()) }]),
        lines(&[keep(None, None, false), keep(Some(BringHow::Merge), Some("main"), true)]),
        lines(&[ended(false), ended(true)]),
    ];
    expect_file!["golden/tries.jsonl"].assert_eq(&text.concat());
}
