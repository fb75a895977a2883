//! Messages that come while a turn runs.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::session::{QueueParams, QueuedMessage, SessionState};
use chartroom_protocol::turn::TurnStatus;
use expect_test::expect;

use super::*;
use crate::fake::Call;
use crate::provider::ProviderOutput;

async fn queue(world: &World, session_id: &SessionId) -> Vec<QueuedMessage> {
    world.service.queue(session_id).await.unwrap().messages
}

fn texts(messages: &[QueuedMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.message.as_str()).collect()
}

/// Starts a turn that runs until the test ends it, and queues messages behind it.
async fn busy(world: &World, messages: &[&str]) -> (SessionId, chartroom_protocol::ids::TurnId) {
    let session_id = world.create().await;
    world.send(&session_id, "long work").await;
    let turn_id = world.agent(&session_id).next_turn().await;
    world.agent(&session_id).start_turn(&turn_id).await;
    for message in messages {
        assert!(world.send(&session_id, message).await.queued);
    }
    (session_id, turn_id)
}

#[tokio::test]
async fn queued_messages_are_delivered_in_order_one_a_turn_under_the_ids_that_send_returned() {
    let world = World::new().await;
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    let mut sent = Vec::new();
    for message in ["one", "two", "three"] {
        sent.push(world.send(&session_id, message).await);
    }
    assert_eq!(sent.iter().map(|sent| sent.queued).collect::<Vec<_>>(), [false, true, true]);
    for (sent, message) in sent.iter().zip(["one", "two", "three"]) {
        let expected = Call::Send { turn_id: sent.turn_id.clone(), message: text(message) };
        assert_eq!(agent.next_call().await, expected);
        agent.start_turn(&sent.turn_id).await;
        agent.end_turn(&sent.turn_id, TurnStatus::Completed).await;
    }
    world.until(&session_id, SessionState::Open).await;
    assert_eq!(queue(&world, &session_id).await, []);
}

#[tokio::test]
async fn readers_see_the_queue_change_and_the_state_stays_working_between_turns() {
    let world = World::new().await;
    let (session_id, turn_id) = busy(&world, &[]).await;
    let mut reader = world.follow(&session_id).await;
    let (mut turn_began, mut is_working) = (false, false);
    while !(turn_began && is_working) {
        match reader.next().await {
            ServerFrame::History { turns, .. } => turn_began = !turns.is_empty(),
            ServerFrame::Turn { .. } => turn_began = true,
            ServerFrame::State { state, .. } => is_working = state == SessionState::Working,
            _ => {}
        }
    }
    let next = world.send(&session_id, "and then").await.turn_id;
    let agent = world.agent(&session_id);
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    assert_eq!(agent.next_turn().await, next);
    agent.start_turn(&next).await;
    agent.end_turn(&next, TurnStatus::Completed).await;
    expect![[r#"
        queue ["and then"]
        3 turn_complete Completed
        4 upsert complete user "and then"
        queue []
        5 turn_started
        6 turn_complete Completed
        state Open
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Open).await));
}

#[tokio::test]
async fn a_waiting_message_can_be_edited_and_removed() {
    let world = World::new().await;
    let (session_id, turn_id) = busy(&world, &["first", "second", "third"]).await;
    let waiting = queue(&world, &session_id).await;
    let edit = QueueParams::Edit { queued_id: waiting[1].queued_id.clone(), message: "2nd".to_owned() };
    world.service.change_queue(&session_id, edit).await.unwrap();
    let remove = QueueParams::Remove { queued_id: waiting[0].queued_id.clone() };
    let left = world.service.change_queue(&session_id, remove.clone()).await.unwrap();
    assert_eq!(texts(&left.messages), ["2nd", "third"]);
    let error = world.service.change_queue(&session_id, remove).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::QueuedMessageNotFound);

    let agent = world.agent(&session_id);
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    let expected = Call::Send { turn_id: waiting[1].turn_id.clone(), message: text("2nd") };
    assert_eq!(agent.next_call().await, expected);
}

