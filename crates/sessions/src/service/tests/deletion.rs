//! Sessions that are deleted for good.

use chartroom_protocol::session::SessionState;
use chartroom_protocol::upsert::UpsertStatus;

use super::*;

fn not_found<T: std::fmt::Debug>(result: Result<T, ProviderError>) {
    assert_eq!(result.unwrap_err().code, ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn a_deleted_session_is_gone_for_everybody_and_after_a_restart_while_its_turn_ran() {
    let world = World::new().await;
    let session_id = world.create().await;
    let other = world.create().await;
    let mut follows = world.follow(&session_id).await;
    follows.until_state(SessionState::Open).await;
    let mut overview = world.service.overview();
    let sent = world.send(&session_id, "secret words").await;
    let agent = world.agent(&session_id);
    agent.next_turn().await;
    agent.start_turn(&sent.turn_id).await;
    agent.text(&sent.turn_id, "a", UpsertStatus::Create, "half a sen").await;
    world.send(&session_id, "waits").await;

    world.service.delete(&session_id).await.unwrap();
    let mut call = agent.next_call().await;
    while call != crate::fake::Call::Kill {
        call = agent.next_call().await;
    }
    // Who follows it hears of it last; then there is nothing more to hear.
    let heard = follows.until(|frame| matches!(frame, ServerFrame::Removed { .. })).await;
    assert!(heard.len() > 1);
    assert!(follows.feed.next().await.unwrap().is_none());
    // Who only lists sessions hears of it too.
    loop {
        let (about, frame) = tokio::time::timeout(PATIENCE, overview.recv()).await.unwrap().unwrap();
        if frame.json.contains("session:removed") {
            assert_eq!(about, session_id);
            break;
        }
    }
    not_found(world.service.send(&session_id, text("again")).await);
    not_found(world.service.delete(&session_id).await);
    let list = world.service.list(&world.project.project_id, true).await.unwrap();
    assert_eq!(list.iter().map(|session| &session.session_id).collect::<Vec<_>>(), [&other]);

    drop(follows);
    let world = world.restart().await;
    not_found(world.service.status(&session_id).await);
    assert_eq!(world.service.status(&other).await.unwrap().session_id, other);
}

#[tokio::test]
async fn a_deleted_session_is_not_discovered_again_and_not_taken_over() {
    let world = World::new().await;
    let found = SessionId::new("outside");
    world.fake.discovers(vec![crate::DiscoveredSession {
        session_id: found.clone(),
        first_message: "from the terminal".to_owned(),
        last_activity: "2026-01-02T00:00:00.000Z".to_owned(),
    }]);
    world.fake.remember(&found, Vec::new(), crate::fake::Keeps::Ids);
    let n_listed = async || world.service.list(&world.project.project_id, true).await.unwrap().len();
    assert_eq!(n_listed().await, 1);
    // One that was never ours, and then one that was taken over.
    world.service.delete(&found).await.unwrap();
    assert_eq!(n_listed().await, 0);
    not_found(world.service.load(&found).await);
    let world = world.restart().await;
    assert_eq!(world.service.list(&world.project.project_id, true).await.unwrap(), []);
}

#[tokio::test]
async fn a_project_is_deleted_with_its_sessions() {
    let world = World::new().await;
    let (first, second) = (world.create().await, world.create().await);
    world.send(&first, "hello").await;
    let mut overview = world.service.overview();
    world.service.delete_project(&world.project.project_id).await.unwrap();
    let mut removed = Vec::new();
    while removed.len() < 2 {
        let (about, frame) = tokio::time::timeout(PATIENCE, overview.recv()).await.unwrap().unwrap();
        if frame.json.contains("session:removed") {
            removed.push(about);
        }
    }
    assert!(removed.contains(&first) && removed.contains(&second));
    not_found(world.service.status(&first).await);
    assert_eq!(world.service.store().projects().await.unwrap(), []);
    let again = world.service.delete_project(&world.project.project_id).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::NotFound);
}
