//! Making, sending, stopping, ending, listing.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;
use chartroom_protocol::ws::ServerFrame;
use expect_test::expect;
use std::time::Duration;

use super::*;
use crate::fake::Call;

#[tokio::test]
async fn a_message_is_shown_as_the_users_and_its_turn_follows_under_one_id() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;

    let sent = world.send(&session_id, "fix the build").await;
    assert!(!sent.queued);
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    assert_eq!(turn_id, sent.turn_id);
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "i", UpsertStatus::Create, "I will").await;
    agent.text(&turn_id, "i", UpsertStatus::Complete, "I will fix it").await;
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    agent.text(&turn_id, "late", UpsertStatus::Create, "after the end").await;

    let frames = reader.until_state(SessionState::Open).await;
    expect![[r#"
        1 upsert complete user "fix the build"
        title "fix the build"
        state Working
        2 turn_started
        3 upsert create agent "I will"
        4 upsert complete agent "I will fix it"
        5 turn_complete Completed
        state Open
    "#]]
    .assert_eq(&lines(&frames));
    for frame in &frames {
        match frame {
            ServerFrame::Upsert { payload, .. } => assert_eq!(payload.turn_id, turn_id),
            ServerFrame::Turn { payload, .. } => assert_eq!(*payload.turn_id(), turn_id),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_turn_that_the_agent_begins_by_itself_is_a_turn_like_any_other() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    let agent = world.agent(&session_id);
    let own = "own-turn".into();
    agent.start_turn(&own).await;
    let mut frames = reader.until_state(SessionState::Working).await;
    agent.text(&own, "i", UpsertStatus::Complete, "the background work is done").await;
    agent.end_turn(&own, TurnStatus::Completed).await;
    frames.extend(reader.until_state(SessionState::Open).await);
    expect![[r#"
        1 turn_started
        state Working
        2 upsert complete agent "the background work is done"
        3 turn_complete Completed
        state Open
    "#]]
    .assert_eq(&lines(&frames));
}

#[tokio::test]
async fn cancel_asks_the_agent_and_the_session_is_ready_after_it() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.send(&session_id, "count to a million").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    world.service.cancel(&session_id).await.unwrap();
    assert_eq!(agent.next_call().await, Call::Cancel);
    agent.end_turn(&turn_id, TurnStatus::Cancelled).await;
    world.until(&session_id, SessionState::Open).await;
    assert!(!world.send(&session_id, "go on").await.queued);
}

#[tokio::test]
async fn cancel_without_a_turn_is_fine() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.service.cancel(&session_id).await.unwrap();
    assert_eq!(world.service.status(&session_id).await.unwrap().state, SessionState::Open);
}

#[tokio::test]
async fn a_cancel_that_never_ends_the_turn_is_forced() {
    let limits = Limits { cancel: Duration::from_millis(20), ..Limits::default() };
    let world = World::with_limits(limits).await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.send(&session_id, "hang").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    reader.until(|frame| matches!(frame, ServerFrame::Turn { .. })).await;
    world.service.cancel(&session_id).await.unwrap();
    expect![[r#"
        3 turn_complete Cancelled
        state Dead (the agent did not stop within 0 s and was ended; the next message starts it again)
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Dead).await));
    assert_eq!(agent.next_call().await, Call::Cancel);
    assert_eq!(agent.next_call().await, Call::Kill);
    world.send(&session_id, "again").await;
    reader.until_state(SessionState::Working).await;
}

#[tokio::test]
async fn kill_ends_the_agent_and_takes_the_session_off_the_list_until_it_is_loaded() {
    let world = World::new().await;
    let session_id = world.create().await;
    let other = world.create().await;
    world.send(&session_id, "hello").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    assert!(world.service.status(&session_id).await.unwrap().is_alive);

    world.service.kill(&session_id).await.unwrap();
    assert_eq!(agent.next_call().await, Call::Kill);
    let status = world.service.status(&session_id).await.unwrap();
    assert_eq!((status.is_alive, status.state), (false, SessionState::Dead));
    let list = async |all| {
        let list = world.service.list(&world.project.project_id, all).await.unwrap();
        list.into_iter().map(|session| session.session_id).collect::<Vec<_>>()
    };
    assert_eq!(list(false).await, [other]);
    assert_eq!(list(true).await.len(), 2);

    world.service.load(&session_id).await.unwrap();
    assert_eq!(list(false).await.len(), 2);
    assert_eq!(world.service.status(&session_id).await.unwrap().state, SessionState::Open);
}

#[tokio::test]
async fn an_agent_that_never_starts_is_a_clear_error() {
    let limits = Limits { open: Duration::from_millis(20), ..Limits::default() };
    let world = World::with_limits(limits).await;
    let session_id = world.create().await;
    world.service.kill(&session_id).await.unwrap();
    world.fake.behave(|behaviour| behaviour.hang = true);
    let error = world.service.create(world.new_session("fake")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::SessionCreateFailed);
    let error = world.service.load(&session_id).await.unwrap_err();
    assert_eq!(error.message, "the agent did not start within 0 s");
}

#[tokio::test]
async fn an_agent_that_is_not_installed_is_named_with_its_install_command() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.service.kill(&session_id).await.unwrap();
    world.fake.behave(|behaviour| behaviour.missing = true);
    let expected = "Fake fake is not installed; install it with `make fake`";
    for error in [
        world.service.create(world.new_session("fake")).await.unwrap_err(),
        world.service.load(&session_id).await.unwrap_err(),
        world.service.send(&session_id, text("hello")).await.unwrap_err(),
    ] {
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::AgentNotInstalled, expected));
    }
    assert_eq!(world.service.queue(&session_id).await.unwrap().messages, []);
}

