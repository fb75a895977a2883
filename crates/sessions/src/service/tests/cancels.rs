//! A cancel that was accepted ends the turn that it was meant for, whenever it comes.

use std::sync::Arc;

use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::UpsertStatus;
use chartroom_protocol::ws::ServerFrame;
use expect_test::expect;
use tokio::sync::Notify;

use super::{Reader, World, lines};
use crate::fake::Call;

/// How many moments are tried.
const MOMENTS: usize = 10_000;
/// After so many a new session is taken, so that journals stay short.
const A_SESSION: usize = 500;

/// Numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    /// Returns the next one below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Follows an idle session from here on: what was said before is read.
async fn follow(world: &World, session_id: &SessionId) -> Reader {
    let mut reader = world.follow(session_id).await;
    reader.until_state(SessionState::Open).await;
    reader
}

async fn until_end(reader: &mut Reader, turn_id: &TurnId) -> TurnEvent {
    let ends = |frame: &ServerFrame| match frame {
        ServerFrame::Turn { payload, .. } => payload.is_terminal() && payload.turn_id() == turn_id,
        _ => false,
    };
    match reader.until(ends).await.pop() {
        Some(ServerFrame::Turn { payload, .. }) => payload,
        other => panic!("expected a turn's end, got {other:?}"),
    }
}

#[tokio::test]
async fn a_cancel_at_any_of_10_000_moments_ends_its_turn() {
    let world = World::new().await;
    world.fake.behave(|behaviour| behaviour.works_until_cancelled = true);
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    let mut n_left = MOMENTS;
    while n_left > 0 {
        let session_id = world.create().await;
        let mut reader = follow(&world, &session_id).await;
        for _ in 0..A_SESSION.min(n_left) {
            n_left -= 1;
            // Some messages find an agent that has to be started first.
            if numbers.below(8) == 0 {
                world.service.kill(&session_id).await.unwrap();
            }
            let sent = world.send(&session_id, "work").await;
            for _ in 0..numbers.below(40) {
                tokio::task::yield_now().await;
            }
            world.service.cancel(&session_id).await.unwrap();
            let end = until_end(&mut reader, &sent.turn_id).await;
            assert!(
                matches!(end, TurnEvent::TurnComplete { status: TurnStatus::Cancelled, .. }),
                "{n_left} left: {end:?}"
            );
            let status = world.service.status(&session_id).await.unwrap();
            assert_eq!(status.state, SessionState::Open, "{n_left} left: the agent was ended instead");
        }
    }
}

async fn killed_session(world: &World) -> SessionId {
    let session_id = world.create().await;
    world.service.kill(&session_id).await.unwrap();
    session_id
}

#[tokio::test]
async fn a_message_that_is_cancelled_while_its_session_loads_never_reaches_the_agent() {
    let world = World::new().await;
    let session_id = killed_session(&world).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Dead).await;
    let loads = Arc::new(Notify::new());
    world.fake.behave(|behaviour| behaviour.waits = Some(Arc::clone(&loads)));
    world.send(&session_id, "not this").await;
    let next = world.send(&session_id, "but this").await;
    let service = world.service.clone();
    let cancel = tokio::spawn({
        let session_id = session_id.clone();
        async move { service.cancel(&session_id).await }
    });
    tokio::task::yield_now().await;
    // The session answers one command after the other: this one comes after the cancel.
    assert_eq!(world.service.status(&session_id).await.unwrap().state, SessionState::Loading);
    loads.notify_one();
    cancel.await.unwrap().unwrap();
    assert_eq!(world.agent(&session_id).next_turn().await, next.turn_id);
    let frames = reader.until(|frame| matches!(frame, ServerFrame::Upsert { seq: 3, .. })).await;
    let journal: Vec<_> = frames
        .into_iter()
        .filter(|frame| matches!(frame, ServerFrame::Upsert { .. } | ServerFrame::Turn { .. }))
        .collect();
    expect![[r#"
        1 upsert complete user "not this"
        2 turn_complete Cancelled
        3 upsert complete user "but this"
    "#]]
    .assert_eq(&lines(&journal));
    // After a crash it does not come back.
    drop(reader);
    let world = world.restart().await;
    let waiting = world.service.queue(&session_id).await.unwrap().messages;
    assert_eq!(waiting.iter().map(|message| message.message.as_str()).collect::<Vec<_>>(), ["but this"]);
}

#[tokio::test]
async fn a_cancel_while_a_message_is_being_handed_over_waits_for_the_agent_to_have_it() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.fake.behave(|behaviour| behaviour.works_until_cancelled = true);
    let mut reader = follow(&world, &session_id).await;
    let sent = world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, sent.turn_id);
    world.service.cancel(&session_id).await.unwrap();
    until_end(&mut reader, &sent.turn_id).await;
    assert_eq!(agent.next_call().await, Call::Cancel);
}

#[tokio::test]
async fn a_cancel_leaves_the_messages_that_wait_behind_it() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.fake.behave(|behaviour| behaviour.works_until_cancelled = true);
    let mut reader = follow(&world, &session_id).await;
    let first = world.send(&session_id, "first").await;
    let second = world.send(&session_id, "second").await;
    assert!(second.queued);
    world.service.cancel(&session_id).await.unwrap();
    until_end(&mut reader, &first.turn_id).await;
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, first.turn_id);
    assert_eq!(agent.next_call().await, Call::Cancel);
    assert_eq!(agent.next_turn().await, second.turn_id);
}

#[tokio::test]
async fn a_kill_ends_every_open_item_as_an_error_with_what_it_said() {
    let world = World::new().await;
    let session_id = world.create().await;
    let sent = world.send(&session_id, "build it").await;
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, sent.turn_id);
    agent.start_turn(&sent.turn_id).await;
    agent.text(&sent.turn_id, "done", UpsertStatus::Complete, "I build.").await;
    agent.text(&sent.turn_id, "open", UpsertStatus::Create, "half a sen").await;
    agent.text(&sent.turn_id, "open", UpsertStatus::Update, "half a sentence").await;
    world.service.kill(&session_id).await.unwrap();
    let expected = expect![[r#"
        7 history ["complete user \"build it\"", "complete agent \"I build.\"", "error agent \"half a sentence\" (PROCESS_CRASH)"] ["turn_started", "turn_error PROCESS_CRASH the session was ended"]
    "#]];
    let history = async |world: &World| {
        let history = world.service.history(&session_id, None).await.unwrap();
        lines(&[serde_json::from_str(&history.json).unwrap()])
    };
    expected.assert_eq(&history(&world).await);
    world.service.load(&session_id).await.unwrap();
    expected.assert_eq(&history(&world).await);
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    expected.assert_eq(&history(&world).await);
}

#[tokio::test]
async fn an_item_of_a_cancelled_turn_stays_as_it_was_also_after_a_restart() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = follow(&world, &session_id).await;
    let sent = world.send(&session_id, "build it").await;
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, sent.turn_id);
    agent.start_turn(&sent.turn_id).await;
    agent.text(&sent.turn_id, "open", UpsertStatus::Create, "half a sentence").await;
    agent.end_turn(&sent.turn_id, TurnStatus::Cancelled).await;
    until_end(&mut reader, &sent.turn_id).await;
    drop(reader);
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    let history = world.service.history(&session_id, None).await.unwrap();
    expect![[r#"
        4 history ["complete user \"build it\"", "create agent \"half a sentence\""] ["turn_started", "turn_complete Cancelled"]
    "#]]
    .assert_eq(&lines(&[serde_json::from_str(&history.json).unwrap()]));
}
