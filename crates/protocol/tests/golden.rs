//! Every message of the session API and the socket, as it stands on the wire. A change here is a change of a promise.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/lines.rs"]
mod lines;

use chartroom_protocol::agent::{Agent, AgentListResponse, AgentStatus};
use chartroom_protocol::context::{ContextCategory, ContextResponse, ContextUse};
use chartroom_protocol::device::{
    Device, DeviceListResponse, EnterParams, EnterResponse, RevokeDevicesParams, RevokeDevicesResponse,
};
use chartroom_protocol::error::{ErrorBody, ErrorCode, ErrorResponse};
use chartroom_protocol::keep::{
    ActResponse, CommitParams, CommitResponse, KeepParams, KeepResponse, PullRequestParams,
    PullRequestResponse, RepositoryStatus, StatusFile, SwitchParams, TurnOf,
};
use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::project::{FolderListResponse, Project, ProjectWorktree};
use chartroom_protocol::session::*;
use chartroom_protocol::stream::{Origin, Usage};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::*;
use chartroom_protocol::worktree::AddWorktreeParams;
use chartroom_protocol::ws::{ClientCommand, ClientFrame, ServerFrame};
use expect_test::expect_file;
use lines::lines;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const AT: &str = "2026-01-31T12:00:00.000Z";

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn upsert(status: UpsertStatus, body: UpsertBody) -> Upsert {
    Upsert {
        turn_id: "t".into(),
        session_id: "s".into(),
        item_id: "t:0:0".into(),
        source_timestamp: AT.to_owned(),
        emitted_at: AT.to_owned(),
        status,
        error_code: None,
        error_message: None,
        parent_call_id: None,
        body,
    }
}

fn message(content: &str) -> Upsert {
    let body = UpsertBody::Message { content: content.to_owned(), origin: Origin::Agent, image_count: 0 };
    upsert(UpsertStatus::Create, body)
}

fn tool() -> Upsert {
    let line = |kind, text: &str, changed| DiffLine {
        kind,
        spans: vec![DiffSpan { text: text.to_owned(), changed }],
    };
    let hunk = DiffHunk {
        old_start: 1,
        new_start: 1,
        lines: vec![line(DiffLineKind::Removed, "a", true), line(DiffLineKind::Added, "b", false)],
    };
    let diff = FileDiff { path: "a.rs".to_owned(), added: 1, removed: 1, hunks: vec![hunk], truncated: true };
    let detail = ToolDetail {
        kind: Some(ToolKind::Edit),
        title: Some("Edit a.rs".to_owned()),
        diffs: vec![diff],
        exit_code: Some(0),
        duration_ms: Some(12),
        truncated_from: Some(99),
        diagnostics: Some(ToldDiagnostics {
            text: "ERROR".to_owned(),
            errors: 1,
            warnings: 2,
            left_out: 3,
            new: Some(1),
        }),
        sandbox: Some("The sandbox does not let this agent read /x.".to_owned()),
    };
    let mut upsert = upsert(
        UpsertStatus::Complete,
        UpsertBody::ToolCall {
            tool_name: "Edit".to_owned(),
            tool_arguments: object(json!({ "path": "a.rs" })),
            call_id: "c".into(),
            tool_output: Some("ok".to_owned()),
            tool_output_is_error: Some(false),
            detail: Some(detail),
        },
    );
    upsert.parent_call_id = Some("parent".into());
    upsert
}

fn usage() -> Usage {
    Usage {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_input_tokens: Some(3),
        cache_creation_input_tokens: Some(4),
        cost_usd: Some(0.25),
        context_tokens: Some(5),
        context_window: Some(6),
    }
}

fn summary() -> SessionSummary {
    SessionSummary {
        session_id: "s".into(),
        cli_type: "codex".into(),
        project_id: "p".into(),
        title: "Title".to_owned(),
        state: SessionState::NeedsYou,
        last_activity: AT.to_owned(),
        discovered: false,
        archived: false,
    }
}

fn turn_events() -> Vec<TurnEvent> {
    let (turn_id, session_id) = ("t".into(), "s".into());
    vec![
        TurnEvent::TurnStarted {
            turn_id: "t".into(),
            session_id: "s".into(),
            model_id: "m".to_owned(),
            provider_id: "p".to_owned(),
        },
        TurnEvent::TurnComplete {
            turn_id: "t".into(),
            session_id: "s".into(),
            status: TurnStatus::Completed,
            usage: Some(usage()),
            duration_ms: Some(7),
        },
        TurnEvent::TurnComplete {
            turn_id: "t".into(),
            session_id: "s".into(),
            status: TurnStatus::Cancelled,
            usage: None,
            duration_ms: None,
        },
        TurnEvent::TurnError {
            turn_id,
            session_id,
            error_code: "PROCESS_CRASH".to_owned(),
            error_message: "it died".to_owned(),
        },
    ]
}