#[tokio::test]
async fn no_agent_starts_in_an_untrusted_folder() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.service.kill(&session_id).await.unwrap();
    std::fs::write(world.project.path.join(".untrusted"), "").unwrap();
    for error in [
        world.service.create(world.new_session("fake")).await.unwrap_err(),
        world.service.load(&session_id).await.unwrap_err(),
        world.service.send(&session_id, text("hello")).await.unwrap_err(),
    ] {
        assert_eq!(error.code, ErrorCode::WorkspaceUntrusted);
    }
    assert_eq!(world.fake.loads(), []);
}

#[tokio::test]
async fn unknown_sessions_and_agents_are_not_found() {
    let world = World::new().await;
    let unknown = SessionId::new("nobody");
    let service = &world.service;
    for code in [
        service.load(&unknown).await.unwrap_err().code,
        service.status(&unknown).await.unwrap_err().code,
        service.send(&unknown, text("hello")).await.unwrap_err().code,
        service.cancel(&unknown).await.unwrap_err().code,
        service.kill(&unknown).await.unwrap_err().code,
        service.history(&unknown, None).await.unwrap_err().code,
        service.subscribe(&unknown, None).await.err().unwrap().code,
    ] {
        assert_eq!(code, ErrorCode::SessionNotFound);
    }
    let error = service.create(world.new_session("gemini")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::UnsupportedCliType);
    assert_eq!(error.message, r#"no agent is configured under the name "gemini""#);
}

#[tokio::test]
async fn a_message_of_5_mb_and_other_nonsense_is_refused_with_a_code() {
    let world = World::new().await;
    let session_id = world.create().await;
    let refused = async |params| world.service.send(&session_id, params).await.unwrap_err();
    let error = refused(text(&"x".repeat(5 << 20))).await;
    assert_eq!(error.code, ErrorCode::MessageTooLarge);
    assert_eq!(error.message, "message: 5.0 MiB of at most 1.0 MiB; put it into a file and name the file");
    assert_eq!(refused(text(" \n")).await.code, ErrorCode::InvalidRequest);
    let image = |media_type: &str, data: String| SendParams {
        message: "look".to_owned(),
        images: vec![chartroom_protocol::session::ImageData { media_type: media_type.to_owned(), data }],
    };
    assert_eq!(refused(image("image/svg+xml", String::new())).await.code, ErrorCode::InvalidRequest);
    assert_eq!(refused(image("image/png", "x".repeat(11 << 20))).await.code, ErrorCode::MessageTooLarge);
    world.service.send(&session_id, image("image/png", "aaaa".to_owned())).await.unwrap();
}

#[tokio::test]
async fn model_mode_title_and_archive_are_kept_and_act() {
    let world = World::new().await;
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    world.service.set_model(&session_id, "big".to_owned()).await.unwrap();
    world.service.set_mode(&session_id, "plan".to_owned()).await.unwrap();
    assert_eq!(agent.next_call().await, Call::SetModel("big".to_owned()));
    assert_eq!(agent.next_call().await, Call::SetMode("plan".to_owned()));
    world.service.set_title(&session_id, "  The\nbuild ").await.unwrap();
    assert_eq!(world.service.set_title(&session_id, "").await.unwrap_err().code, ErrorCode::InvalidRequest);
    world.service.set_archived(&session_id, true).await.unwrap();

    let world = world.restart().await;
    let list = world.service.list(&world.project.project_id, true).await.unwrap();
    assert_eq!((list[0].title.as_str(), list[0].archived), ("The build", true));
    assert_eq!(world.service.list(&world.project.project_id, false).await.unwrap(), []);
    world.service.load(&session_id).await.unwrap();
    let (_, options) = &world.fake.loads()[0];
    assert_eq!((options.model.as_deref(), options.mode.as_deref()), (Some("big"), Some("plan")));
    let status = world.service.status(&session_id).await.unwrap();
    assert_eq!((status.model.as_deref(), status.title.as_str()), (Some("big"), "The build"));
}

#[tokio::test]
async fn the_list_is_sorted_by_last_activity_and_named_by_the_first_message() {
    let world = World::new().await;
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    let first = world.create().await;
    let second = world.create().await;
    for (session_id, message) in [(&second, "second things"), (&first, "first things first")] {
        let mut reader = world.follow(session_id).await;
        reader.until_state(SessionState::Open).await;
        world.send(session_id, message).await;
        reader.until_state(SessionState::Open).await;
    }
    let list = world.service.list(&world.project.project_id, false).await.unwrap();
    let titles: Vec<_> = list.iter().map(|session| session.title.as_str()).collect();
    assert_eq!(titles, ["first things first", "second things"]);
}

// TC-2.1a, NFR-TESTABILITY-3
#[tokio::test]
async fn the_interface_has_every_lifecycle_method() {
    use crate::provider::{CreateOptions, LoadOptions, Provider, ProviderOutput};

    let fake = FakeProvider::new("fake");
    let provider: &dyn Provider = &fake;
    let project_dir = std::path::PathBuf::from("/");
    let (model, mode, provider_options) = (None, None, Map::new());
    let create = CreateOptions {
        project_dir: project_dir.clone(),
        model: model.clone(),
        mode: mode.clone(),
        provider_options: provider_options.clone(),
    };
    let mut session = provider.create_session(create).await.unwrap();
    let turn_id = "t".into();
    session.handle.send_message(&turn_id, text("hello")).await.unwrap();
    let agent = fake.agent(&session.session_id);
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "i", UpsertStatus::Complete, "hi").await;
    // Upserts and turn events come out of one channel, in order.
    assert!(matches!(session.outputs.recv().await, Some(ProviderOutput::Turn(_))));
    assert!(matches!(session.outputs.recv().await, Some(ProviderOutput::Upsert(_))));
    session.handle.cancel_turn(&turn_id).await.unwrap();
    assert!(session.handle.is_alive());
    session.handle.kill().await;
    assert!(!session.handle.is_alive());
    let load = LoadOptions { project_dir, model, mode, provider_options, may_be_unkept: false };
    let loaded = provider.load_session(&session.session_id, load).await.unwrap();
    assert_eq!(loaded.session_id, session.session_id);
}

// TC-7.4a
#[test]
fn no_code_leads_from_an_agents_protocol_to_the_socket() {
    let http = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../chartroom/src/http");
    let mut folders = vec![http];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            n_files += 1;
            let code = std::fs::read_to_string(&path).unwrap();
            for name in ["chartroom_providers", "agent_client_protocol", "transport::rpc", "transport::codec"]
            {
                assert!(!code.contains(name), "{} names {name}", path.display());
            }
        }
    }
    assert!(n_files > 10, "looked at {n_files} files");
}
