//! Agents and servers that die.

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::session::{QueueParams, SessionState};
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;
use expect_test::expect;

use super::*;
use crate::fake::{Keeps, message};
use crate::provider::ProviderOutput;

// NFR-RELIABILITY-1
#[tokio::test]
async fn a_crash_closes_what_was_open_as_an_error_and_a_later_message_loads_the_session_again() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "b", UpsertStatus::Create, "half a sen").await;
    agent.text(&turn_id, "a", UpsertStatus::Create, "thinking").await;
    agent.say(ProviderOutput::Exited { message: "claude exited with status 1".to_owned() }).await;
    expect![[r#"
        1 upsert complete user "work"
        title "work"
        state Working
        2 turn_started
        3 upsert create agent "half a sen"
        4 upsert create agent "thinking"
        5 upsert error agent "half a sen" (PROCESS_CRASH)
        6 upsert error agent "thinking" (PROCESS_CRASH)
        7 turn_error PROCESS_CRASH claude exited with status 1
        state Dead (claude exited with status 1)
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Dead).await));
    assert!(!world.service.status(&session_id).await.unwrap().is_alive);

    let sent = world.send(&session_id, "try again").await;
    reader.until_state(SessionState::Working).await;
    let agent = world.agent(&session_id);
    assert_eq!(agent.next_turn().await, sent.turn_id);
    agent.start_turn(&sent.turn_id).await;
    agent.end_turn(&sent.turn_id, TurnStatus::Completed).await;
    reader.until_state(SessionState::Open).await;
}

// NFR-RELIABILITY-1
#[tokio::test]
async fn an_agent_that_vanishes_without_a_word_is_dead_too() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.vanish();
    world.until(&session_id, SessionState::Dead).await;
    let history = world.service.history(&session_id, None).await.unwrap();
    assert!(history.json.contains(r#""errorCode":"PROCESS_CRASH""#), "{}", history.json);
}

#[tokio::test]
async fn a_message_that_the_agent_refuses_ends_its_turn_with_the_reason() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.fake.behave(|behaviour| {
        behaviour.refuse_message = Some(ProviderError::protocol("the agent does not listen"));
    });
    world.send(&session_id, "hello").await;
    expect![[r#"
        1 upsert complete user "hello"
        title "hello"
        state Working
        2 turn_error PROTOCOL_ERROR the agent does not listen
        state Open
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Open).await));
}

#[tokio::test]
async fn an_agent_that_died_between_turns_is_replaced_without_a_failed_turn() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.agent(&session_id).vanish();
    let sent = world.send(&session_id, "hello").await;
    world.until(&session_id, SessionState::Working).await;
    assert_eq!(world.agent(&session_id).next_turn().await, sent.turn_id);
    let history = world.service.history(&session_id, None).await.unwrap();
    assert!(!history.json.contains("turn_error"), "{}", history.json);
}