fn questions() -> Vec<Question> {
    let permission = QuestionBody::Permission {
        tool_name: "Bash".to_owned(),
        tool_arguments: object(json!({ "command": "ls", "turn_id": "t" })),
        bookkeeping: vec!["turn_id".to_owned()],
        call_id: Some("c".into()),
        description: Some("list files".to_owned()),
        grants: vec![Grant {
            grant_id: "same".to_owned(),
            what: "exactly this command".to_owned(),
            scope: GrantScope::Session,
            is_wider: false,
        }],
        detail: None,
    };
    let choice = QuestionBody::Choice {
        questions: vec![ChoiceQuestion {
            question: "Which?".to_owned(),
            header: "Pick".to_owned(),
            multi_select: false,
            options: vec![ChoiceOption { label: "one".to_owned(), description: "the first".to_owned() }],
        }],
    };
    [permission, choice]
        .into_iter()
        .map(|body| Question { question_id: "q".into(), asked_at: AT.to_owned(), body })
        .collect()
}

fn queued() -> QueuedMessage {
    QueuedMessage {
        queued_id: "q".into(),
        turn_id: "t".into(),
        message: "next".to_owned(),
        image_count: 1,
        queued_at: AT.to_owned(),
    }
}

fn options() -> SessionOptions {
    let named = |id: &str| NamedOption { id: id.to_owned(), name: id.to_owned(), description: String::new() };
    SessionOptions {
        models: vec![named("big")],
        modes: vec![named("plan")],
        commands: vec![named("/compact")],
        model: Some("big".to_owned()),
        mode: Some("plan".to_owned()),
    }
}

fn context_responses() -> Vec<ContextResponse> {
    let context = ContextUse {
        total_tokens: 2449,
        max_tokens: 200_000,
        reserved_tokens: 33_000,
        categories: vec![ContextCategory { name: "System prompt".to_owned(), tokens: 900 }],
    };
    vec![ContextResponse::Known { context }, ContextResponse::NotTold, ContextResponse::NotRunning]
}

fn server_frames() -> Vec<ServerFrame> {
    let session_id = || "s".into();
    let mut frames = Vec::new();
    let mut failed = message("half");
    failed.status = UpsertStatus::Error;
    failed.error_code = Some("PROCESS_CRASH".to_owned());
    failed.error_message = Some("it died".to_owned());
    let thinking = UpsertBody::Thinking { content: "hm".to_owned(), provider_id: "p".to_owned() };
    for payload in [message("hello"), upsert(UpsertStatus::Update, thinking), tool(), failed] {
        frames.push(ServerFrame::Upsert { session_id: session_id(), seq: 1, payload });
    }
    for payload in turn_events() {
        frames.push(ServerFrame::Turn { session_id: session_id(), seq: 2, payload });
    }
    frames.push(ServerFrame::History {
        session_id: session_id(),
        seq: 3,
        entries: vec![message("hello")],
        turns: turn_events(),
        earlier: Some(1),
        earlier_usage: Some(usage()),
    });
    for state in [
        SessionState::Open,
        SessionState::Loading,
        SessionState::Working,
        SessionState::NeedsYou,
        SessionState::Dead,
    ] {
        frames.push(ServerFrame::State { session_id: session_id(), state, note: None });
    }
    for question in questions() {
        frames.push(ServerFrame::Question { session_id: session_id(), question });
    }
    frames.push(ServerFrame::QuestionClosed { session_id: session_id(), question_id: "q".into() });
    frames.push(ServerFrame::Queue { session_id: session_id(), messages: vec![queued()], held: None });
    let held = Some("claude exited with status 1".to_owned());
    frames.push(ServerFrame::Queue { session_id: session_id(), messages: vec![queued()], held });
    frames.push(ServerFrame::Title { session_id: session_id(), title: "Title".to_owned() });
    frames.push(ServerFrame::Listed { session: summary() });
    frames.push(ServerFrame::Removed { session_id: session_id() });
    frames.push(ServerFrame::Options { session_id: session_id(), options: options() });
    frames.push(ServerFrame::Projects {
        projects: vec![Project {
            project_id: "p".into(),
            path: "/p".to_owned(),
            name: "p".to_owned(),
            trusted: true,
            missing: false,
            sandbox: Some("workspace (landlock)".to_owned()),
            worktree: Some(ProjectWorktree {
                name: "feature-x".to_owned(),
                branch: "feature/x".to_owned(),
                repository: "/shop".to_owned(),
                removed: true,
            }),
        }],
    });
    frames.push(ServerFrame::Agent { cli_type: "codex".into(), status: AgentStatus::Missing });
    frames.push(ServerFrame::Ack { request_id: "r".to_owned(), result: json!({}) });
    frames.push(ServerFrame::Error {
        request_id: Some("r".to_owned()),
        code: Some(ErrorCode::SessionNotFound),
        message: "there is no session s".to_owned(),
    });
    frames
}