#[tokio::test]
async fn send_now_interrupts_the_turn_and_goes_before_the_others() {
    let world = World::new().await;
    let (session_id, turn_id) = busy(&world, &["first", "urgent"]).await;
    let urgent = queue(&world, &session_id).await[1].clone();
    let change = QueueParams::SendNow { queued_id: urgent.queued_id };
    world.service.change_queue(&session_id, change).await.unwrap();
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_call().await, Call::Cancel);
    agent.end_turn(&turn_id, TurnStatus::Cancelled).await;
    assert_eq!(agent.next_turn().await, urgent.turn_id);
    assert_eq!(texts(&queue(&world, &session_id).await), ["first"]);
}

#[tokio::test]
async fn the_queue_survives_a_restart_with_its_order_and_its_edits_and_is_delivered_on_load() {
    let world = World::new().await;
    let (session_id, _) = busy(&world, &["first", "second", "urgent"]).await;
    let waiting = queue(&world, &session_id).await;
    let edit = QueueParams::Edit { queued_id: waiting[0].queued_id.clone(), message: "1st".to_owned() };
    world.service.change_queue(&session_id, edit).await.unwrap();
    let now = QueueParams::SendNow { queued_id: waiting[2].queued_id.clone() };
    world.service.change_queue(&session_id, now).await.unwrap();

    let world = world.restart().await;
    assert_eq!(texts(&queue(&world, &session_id).await), ["urgent", "1st", "second"]);
    world.service.load(&session_id).await.unwrap();
    let agent = world.agent(&session_id);
    for (index, message) in [(2, "urgent"), (0, "1st"), (1, "second")] {
        let turn_id = waiting[index].turn_id.clone();
        let expected = Call::Send { turn_id: turn_id.clone(), message: text(message) };
        assert_eq!(agent.next_call().await, expected);
        agent.start_turn(&turn_id).await;
        agent.end_turn(&turn_id, TurnStatus::Completed).await;
    }
}

#[tokio::test]
async fn a_message_to_a_stored_session_starts_the_agent_and_waits_for_it() {
    let world = World::new().await;
    let session_id = world.create().await;
    let world = world.restart().await;
    assert!(!world.service.status(&session_id).await.unwrap().is_alive);
    let sent = world.send(&session_id, "are you there?").await;
    assert!(sent.queued);
    world.until(&session_id, SessionState::Working).await;
    assert_eq!(world.agent(&session_id).next_turn().await, sent.turn_id);
}

#[tokio::test]
async fn an_accepted_message_waits_when_the_agent_cannot_be_started() {
    let world = World::new().await;
    let session_id = world.create().await;
    let world = world.restart().await;
    world.fake.behave(|behaviour| behaviour.refuse = Some(ProviderError::create_failed("no luck")));
    world.send(&session_id, "keep me").await;
    world.until(&session_id, SessionState::Dead).await;
    assert_eq!(texts(&queue(&world, &session_id).await), ["keep me"]);
    world.fake.behave(|behaviour| behaviour.refuse = None);
    let sent = world.send(&session_id, "and me").await;
    assert!(sent.queued);
    world.until(&session_id, SessionState::Working).await;
    match world.agent(&session_id).next_call().await {
        Call::Send { message, .. } => assert_eq!(message, text("keep me")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_queue_goes_on_by_itself_after_a_crash_of_the_agent() {
    let world = World::new().await;
    let (session_id, turn_id) = busy(&world, &["next"]).await;
    let next = queue(&world, &session_id).await[0].turn_id.clone();
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Working).await;
    let crashed = world.agent(&session_id);
    crashed.say(ProviderOutput::Exited { message: "the agent exited with status 1".to_owned() }).await;
    expect![[r#"
        3 turn_error PROCESS_CRASH the agent exited with status 1
        state Loading (the agent exited with status 1; it is started again for the messages that wait)
        4 upsert complete user "next"
        queue []
        state Working
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Working).await));
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, next);
    agent.start_turn(&next).await;
    agent.end_turn(&next, TurnStatus::Completed).await;
    reader.until_state(SessionState::Open).await;
    drop(turn_id);
}

