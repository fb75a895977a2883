//! Readers that come, go, stop and come back.

use std::collections::BTreeMap;

use chartroom_protocol::ids::ItemId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;

use super::*;

/// A page's idea of a session, built from frames the way the page does it.
#[derive(Default, Debug, Clone, PartialEq)]
struct Page {
    seq: u64,
    order: Vec<ItemId>,
    items: BTreeMap<ItemId, Upsert>,
    turns: Vec<TurnEvent>,
}

impl Page {
    fn take(&mut self, frame: ServerFrame) {
        match frame {
            ServerFrame::History { seq, entries, turns, .. } => {
                *self = Page { seq, turns, ..Page::default() };
                for entry in entries {
                    self.put(entry);
                }
            }
            ServerFrame::Upsert { seq, payload, .. } => {
                assert!(seq > self.seq, "{seq} came after {}", self.seq);
                self.seq = seq;
                self.put(payload);
            }
            ServerFrame::Turn { seq, payload, .. } => {
                assert!(seq > self.seq, "{seq} came after {}", self.seq);
                self.seq = seq;
                self.turns.push(payload);
            }
            _ => {}
        }
    }

    fn put(&mut self, upsert: Upsert) {
        if self.items.insert(upsert.item_id.clone(), upsert.clone()).is_none() {
            self.order.push(upsert.item_id);
        }
    }
}

async fn whole(world: &World, session_id: &SessionId) -> Page {
    let mut page = Page::default();
    page.take(world.follow(session_id).await.next().await);
    page
}

#[tokio::test]
async fn a_reader_that_comes_late_and_one_that_was_there_see_the_same() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut early = world.follow(&session_id).await;
    early.until_state(SessionState::Open).await;
    world.fake.behave(|behaviour| behaviour.plays = Some(50));
    let mut page = Page::default();
    for message in ["one", "two"] {
        world.send(&session_id, message).await;
        for frame in early.until_state(SessionState::Open).await {
            page.take(frame);
        }
    }
    assert_eq!(page, whole(&world, &session_id).await);
    assert_eq!(page.turns.len(), 4);
}

#[tokio::test]
async fn a_reader_that_does_not_read_takes_the_state_again_and_does_not_hold_up_the_session() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut stopped = world.follow(&session_id).await;
    stopped.until_state(SessionState::Open).await;
    world.fake.behave(|behaviour| behaviour.plays = Some(3000));
    world.send(&session_id, "go").await;
    // The session goes through its turn although nobody takes a frame from this reader.
    let mut watcher = world.follow(&session_id).await;
    watcher
        .until(|frame| match frame {
            ServerFrame::Turn { payload, .. } => payload.is_terminal(),
            ServerFrame::History { turns, .. } => turns.iter().any(TurnEvent::is_terminal),
            _ => false,
        })
        .await;
    let frames = stopped.until_state(SessionState::Open).await;
    assert!(matches!(frames[0], ServerFrame::History { .. }), "{:?}", frames[0]);
    let mut page = Page::default();
    for frame in frames {
        page.take(frame);
    }
    assert_eq!(page, whole(&world, &session_id).await);
}

#[tokio::test]
async fn a_reader_that_reconnects_200_times_ends_with_exactly_the_state() {
    let world = World::new().await;
    let session_id = world.create().await;
    let agent = world.agent(&session_id);
    let mut page = Page::default();
    let mut after = None;
    for round in 0..200_u32 {
        let mut reader = Reader { feed: world.service.subscribe(&session_id, after).await.unwrap() };
        // The session goes on while the reader is there and while it is away.
        let turn_id = world.send(&session_id, &format!("round {round}")).await.turn_id;
        assert_eq!(agent.next_turn().await, turn_id);
        agent.start_turn(&turn_id).await;
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        agent.text(&turn_id, &a, UpsertStatus::Create, "a").await;
        agent.text(&turn_id, &b, UpsertStatus::Create, "b").await;
        // It leaves after a number of frames that has nothing to do with turns, at the latest when it has heard of
        // this one.
        for _ in 0..(round * 5 % 8) {
            let frame = reader.next().await;
            let heard = matches!(frame, ServerFrame::State { state: SessionState::Working, .. });
            page.take(frame);
            if heard {
                break;
            }
        }
        drop(reader);
        after = (page.seq > 0).then_some(page.seq);
        // Completed in the other order, so that what is left of the turn is out of order too.
        agent.text(&turn_id, &b, UpsertStatus::Complete, "b, done").await;
        agent.text(&turn_id, &a, UpsertStatus::Complete, "a, done").await;
        agent.end_turn(&turn_id, TurnStatus::Completed).await;
        world.until(&session_id, SessionState::Open).await;
    }
    let mut reader = Reader { feed: world.service.subscribe(&session_id, after).await.unwrap() };
    for frame in reader.until_state(SessionState::Open).await {
        page.take(frame);
    }
    let expected = whole(&world, &session_id).await;
    assert_eq!(page.order, expected.order);
    assert_eq!(page, expected);
    assert_eq!(page.order.len(), 600);
}

#[tokio::test]
async fn a_reader_that_knows_more_than_the_journal_takes_the_state() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = Reader { feed: world.service.subscribe(&session_id, Some(99)).await.unwrap() };
    assert!(matches!(reader.next().await, ServerFrame::History { seq: 0, .. }));
}

#[tokio::test]
async fn a_list_hears_of_every_sessions_state() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut overview = world.service.overview();
    world.send(&session_id, "hello").await;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let (about, frame) = tokio::time::timeout(PATIENCE, overview.recv()).await.unwrap().unwrap();
        assert_eq!(about, session_id);
        seen.push(serde_json::from_str(&frame.json).unwrap());
    }
    assert_eq!(lines(&seen), "title \"hello\"\nstate Working\n");
}

#[tokio::test]
async fn a_list_hears_of_sessions_that_are_new_taken_over_archived_and_put_back() {
    let world = World::new().await;
    let found = SessionId::new("outside");
    world.fake.discovers(vec![crate::DiscoveredSession {
        session_id: found.clone(),
        first_message: "from the terminal".to_owned(),
        last_activity: "2026-01-02T00:00:00.000Z".to_owned(),
    }]);
    world.fake.remember(&found, Vec::new(), crate::fake::Keeps::Ids);
    let mut overview = world.service.overview();
    let session_id = world.create().await;
    world.service.set_archived(&session_id, true).await.unwrap();
    world.service.set_archived(&session_id, false).await.unwrap();
    world.service.load(&found).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        let (_, frame) = tokio::time::timeout(PATIENCE, overview.recv()).await.unwrap().unwrap();
        let frame = serde_json::from_str(&frame.json).unwrap();
        if matches!(frame, ServerFrame::Listed { .. }) {
            seen.push(frame);
        }
    }
    expect_test::expect![[r#"
        listed "New session" Open
        archived "New session" Open
        listed "New session" Open
        listed "from the terminal" Open
    "#]]
    .assert_eq(&lines(&seen));
}

#[tokio::test]
async fn a_page_that_follows_an_archived_session_hears_of_it_in_its_feed() {
    let world = World::new().await;
    let session_id = world.create().await;
    let mut reader = world.follow(&session_id).await;
    reader.until_state(SessionState::Open).await;
    world.service.set_archived(&session_id, true).await.unwrap();
    assert_eq!(lines(&[reader.next().await]), "archived \"New session\" Open\n");
}
