//! A disk that is full for a while.

use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;

use super::*;

/// Longer than a page: it cannot be written without room.
fn long_text() -> String {
    "word ".repeat(40_000)
}

fn tells_of_the_disk(frame: &ServerFrame) -> bool {
    matches!(frame, ServerFrame::State { note: Some(note), .. }
        if note.starts_with("the journal cannot be written, trying again: the disk of the data folder is full"))
}

#[tokio::test]
async fn what_an_agent_says_on_a_full_disk_waits_and_is_all_there_when_there_is_room_again() {
    let limits = Limits { journal_retry: Duration::from_millis(20), ..Limits::default() };
    let world = World::with_limits(limits).await;
    let session_id = world.create().await;
    let sent = world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    agent.next_turn().await;
    agent.start_turn(&sent.turn_id).await;
    agent.text(&sent.turn_id, "before", UpsertStatus::Complete, "kept").await;
    let mut reader = world.follow(&session_id).await;
    let is_kept = |frame: &ServerFrame| match frame {
        ServerFrame::Upsert { payload, .. } => payload.item_id.as_str() == "before",
        ServerFrame::History { entries, .. } => {
            entries.iter().any(|entry| entry.item_id.as_str() == "before")
        }
        _ => false,
    };
    reader.until(is_kept).await;

    world.service.store().pretend_full(true).await.unwrap();
    agent.text(&sent.turn_id, "long", UpsertStatus::Complete, &long_text()).await;
    agent.end_turn(&sent.turn_id, TurnStatus::Completed).await;
    reader.until(tells_of_the_disk).await;
    // The session answers meanwhile, and promises nothing that it cannot keep.
    assert!(world.service.status(&session_id).await.unwrap().is_alive);
    let refused = world.service.send(&session_id, text(&long_text())).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Internal);
    assert!(refused.message.starts_with("the disk of the data folder is full"), "{refused}");
    let history = world.service.history(&session_id, None).await.unwrap();
    assert!(history.json.contains("kept") && !history.json.contains("word word"), "{}", history.json);

    world.service.store().pretend_full(false).await.unwrap();
    reader.until(|frame| matches!(frame, ServerFrame::Turn { payload, .. } if payload.is_terminal())).await;
    let frames = reader.until_state(SessionState::Open).await;
    assert!(!frames.iter().any(tells_of_the_disk), "{frames:?}");
    let history = world.service.history(&session_id, None).await.unwrap();
    assert!(history.json.contains(&long_text()) && history.json.contains("turn_complete"));
}

#[tokio::test]
async fn an_agent_can_be_ended_while_the_disk_is_full() {
    let world = World::new().await;
    let session_id = world.create().await;
    let sent = world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    agent.next_turn().await;
    agent.start_turn(&sent.turn_id).await;
    let mut reader = world.follow(&session_id).await;
    world.service.store().pretend_full(true).await.unwrap();
    agent.text(&sent.turn_id, "long", UpsertStatus::Complete, &long_text()).await;
    reader.until(tells_of_the_disk).await;
    world.service.kill(&session_id).await.unwrap();
    assert_eq!(agent.next_call().await, crate::fake::Call::Kill);
}