fn client_frames() -> Vec<ClientFrame> {
    let session_id = || "s".into();
    let image = ImageData { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    let commands = vec![
        ClientCommand::Subscribe { session_id: session_id(), after_seq: Some(7) },
        ClientCommand::Subscribe { session_id: session_id(), after_seq: None },
        ClientCommand::Unsubscribe { session_id: session_id() },
        ClientCommand::Load { session_id: session_id() },
        ClientCommand::Send {
            session_id: session_id(),
            params: SendParams { message: "hi".to_owned(), images: vec![image] },
        },
        ClientCommand::Cancel { session_id: session_id() },
        ClientCommand::Kill { session_id: session_id() },
        ClientCommand::Answer {
            session_id: session_id(),
            params: AnswerParams {
                question_id: "q".into(),
                decision: Decision::AllowAlways,
                message: Some("why not".to_owned()),
                grant_id: Some("same".to_owned()),
                answers: Some([("Which?".to_owned(), "one".to_owned())].into()),
            },
        },
        ClientCommand::Queue {
            session_id: session_id(),
            change: QueueParams::Edit { queued_id: "q".into(), message: "new".to_owned() },
        },
        ClientCommand::Queue {
            session_id: session_id(),
            change: QueueParams::SendNow { queued_id: "q".into() },
        },
        ClientCommand::Queue { session_id: session_id(), change: QueueParams::Hold },
        ClientCommand::Queue { session_id: session_id(), change: QueueParams::Continue },
        ClientCommand::Model { session_id: session_id(), params: SetModelParams { model: "m".to_owned() } },
        ClientCommand::Mode { session_id: session_id(), params: SetModeParams { mode: "m".to_owned() } },
    ];
    commands.into_iter().map(|command| ClientFrame { request_id: Some("r".to_owned()), command }).collect()
}

#[test]
fn frames_from_the_server() {
    expect_file!["golden/server_frames.jsonl"].assert_eq(&lines(&server_frames()));
}

#[test]
fn frames_from_the_browser() {
    expect_file!["golden/client_frames.jsonl"].assert_eq(&lines(&client_frames()));
}

#[test]
fn bodies_of_the_session_api() {
    let create = CreateSessionParams {
        cli_type: "claude-code".into(),
        project_dir: "/p".to_owned(),
        model: Some("big".to_owned()),
        mode: None,
        provider_options: Some(object(json!({ "a": 1 }))),
        worktree: Some(AddWorktreeParams { branch: "b".to_owned(), from: None }),
    };
    let summary = summary();
    let status = SessionStatusResponse {
        session_id: "s".into(),
        cli_type: "codex".into(),
        is_alive: true,
        state: SessionState::Open,
        title: "Title".to_owned(),
        model: Some("big".to_owned()),
        mode: None,
    };
    let error = ErrorResponse {
        error: ErrorBody { code: ErrorCode::ProjectIdRequired, message: "say which project".to_owned() },
    };
    let agent = Agent {
        cli_type: "codex".into(),
        name: "Codex".to_owned(),
        status: AgentStatus::Found,
        path: Some("/usr/bin/codex-acp".to_owned()),
        install: "npm install".to_owned(),
    };
    let text = [
        lines(&[create]),
        lines(&[SessionResponse { session_id: "s".into(), cli_type: "codex".into() }]),
        lines(&[SessionListResponse { sessions: vec![summary] }]),
        lines(&[status]),
        lines(&[SendResponse { turn_id: "t".into(), queued: true }]),
        lines(&[QueueResponse { messages: vec![queued()] }]),
        lines(&[SetTitleParams { title: "Title".to_owned() }]),
        lines(&[ArchiveParams { archived: true }]),
        lines(&[DoneResponse {}]),
        lines(&[options()]),
        lines(&context_responses()),
        lines(&[AgentListResponse { agents: vec![agent] }]),
        lines(&[error]),
    ];
    expect_file!["golden/bodies.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_about_what_is_kept() {
    let (some, text) = (|text: &str| Some(text.to_owned()), |text: &str| text.to_owned());
    let file =
        StatusFile { path: text("a.rs"), staged: true, unstaged: false, untracked: false, conflicted: false };
    let status = RepositoryStatus {
        branch: some("main"),
        head: some("c0ffee"),
        upstream: some("origin/main"),
        ahead: 1,
        behind: 2,
        in_progress: some("merge"),
        files: vec![file],
        branches: vec![text("main")],
    };
    let keep = KeepParams {
        paths: vec![text("src")],
        patch: some("diff --git\n"),
        turn: Some(TurnOf { session: text("s"), turn: Some("t".into()) }),
    };
    let commit = CommitResponse {
        committed: true,
        commit: some("c0ffee"),
        before: some("decade"),
        output: text("said"),
        undo: some("0123456789ab"),
    };
    let text = [
        lines(&[status]),
        lines(&[keep, KeepParams::default()]),
        lines(&[KeepResponse { done: false, reason: some("it does not fit"), undo: some("0123456789ab") }]),
        lines(&[CommitParams { message: some("m"), amend: true, all: false }]),
        lines(&[commit]),
        lines(&[SwitchParams { branch: text("b"), create: true, from: some("main") }]),
        lines(&[ActResponse { done: true, output: text("said"), undo: some("0123456789ab") }]),
        lines(&[PullRequestParams { title: some("t"), body: some("b"), base: some("main") }]),
        lines(&[PullRequestResponse {
            made: true,
            url: some("https://forge.example/1"),
            output: text("said"),
        }]),
    ];
    expect_file!["golden/kept.jsonl"].assert_eq(&text.concat());
}

#[test]
fn bodies_of_the_front_door() {
    let device =
        Device { device_id: "d".to_owned(), browser: "Browser/1.0".to_owned(), entered_at: 1, expires_at: 2 };
    let text = [
        lines(&[EnterParams { code: "c".to_owned() }]),
        lines(&[EnterResponse { key: "k".to_owned() }]),
        lines(&[DeviceListResponse { devices: vec![device] }]),
        lines(&[RevokeDevicesParams::default(), RevokeDevicesParams { device_id: Some("d".to_owned()) }]),
        lines(&[RevokeDevicesResponse { revoked: 1 }]),
        lines(&[FolderListResponse {
            home: "/home/you".to_owned(),
            folders: vec!["/home/you/code".to_owned()],
            truncated: false,
        }]),
    ];
    expect_file!["golden/front_door.jsonl"].assert_eq(&text.concat());
}

#[test]
fn an_error_code_is_the_same_as_text_and_on_the_wire() {
    for code in [ErrorCode::UnsupportedCliType, ErrorCode::QueuedMessageNotFound, ErrorCode::Internal] {
        assert_eq!(serde_json::to_value(code).expect("a code"), json!(code.as_str()));
    }
}

#[test]
fn every_message_has_a_json_schema() {
    for schema in [
        serde_json::to_value(schemars::schema_for!(ServerFrame)).expect("a schema"),
        serde_json::to_value(schemars::schema_for!(ClientFrame)).expect("a schema"),
        serde_json::to_value(schemars::schema_for!(CreateSessionParams)).expect("a schema"),
        serde_json::to_value(schemars::schema_for!(ContextResponse)).expect("a schema"),
    ] {
        assert!(schema.get("$schema").is_some());
    }
}

proptest! {
    #[test]
    fn any_upsert_survives_the_wire(
        content in any::<String>(),
        id in any::<String>(),
        status in prop_oneof![
            Just(UpsertStatus::Create), Just(UpsertStatus::Update),
            Just(UpsertStatus::Complete), Just(UpsertStatus::Error)
        ],
        error in proptest::option::of(any::<String>()),
        is_tool in any::<bool>(),
        seq in 0..(1_u64 << 53),
    ) {
        let mut payload = if is_tool { tool() } else { message(&content) };
        payload.status = status;
        payload.item_id = id.as_str().into();
        payload.error_message = error;
        let frame = ServerFrame::Upsert { session_id: id.as_str().into(), seq, payload };
        let text = serde_json::to_string(&frame).expect("a wire type");
        prop_assert_eq!(serde_json::from_str::<ServerFrame>(&text).expect("what we wrote"), frame);
    }

    #[test]
    fn any_text_is_a_command_or_an_error_and_never_a_panic(text in any::<String>()) {
        drop(serde_json::from_str::<ClientFrame>(&text));
    }

    #[test]
    fn any_json_is_an_event_or_an_error_that_names_a_field(text in "[\\{\\}\\[\\]\":,a-zA-Z0-9_ ]{0,80}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text)
            && let Err(error) = chartroom_protocol::stream::StreamEventEnvelope::from_value(&value)
        {
            prop_assert!(!error.field.is_empty());
        }
    }
}