#[tokio::test]
async fn an_agent_that_crashes_again_is_not_started_a_third_time_until_a_person_says_so() {
    let world = World::new().await;
    let (session_id, _) = busy(&world, &["bad", "good"]).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Working).await;
    world.agent(&session_id).vanish();
    reader.until_state(SessionState::Working).await;
    let agent = world.agent(&session_id);
    let bad = agent.next_turn().await;
    agent.start_turn(&bad).await;
    agent.say(ProviderOutput::Exited { message: "it exited with status 2".to_owned() }).await;
    expect![[r#"
        5 turn_started
        6 turn_error PROCESS_CRASH it exited with status 2
        queue ["good"] (held: it exited with status 2)
        state Dead (it exited with status 2)
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Dead).await));
    // The button of the page.
    world.service.load(&session_id).await.unwrap();
    let seen = lines(&reader.until_state(SessionState::Working).await);
    assert!(seen.contains("queue [\"good\"]\n"), "the queue is held no longer: {seen}");
    let agent = world.agent(&session_id);
    let good = agent.next_turn().await;
    agent.start_turn(&good).await;
    agent.end_turn(&good, TurnStatus::Completed).await;
    reader.until_state(SessionState::Open).await;
}

#[tokio::test]
async fn messages_that_an_earlier_run_left_are_delivered_without_anybody_asking() {
    let world = World::new().await;
    let (session_id, _) = busy(&world, &["first", "second"]).await;
    let world = world.restart().await;
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    world.service.go_on().await;
    world.until(&session_id, SessionState::Open).await;
    let history = world.service.history(&session_id, None).await.unwrap();
    // The one that the agent had just got as well: it never said a word about it.
    assert_eq!(history.json.matches("turn_complete").count(), 3, "{}", history.json);
    assert_eq!(queue(&world, &session_id).await, []);
}

/// Leaves a message waiting, restarts, and returns the queue as a reader sees it.
async fn after_a_restart(prepare: impl AsyncFnOnce(&World, &SessionId)) -> String {
    let world = World::new().await;
    let (session_id, _) = busy(&world, &["next"]).await;
    prepare(&world, &session_id).await;
    let world = world.restart().await;
    world.service.go_on().await;
    let mut reader = world.follow(&session_id).await;
    let seen = reader.until(|frame| matches!(frame, ServerFrame::Queue { .. })).await;
    lines(&seen[seen.len() - 1..])
}

#[tokio::test]
async fn a_queue_that_cannot_go_on_after_a_restart_says_why() {
    let killed =
        after_a_restart(async |world, session_id| world.service.kill(session_id).await.unwrap()).await;
    assert_eq!(killed, "queue [\"next\"] (held: you have ended this session)\n");
    let archived = after_a_restart(async |world, session_id| {
        world.service.set_archived(session_id, true).await.unwrap();
    })
    .await;
    assert_eq!(archived, "queue [\"long work\", \"next\"] (held: this session is archived)\n");
    let untrusted = after_a_restart(async |world, _| {
        std::fs::write(world.project.path.join(".untrusted"), "").unwrap();
    })
    .await;
    assert_eq!(untrusted, "queue [\"long work\", \"next\"] (held: not trusted)\n");
    let missing = after_a_restart(async |world, _| world.fake.behave(|fake| fake.missing = true)).await;
    let install = "Fake fake is not installed; install it with `make fake`";
    assert_eq!(missing, format!("queue [\"long work\", \"next\"] (held: {install})\n"));
}

