//! Conversations that were had outside Chartroom.

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use expect_test::expect;

use super::*;
use crate::fake::{Keeps, message};
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
        Keeps::Ids,
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
    let told = |(_, options): (_, LoadOptions)| options.may_be_unkept;
    let loads: Vec<_> = world.fake.loads().into_iter().map(told).collect();
    assert_eq!(loads, [true, false]);
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
    world.fake.remember(&session_id, Vec::new(), Keeps::Ids);
    world.service.load(&session_id).await.unwrap();
}

/// What an agent remembers, one line an item: `user: words` or `agent: words`. `ours` in its place is the turn that was
/// had here, under our id if the agent keeps ids.
fn remembered(session_id: &SessionId, ours: &TurnId, keeps: Keeps, lines: &str) -> Vec<Upsert> {
    let mut turn_id = TurnId::new("before");
    let mut items = Vec::new();
    for (n, line) in lines.lines().map(str::trim).enumerate() {
        let (item, origin, words) = match line.split_once(": ") {
            None => (ours.to_string(), Origin::User, "hello"),
            Some(("user", words)) => (format!("u{n}"), Origin::User, words),
            Some((_, words)) => (format!("a{n}"), Origin::Agent, words),
        };
        if origin == Origin::User {
            turn_id = TurnId::from(item.as_str());
        }
        let said = said(session_id, &item, origin, "2026-01-01T00:00:00.000Z", words);
        items.push(Upsert { turn_id: turn_id.clone(), ..said });
    }
    if keeps == Keeps::Words {
        items.iter_mut().for_each(|item| item.turn_id = TurnId::new("none"));
    }
    items
}

/// Has one turn here ("hello", answered with "word0"), and loads the session as often as the agent has something to
/// remember; returns what a reader sees in the end.
async fn loads(keeps: Keeps, histories: &[&str]) -> String {
    let world = World::new().await;
    world.fake.behave(|behaviour| behaviour.plays = Some(1));
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    let ours = world.send(&session_id, "hello").await.turn_id;
    reader.until_state(SessionState::Open).await;
    drop(reader);
    let mut world = world.restart().await;
    for history in histories {
        world.fake.remember(&session_id, remembered(&session_id, &ours, keeps, history), keeps);
        world.service.load(&session_id).await.unwrap();
        world = world.restart().await;
    }
    let mut reader = world.follow(&session_id).await;
    match reader.next().await {
        ServerFrame::History { entries, .. } => {
            entries.iter().map(|entry| upsert(entry).replace("complete ", "") + "\n").collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_was_said_outside_since_is_added_in_the_same_words_too_and_what_we_have_is_not_doubled() {
    for keeps in [Keeps::Ids, Keeps::Words] {
        let first = "ours
            agent: word0
            user: hello
            agent: hello to you
            user: from the terminal
            agent: yes?";
        let second = format!("{first}\nuser: from the terminal\nagent: again?");
        let seen = loads(keeps, &[first, first, &second, &second]).await;
        expect![[r#"
            user "hello"
            agent "word0 "
            user "hello"
            agent "hello to you"
            user "from the terminal"
            agent "yes?"
            user "from the terminal"
            agent "again?"
        "#]]
        .assert_eq(&seen);
    }
}

#[tokio::test]
async fn what_was_said_outside_before_our_last_turn_is_added_once() {
    for keeps in [Keeps::Ids, Keeps::Words] {
        let history = "user: earlier
            agent: in the terminal
            ours
            agent: word0";
        let seen = loads(keeps, &[history, history]).await;
        expect![[r#"
            user "hello"
            agent "word0 "
            user "earlier"
            agent "in the terminal"
        "#]]
        .assert_eq(&seen);
    }
}

#[tokio::test]
async fn a_turn_that_went_on_outside_after_it_was_taken_over_is_taken_over_to_its_end() {
    let half = "ours
        agent: word0
        user: from the terminal";
    let whole = format!("{half}\nagent: yes?");
    expect![[r#"
        user "hello"
        agent "word0 "
        user "from the terminal"
        agent "yes?"
    "#]]
    .assert_eq(&loads(Keeps::Ids, &[half, &whole]).await);
}

#[tokio::test]
async fn an_agent_that_has_summed_its_history_up_takes_nothing_away_and_adds_what_is_new() {
    let seen = loads(
        Keeps::Words,
        &[
            "ours
            agent: word0
            user: second
            agent: two",
            "user: a summary of what was said
            user: second
            agent: two
            user: third
            agent: three",
        ],
    )
    .await;
    expect![[r#"
        user "hello"
        agent "word0 "
        user "second"
        agent "two"
        user "third"
        agent "three"
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn an_agent_that_gave_our_message_an_id_of_its_own_does_not_double_it() {
    let renamed = "user: hello
        agent: word0
        user: hello
        agent: hello to you";
    expect![[r#"
        user "hello"
        agent "word0 "
        user "hello"
        agent "hello to you"
    "#]]
    .assert_eq(&loads(Keeps::Ids, &[renamed, renamed]).await);
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
    world.fake.remember(&session_id, history, Keeps::Ids);
    world.service.load(&session_id).await.unwrap();
    let frames = reader
        .until(|frame| matches!(frame, ServerFrame::History { entries, .. } if entries.len() == 1000))
        .await;
    assert!(!frames.iter().any(|frame| matches!(frame, ServerFrame::Upsert { .. })));
    world.agent(&session_id).end_turn(&"none".into(), TurnStatus::Completed).await;
}