#[tokio::test]
async fn a_restart_in_mid_turn_closes_the_turn_and_keeps_everything_that_was_said() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.send(&session_id, "work").await;
    let agent = world.agent(&session_id);
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "done", UpsertStatus::Complete, "first part").await;
    agent.text(&turn_id, "open", UpsertStatus::Create, "second").await;
    let mut reader = world.follow(&session_id).await;
    reader
        .until(|frame| match frame {
            ServerFrame::Upsert { payload, .. } => payload.item_id.as_str() == "open",
            ServerFrame::History { entries, .. } => entries.len() == 3,
            _ => false,
        })
        .await;
    drop(reader);

    let world = world.restart().await;
    let mut reader = world.follow(&session_id).await;
    expect![[r#"
        6 history ["complete user \"work\"", "complete agent \"first part\"", "error agent \"second\" (PROCESS_CRASH)"] ["turn_started", "turn_error PROCESS_CRASH Chartroom was stopped in the middle of this turn"]
        title "work"
        queue []
        state Open
    "#]]
    .assert_eq(&lines(&reader.until_state(SessionState::Open).await));
    world.service.load(&session_id).await.unwrap();
    assert!(world.service.status(&session_id).await.unwrap().is_alive);
}

#[tokio::test]
async fn a_message_that_the_agent_had_taken_is_not_delivered_twice_after_a_restart() {
    let world = World::new().await;
    let session_id = world.create().await;
    let sent = world.send(&session_id, "once").await;
    let agent = world.agent(&session_id);
    agent.next_turn().await;
    agent.start_turn(&sent.turn_id).await;
    agent.text(&sent.turn_id, "word", UpsertStatus::Create, "I").await;
    // As if we had died before we could note that the agent took it.
    let message = crate::store::StoredMessage {
        queued_id: "again".into(),
        turn_id: sent.turn_id.clone(),
        params: text("once"),
        queued_at: String::new(),
    };
    let mut reader = world.follow(&session_id).await;
    reader
        .until(|frame| match frame {
            ServerFrame::Upsert { payload, .. } => payload.item_id.as_str() == "word",
            ServerFrame::History { entries, .. } => entries.len() == 2,
            _ => false,
        })
        .await;
    world.service.store().push_message(&session_id, message, None).await.unwrap();
    drop(reader);
    let world = world.restart().await;
    assert_eq!(world.service.queue(&session_id).await.unwrap().messages, []);
}

/// Dies between the write to the agent and its first word, restarts with an agent that remembers `history`, loads and
/// returns what a reader sees then.
async fn after_a_death_in_delivery(
    history: impl Fn(&SessionId, &TurnId) -> Vec<Upsert>,
    keeps: Keeps,
    begun: bool,
) -> String {
    let world = World::new().await;
    let session_id = world.create().await;
    world.fake.behave(|behaviour| behaviour.takes_in_silence = true);
    let sent = world.send(&session_id, "once").await;
    assert_eq!(world.agent(&session_id).next_turn().await, sent.turn_id);
    if begun {
        world.agent(&session_id).start_turn(&sent.turn_id).await;
        let mut reader = world.follow(&session_id).await;
        reader
            .until(|frame| match frame {
                ServerFrame::Turn { .. } => true,
                ServerFrame::History { turns, .. } => !turns.is_empty(),
                _ => false,
            })
            .await;
    }
    let world = world.restart().await;
    world.fake.behave(|behaviour| {
        behaviour.takes_in_silence = false;
        behaviour.plays = Some(1);
    });
    world.fake.remember(&session_id, history(&session_id, &sent.turn_id), keeps);
    assert_eq!(world.service.queue(&session_id).await.unwrap().messages.len(), 1);
    world.service.load(&session_id).await.unwrap();
    let history = loop {
        let history = world.service.history(&session_id, None).await.unwrap();
        if history.json.contains("turn_complete") || history.json.contains("turn_error") {
            break history;
        }
    };
    // Asked after all that came before it is done.
    world.service.status(&session_id).await.unwrap();
    assert_eq!(world.service.queue(&session_id).await.unwrap().messages, []);
    assert_eq!(world.service.store().messages(&session_id).await.unwrap(), []);
    lines(&[serde_json::from_str(&history.json).unwrap()])
}

#[tokio::test]
async fn a_message_that_the_dying_server_had_not_got_through_is_delivered_and_shown_once() {
    for begun in [false, true] {
        let never_came = after_a_death_in_delivery(|_, _| Vec::new(), Keeps::Ids, begun).await;
        expect![[r#"
            5 history ["complete user \"once\"", "complete agent \"word0 \""] ["turn_started", "turn_complete Completed"]
        "#]]
        .assert_eq(&never_came);
    }
}

#[tokio::test]
async fn a_message_that_the_dying_server_had_got_through_is_not_delivered_again() {
    let all = [(Keeps::Ids, false), (Keeps::Words, false), (Keeps::Ids, true), (Keeps::Words, true)];
    for (keeps, begun) in all {
        let came_through = after_a_death_in_delivery(
            |session_id, turn_id| {
                let mut user = message(session_id, turn_id, turn_id.as_str(), UpsertStatus::Complete, "once");
                if let UpsertBody::Message { origin, .. } = &mut user.body {
                    *origin = Origin::User;
                }
                vec![user]
            },
            keeps,
            begun,
        )
        .await;
        let (seq, start) = if begun { (3, "\"turn_started\", ") } else { (2, "") };
        let end = "turn_error PROCESS_CRASH Chartroom was stopped in the middle of this turn";
        let expected = format!("{seq} history [\"complete user \\\"once\\\"\"] [{start}\"{end}\"]\n");
        assert_eq!(came_through, expected, "{keeps:?}, begun {begun}");
    }
}

#[tokio::test]
async fn a_message_in_doubt_that_a_person_removes_is_not_delivered_and_its_turn_is_closed() {
    let world = World::new().await;
    let session_id = world.create().await;
    world.fake.behave(|behaviour| behaviour.takes_in_silence = true);
    let sent = world.send(&session_id, "once").await;
    assert_eq!(world.agent(&session_id).next_turn().await, sent.turn_id);
    // The next agent is started for the message at once: it must not be there before the person.
    world.fake.behave(|behaviour| behaviour.hang = true);
    let world = world.restart().await;
    let waiting = world.service.queue(&session_id).await.unwrap().messages;
    let remove = QueueParams::Remove { queued_id: waiting[0].queued_id.clone() };
    assert_eq!(world.service.change_queue(&session_id, remove).await.unwrap().messages, []);
    // Asked after what came before it is done.
    world.service.status(&session_id).await.unwrap();
    let history = world.service.history(&session_id, None).await.unwrap();
    expect![[r#"
        2 history ["complete user \"once\""] ["turn_error PROCESS_CRASH Chartroom was stopped in the middle of this turn"]
    "#]]
    .assert_eq(&lines(&[serde_json::from_str(&history.json).unwrap()]));
    assert_eq!(world.service.store().messages(&session_id).await.unwrap(), []);
}

#[tokio::test]
async fn a_conversation_in_which_the_agent_never_ended_a_turn_may_be_begun_again() {
    let world = World::new().await;
    let session_id = world.create().await;
    // An agent writes down what was said some time after it said it.
    for says_something in [false, true] {
        let sent = world.send(&session_id, "once").await;
        let agent = world.agent(&session_id);
        assert_eq!(agent.next_turn().await, sent.turn_id);
        agent.start_turn(&sent.turn_id).await;
        if says_something {
            agent.text(&sent.turn_id, "word", UpsertStatus::Create, "I").await;
        }
        agent.vanish();
        world.until(&session_id, SessionState::Dead).await;
        world.service.load(&session_id).await.unwrap();
    }
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    let mut reader = world.follow(&session_id).await;
    world.send(&session_id, "again").await;
    // A reader that comes late finds the turn's end in the history.
    reader
        .until(|frame| match frame {
            ServerFrame::Turn { payload, .. } => payload.is_answered(),
            ServerFrame::History { turns, .. } => turns.iter().any(TurnEvent::is_answered),
            _ => false,
        })
        .await;
    drop(reader);
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
    let may_be_unkept: Vec<bool> =
        world.fake.loads().into_iter().map(|(_, options)| options.may_be_unkept).collect();
    assert_eq!(may_be_unkept, [true, true, true, false]);
}

/// Says "go on" once and has it answered, says it again, and dies while that is handed over. The agent's history has
/// no ids and this many of the two; returns how many messages the next agent gets.
async fn after_a_death_in_saying_it_again(n_arrived: usize) -> usize {
    let world = World::new().await;
    let session_id = world.create().await;
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    world.send(&session_id, "go on").await;
    let mut reader = world.follow(&session_id).await;
    reader
        .until(|frame| match frame {
            ServerFrame::Turn { payload, .. } => payload.is_terminal(),
            ServerFrame::History { turns, .. } => turns.iter().any(TurnEvent::is_terminal),
            _ => false,
        })
        .await;
    drop(reader);
    let agent = world.agent(&session_id);
    agent.next_turn().await;
    world.fake.behave(|behaviour| behaviour.takes_in_silence = true);
    let again = world.send(&session_id, "go on").await;
    assert_eq!(agent.next_turn().await, again.turn_id);

    let world = world.restart().await;
    world.fake.behave(|behaviour| {
        behaviour.takes_in_silence = false;
        behaviour.plays = Some(1);
    });
    let said = |n: usize| {
        let item = format!("history-{n}");
        let mut said = message(&session_id, &TurnId::new("h"), &item, UpsertStatus::Complete, "go on");
        if let UpsertBody::Message { origin, .. } = &mut said.body {
            *origin = Origin::User;
        }
        said
    };
    world.fake.remember(&session_id, (0..n_arrived).map(said).collect(), Keeps::Words);
    world.service.load(&session_id).await.unwrap();
    let ended =
        |history: &str| history.matches("turn_complete").count() + history.matches("turn_error").count();
    let history = loop {
        let history = world.service.history(&session_id, None).await.unwrap();
        if ended(&history.json) == 2 {
            break history;
        }
    };
    assert_eq!(history.json.matches(r#""content":"go on""#).count(), 2, "{}", history.json);
    history.json.matches("turn_complete").count() - 1
}

#[tokio::test]
async fn a_message_that_was_said_before_in_the_same_words_is_not_taken_for_the_earlier_one() {
    assert_eq!(after_a_death_in_saying_it_again(1).await, 1, "the second had not come through");
    assert_eq!(after_a_death_in_saying_it_again(2).await, 0, "both had come through");
}

#[tokio::test]
async fn shutdown_ends_every_agent_and_leaves_the_sessions_loadable() {
    let world = World::new().await;
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    world.service.shutdown().await;
    assert_eq!(agent.next_call().await, crate::fake::Call::Kill);
    let world = world.restart().await;
    world.service.load(&session_id).await.unwrap();
}