#[tokio::test]
async fn a_person_who_ends_or_archives_a_session_holds_its_queue() {
    let world = World::new().await;
    let (session_id, turn_id) = busy(&world, &["next"]).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Working).await;
    world.service.set_archived(&session_id, true).await.unwrap();
    let agent = world.agent(&session_id);
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    let seen = lines(&reader.until_state(SessionState::Open).await);
    assert!(seen.contains("queue [\"next\"] (held: this session is archived)"), "{seen}");
    world.service.set_archived(&session_id, false).await.unwrap();
    agent.next_turn().await;
    world.send(&session_id, "another").await;
    world.service.kill(&session_id).await.unwrap();
    let seen = lines(&reader.until_state(SessionState::Dead).await);
    assert!(seen.contains("queue [\"another\"] (held: you have ended this session)"), "{seen}");
}

const KEPT_BACK: &str = "held: you stopped the agent; what you send now goes first";

/// A busy session that a person has stopped, with what waits kept back.
async fn stopped(world: &World, messages: &[&str]) -> SessionId {
    let (session_id, turn_id) = busy(world, messages).await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Working).await;
    world.service.change_queue(&session_id, QueueParams::Hold).await.unwrap();
    world.service.cancel(&session_id).await.unwrap();
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_call().await, Call::Cancel);
    agent.end_turn(&turn_id, TurnStatus::Cancelled).await;
    let seen = lines(&reader.until_state(SessionState::Open).await);
    assert!(seen.contains(KEPT_BACK), "{seen}");
    session_id
}

#[tokio::test]
async fn what_waits_is_kept_back_when_a_person_stops_the_agent_until_it_may_go_on() {
    let world = World::new().await;
    let session_id = stopped(&world, &["first", "second"]).await;
    let waiting = queue(&world, &session_id).await;
    assert_eq!(texts(&waiting), ["first", "second"], "nothing was delivered");
    world.service.load(&session_id).await.unwrap();
    assert_eq!(queue(&world, &session_id).await.len(), 2, "a look at it lets nothing go");
    world.service.change_queue(&session_id, QueueParams::Continue).await.unwrap();
    assert_eq!(world.agent(&session_id).next_turn().await, waiting[0].turn_id);
    assert_eq!(texts(&queue(&world, &session_id).await), ["second"]);
}

#[tokio::test]
async fn a_message_that_is_sent_after_a_stop_goes_before_what_waits() {
    let world = World::new().await;
    let session_id = stopped(&world, &["first"]).await;
    let waiting = queue(&world, &session_id).await;
    let sent = world.send(&session_id, "no, the other file").await;
    assert!(!sent.queued, "it goes at once");
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, sent.turn_id);
    agent.start_turn(&sent.turn_id).await;
    agent.end_turn(&sent.turn_id, TurnStatus::Completed).await;
    assert_eq!(agent.next_turn().await, waiting[0].turn_id);
}

#[tokio::test]
async fn what_is_kept_back_is_kept_back_after_a_restart() {
    let world = World::new().await;
    let session_id = stopped(&world, &["first"]).await;
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    let waiting = queue(&world, &session_id).await;
    assert_eq!(texts(&waiting), ["first"]);
    world.service.change_queue(&session_id, QueueParams::Continue).await.unwrap();
    assert_eq!(world.agent(&session_id).next_turn().await, waiting[0].turn_id);
}

#[tokio::test]
async fn with_nothing_waiting_there_is_nothing_to_keep_back() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.service.change_queue(&session_id, QueueParams::Hold).await.unwrap();
    assert!(!world.send(&session_id, "work").await.queued);
    let session_id = stopped(&world, &["first"]).await;
    let queued_id = queue(&world, &session_id).await[0].queued_id.clone();
    world.service.change_queue(&session_id, QueueParams::Remove { queued_id }).await.unwrap();
    assert!(!world.send(&session_id, "work").await.queued, "what is gone holds nothing");
}

#[tokio::test]
async fn a_message_that_goes_at_once_names_its_session_before_it_is_answered() {
    let world = World::new().await;
    let session_id = world.create().await;
    // The agent never confirms it.
    world.fake.behave(|behaviour| behaviour.takes_in_silence = true);
    assert!(!world.send(&session_id, "fix the build").await.queued);
    let kept = world.service.store().session(&session_id).await.unwrap().unwrap();
    assert_eq!(kept.title.as_deref(), Some("fix the build"));
}
