//! Agents that nobody needs.

use chartroom_protocol::ids::QuestionId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;

use super::questions::permission;
use super::*;
use crate::fake::{Call, Keeps, message};
use crate::provider::ProviderOutput;

const IDLE: Duration = Duration::from_secs(30 * 60);
const HOURS: Duration = Duration::from_secs(5 * 60 * 60);

/// A world whose clock moves only when the test says so. A paused clock jumps to the next timer whenever everything
/// waits, also for the disk; here something always runs.
async fn world() -> World {
    drop(tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    }));
    World::new().await
}

/// Lets the session come to everything that is due: it takes what is due and what it is asked in any order.
async fn settled(world: &World, session_id: &SessionId) {
    for _ in 0..32 {
        world.service.status(session_id).await.unwrap();
    }
}

/// A session whose agent has had one turn.
async fn after_a_turn(world: &World) -> SessionId {
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    let turn_id = world.send(&session_id, "hello").await.turn_id;
    assert_eq!(agent.next_turn().await, turn_id);
    agent.start_turn(&turn_id).await;
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    world.until(&session_id, SessionState::Open).await;
    settled(world, &session_id).await;
    session_id
}

async fn asleep(world: &World) -> SessionId {
    let session_id = after_a_turn(world).await;
    tokio::time::advance(IDLE).await;
    assert_eq!(world.agent(&session_id).next_call().await, Call::Kill);
    session_id
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_put_to_sleep_after_thirty_idle_minutes_and_nobody_sees_it() {
    let world = world().await;
    let session_id = after_a_turn(&world).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    tokio::time::advance(IDLE - Duration::from_secs(1)).await;
    settled(&world, &session_id).await;
    assert!(world.agent(&session_id).is_running(), "it is not time yet");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(world.agent(&session_id).next_call().await, Call::Kill);
    let status = world.service.status(&session_id).await.unwrap();
    assert_eq!((status.state, status.is_alive), (SessionState::Open, true));
    // The next frame is of the next message.
    world.send(&session_id, "again").await;
    assert_eq!(lines(&[reader.next().await]), "4 upsert complete user \"again\"\n");
}

#[tokio::test(start_paused = true)]
async fn a_message_to_a_sleeping_agent_looks_like_one_to_an_agent_that_is_awake() {
    let mut seen = Vec::new();
    for sleeps in [false, true] {
        let world = world().await;
        let session_id = if sleeps { asleep(&world).await } else { after_a_turn(&world).await };
        let mut reader = world.follow(&session_id).await;
        reader.until_state(SessionState::Open).await;
        let sent = world.send(&session_id, "again").await;
        assert!(!sent.queued);
        let agent = loop {
            let agent = world.agent(&session_id);
            if agent.is_running() {
                break agent;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(agent.next_turn().await, sent.turn_id);
        agent.start_turn(&sent.turn_id).await;
        agent.text(&sent.turn_id, "i", UpsertStatus::Complete, "yes").await;
        agent.end_turn(&sent.turn_id, TurnStatus::Completed).await;
        seen.push(lines(&reader.until_state(SessionState::Open).await));
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test(start_paused = true)]
async fn nobody_sleeps_while_a_turn_runs_a_question_waits_or_something_runs_in_the_background() {
    let world = world().await;
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    let turn_id = world.send(&session_id, "long").await.turn_id;
    assert_eq!(agent.next_turn().await, turn_id);
    agent.start_turn(&turn_id).await;
    tokio::time::advance(HOURS).await;
    settled(&world, &session_id).await;
    assert!(agent.is_running(), "a turn runs");
    // What it asks after its turn has nothing else to keep it awake.
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    world.until(&session_id, SessionState::Open).await;
    agent.say(ProviderOutput::Question(permission("q"))).await;
    world.until(&session_id, SessionState::NeedsYou).await;
    tokio::time::advance(HOURS).await;
    settled(&world, &session_id).await;
    assert!(agent.is_running(), "a question waits");
    world.fake.behave(|behaviour| behaviour.works_aside = true);
    agent.say(ProviderOutput::QuestionClosed(QuestionId::new("q"))).await;
    world.until(&session_id, SessionState::Open).await;
    tokio::time::advance(HOURS).await;
    settled(&world, &session_id).await;
    assert!(agent.is_running(), "something runs in the background");
    world.fake.behave(|behaviour| behaviour.works_aside = false);
    tokio::time::advance(HOURS).await;
    assert_eq!(agent.next_call().await, Call::Kill);
}

/// Somebody says "again" to the sleeping agent in a terminal.
fn continued_elsewhere(world: &World, session_id: &SessionId, keeps: Keeps) {
    let said = |item: &str, origin: Origin, words: &str| {
        let mut said = message(session_id, &"elsewhere".into(), item, UpsertStatus::Complete, words);
        if let UpsertBody::Message { origin: whose, .. } = &mut said.body {
            *whose = origin;
        }
        said
    };
    // The turn that was had here stands under another id, as with an old version.
    let mut ours = said("o", Origin::User, "hello");
    ours.turn_id = "ours".into();
    let outside = [said("u", Origin::User, "again"), said("a", Origin::Agent, "in a terminal")];
    world.fake.remember(session_id, [vec![ours], outside.to_vec()].concat(), keeps);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_elsewhere_while_the_agent_slept_stands_before_the_message_that_woke_it() {
    for keeps in [Keeps::Ids, Keeps::Words] {
        let world = world().await;
        let session_id = asleep(&world).await;
        continued_elsewhere(&world, &session_id, keeps);
        world.fake.behave(|behaviour| behaviour.plays = Some(1));
        world.send(&session_id, "again").await;
        let history = loop {
            let history = world.service.history(&session_id, None).await.unwrap();
            if history.json.matches("turn_complete").count() == 2 {
                break lines(&[serde_json::from_str(&history.json).unwrap()]);
            }
        };
        let order = r#"["complete user \"hello\"", "complete user \"again\"", "complete agent \"in a terminal\"", "complete user \"again\"", "complete agent \"word0 \""]"#;
        assert!(history.contains(order), "{keeps:?}: {history}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_agent_wakes_ends_the_turn_and_the_agent_never_gets_the_message() {
    let world = world().await;
    let session_id = asleep(&world).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.fake.behave(|behaviour| behaviour.hang = true);
    world.send(&session_id, "no, wait").await;
    reader.until_state(SessionState::Working).await;
    world.service.cancel(&session_id).await.unwrap();
    let seen = lines(&reader.until_state(SessionState::Open).await);
    assert!(seen.contains("turn_complete Cancelled"), "{seen}");
    assert_eq!(world.service.store().messages(&session_id).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_message_after_a_cancel_while_the_agent_wakes_is_not_taken_for_one_said_elsewhere() {
    for keeps in [Keeps::Ids, Keeps::Words] {
        let world = world().await;
        let session_id = asleep(&world).await;
        continued_elsewhere(&world, &session_id, keeps);
        let starts = Arc::new(tokio::sync::Notify::new());
        world.fake.behave(|behaviour| {
            behaviour.waits = Some(Arc::clone(&starts));
            behaviour.plays = Some(1);
        });
        let mut reader = world.follow(&session_id).await;
        reader.until_state(SessionState::Open).await;
        world.send(&session_id, "no, wait").await;
        reader.until_state(SessionState::Working).await;
        world.service.cancel(&session_id).await.unwrap();
        reader.until_state(SessionState::Open).await;
        world.send(&session_id, "again").await;
        reader.until_state(SessionState::Working).await;
        starts.notify_one();
        let history = loop {
            let history = world.service.history(&session_id, None).await.unwrap();
            if history.json.matches("turn_complete").count() == 3 {
                break lines(&[serde_json::from_str(&history.json).unwrap()]);
            }
        };
        let order = r#"["complete user \"hello\"", "complete user \"no, wait\"", "complete user \"again\"", "complete agent \"in a terminal\"", "complete user \"again\"", "complete agent \"word0 \""]"#;
        assert!(history.contains(order), "{keeps:?}: {history}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_be_woken_fails_the_turn_and_says_why() {
    let world = world().await;
    let session_id = asleep(&world).await;
    world.fake.behave(|behaviour| behaviour.refuse = Some(ProviderError::create_failed("no luck")));
    world.send(&session_id, "hello?").await;
    world.until(&session_id, SessionState::Dead).await;
    let history = world.service.history(&session_id, None).await.unwrap();
    assert!(history.json.contains("no luck"), "{}", history.json);
}
