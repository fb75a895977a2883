//! Conversations that were had outside Chartroom.

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use expect_test::expect;

use super::*;
use crate::fake::message;
use crate::provider::{DiscoveredSession, LoadOptions};

fn said(session_id: &SessionId, item: &str, origin: Origin, at: &str, content: &str) -> Upsert {
    let turn_id = TurnId::new("old");
    Upsert {
        source_timestamp: at.to_owned(),
        body: UpsertBody::Message { content: content.to_owned(), origin, image_count: 0 },
        ..message(session_id, &turn_id, item, UpsertStatus::Complete, content)
    }
}

#[tokio::test]
async fn a_session_made_outside_is_listed_and_opening_it_adopts_it_with_its_history() {
    let world = World::new().await;
    let session_id = SessionId::new("outside");
    world.fake.discovers(vec![DiscoveredSession {
        session_id: session_id.clone(),
        first_message: "please rename the function that parses the config file".to_owned(),
        last_activity: "2026-01-02T00:00:00.000Z".to_owned(),
    }]);
    world.fake.remember(
        &session_id,
        vec![
            said(&session_id, "u1", Origin::User, "2026-01-01T00:00:00.000Z", "rename it"),
            said(&session_id, "a1", Origin::Agent, "2026-01-01T00:00:01.000Z", "renamed"),
        ],
        true,
    );
    let list = world.service.list(&world.project.project_id, false).await.unwrap();
    assert_eq!(list.len(), 1);
    assert!(list[0].discovered);
    assert_eq!(list[0].title, "please rename the function that parses the config");

    world.service.load(&session_id).await.unwrap();
    let list = world.service.list(&world.project.project_id, false).await.unwrap();
    assert_eq!((list.len(), list[0].discovered), (1, false));
    let mut reader = world.follow(&session_id).await;
    expect![[r#"
        2 history ["complete user \"rename it\"", "complete agent \"renamed\""] []
    "#]]
    .assert_eq(&lines(&[reader.next().await]));

    // What it has told us it has kept: it is not begun again in silence if the agent lost it since.
    drop(reader);
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    let told = |(_, options): (_, LoadOptions)| (options.may_be_unkept, options.wants_undated_history);
    let loads: Vec<_> = world.fake.loads().into_iter().map(told).collect();
    assert_eq!(loads, [(true, true), (false, false)]);
}

#[tokio::test]
async fn a_discovered_session_can_be_loaded_without_the_list() {
    let world = World::new().await;
    let session_id = SessionId::new("outside");
    world.fake.discovers(vec![DiscoveredSession {
        session_id: session_id.clone(),
        first_message: "hi".to_owned(),
        last_activity: "2026-01-02T00:00:00.000Z".to_owned(),
    }]);
    world.fake.remember(&session_id, Vec::new(), true);
    world.service.load(&session_id).await.unwrap();
}

/// Has one turn here, restarts, and loads a session whose agent remembers `history`.
async fn after_a_turn_here(history: impl Fn(&SessionId) -> Vec<Upsert>, dated: bool) -> String {
    let world = World::new().await;
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.send(&session_id, "hello").await;
    reader.until_state(SessionState::Open).await;
    drop(reader);
    let world = world.restart().await;
    world.fake.remember(&session_id, history(&session_id), dated);
    world.service.load(&session_id).await.unwrap();
    let mut reader = world.follow(&session_id).await;
    lines(&[reader.next().await])
}

#[tokio::test]
async fn what_was_said_outside_since_is_added_and_what_we_have_is_not_doubled() {
    let seen = after_a_turn_here(
        |session_id| {
            vec![
                said(session_id, "x1", Origin::User, "2026-01-01T00:00:00.000Z", "hello"),
                said(session_id, "x2", Origin::Agent, "2026-01-01T00:00:00.000Z", "word0"),
                said(session_id, "x3", Origin::User, "2999-01-01T00:00:00.000Z", "hello"),
                said(session_id, "x4", Origin::User, "2999-01-01T00:00:01.000Z", "from the terminal"),
                said(session_id, "x5", Origin::Agent, "2999-01-01T00:00:02.000Z", "yes?"),
            ]
        },
        true,
    )
    .await;
    expect![[r#"
        7 history ["complete user \"hello\"", "complete agent \"word0 \"", "complete user \"from the terminal\"", "complete agent \"yes?\""] ["turn_started", "turn_complete Completed"]
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn a_history_without_times_is_not_taken_over_what_we_have() {
    let seen = after_a_turn_here(
        |session_id| vec![said(session_id, "x1", Origin::User, "2999-01-01T00:00:00.000Z", "who knows when")],
        false,
    )
    .await;
    expect![[r#"
        5 history ["complete user \"hello\"", "complete agent \"word0 \""] ["turn_started", "turn_complete Completed"]
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn readers_of_a_session_take_the_state_again_when_its_history_arrives() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.service.kill(&session_id).await.unwrap();
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Dead).await;
    let history = (0..1000)
        .map(|n| said(&session_id, &format!("x{n}"), Origin::Agent, "2026-01-01T00:00:00.000Z", "said"))
        .collect();
    world.fake.remember(&session_id, history, true);
    world.service.load(&session_id).await.unwrap();
    let frames = reader
        .until(|frame| matches!(frame, ServerFrame::History { entries, .. } if entries.len() == 1000))
        .await;
    assert!(!frames.iter().any(|frame| matches!(frame, ServerFrame::Upsert { .. })));
    world.agent(&session_id).end_turn(&"none".into(), TurnStatus::Completed).await;
}
