//! The WebSocket through the real server, with fake agents: order, commands, bad frames, load.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use std::collections::BTreeMap;

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use chartroom_protocol::ws::ServerFrame;
use chartroom_sessions::fake::{Keeps, message};
use fake_server::FakeServer;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

/// What a page knows of a session, built as the page builds it.
#[derive(Debug, Default, PartialEq)]
struct Page {
    seq: u64,
    order: Vec<String>,
    items: BTreeMap<String, Upsert>,
    n_ended: usize,
}

impl Page {
    fn take(&mut self, frame: ServerFrame) {
        match frame {
            ServerFrame::History { seq, entries, turns, .. } => {
                let n_ended = turns.iter().filter(|turn| turn.is_terminal()).count();
                *self = Page { seq, n_ended, ..Page::default() };
                entries.into_iter().for_each(|entry| self.put(entry));
            }
            ServerFrame::Upsert { seq, payload, .. } => {
                assert!(seq > self.seq, "{seq} after {}", self.seq);
                self.seq = seq;
                self.put(payload);
            }
            ServerFrame::Turn { seq, payload, .. } => {
                assert!(seq > self.seq, "{seq} after {}", self.seq);
                self.seq = seq;
                self.n_ended += usize::from(payload.is_terminal());
            }
            _ => {}
        }
    }

    fn put(&mut self, upsert: Upsert) {
        let id = upsert.item_id.to_string();
        if self.items.insert(id.clone(), upsert).is_none() {
            self.order.push(id);
        }
    }
}

/// Tells whether a session is said to be open. A socket hears of others too, for its lists.
fn is_open(frame: &ServerFrame, id: &str) -> bool {
    matches!(frame, ServerFrame::State { session_id, state: SessionState::Open, .. } if session_id.as_str() == id)
}

/// Plays a turn of one message in two steps with the fake agent of a session.
async fn a_turn(server: &FakeServer, cli_type: &str, id: &str) {
    let fake = if cli_type == "codex" { &server.codex } else { &server.claude };
    let agent = fake.agent(&SessionId::new(id));
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "i", UpsertStatus::Create, "hello").await;
    agent.text(&turn_id, "i", UpsertStatus::Update, "hello from").await;
    agent.text(&turn_id, "i", UpsertStatus::Complete, "hello from the agent").await;
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
}

// TC-6.4b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_reaches_the_browser_in_order_and_only_in_this_family_of_messages() {
    let server = FakeServer::start().await;
    for cli_type in ["claude-code", "codex"] {
        let id = server.create(cli_type).await;
        let mut socket = server.connect().await;
        socket.subscribe(&id, None).await;
        socket.until(|frame| is_open(frame, &id)).await;
        let send =
            json!({ "type": "send", "requestId": "r1", "sessionId": id, "params": { "message": "hi" } });
        socket.send(send).await;
        a_turn(&server, cli_type, &id).await;
        let frames = socket.until(|frame| is_open(frame, &id)).await;
        let lines: Vec<String> = frames
            .iter()
            .filter_map(|frame| match frame {
                ServerFrame::Upsert { seq, payload, .. } => {
                    let text = serde_json::to_value(payload).unwrap();
                    Some(format!("{seq} {:?} {}", payload.status, text["content"]))
                }
                ServerFrame::Turn { seq, payload, .. } => Some(format!(
                    "{seq} {}",
                    serde_json::to_value(payload).unwrap()["type"].as_str().unwrap()
                )),
                ServerFrame::Ack { request_id, result } => {
                    assert_eq!((request_id.as_str(), &result["queued"]), ("r1", &json!(false)));
                    None
                }
                ServerFrame::State { .. } | ServerFrame::Title { .. } | ServerFrame::Listed { .. } => None,
                other => panic!("unexpected {other:?}"),
            })
            .collect();
        assert_eq!(
            lines,
            [
                "1 Complete \"hi\"",
                "2 turn_started",
                "3 Create \"hello\"",
                "4 Update \"hello from\"",
                "5 Complete \"hello from the agent\"",
                "6 turn_complete"
            ]
        );
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_socket_is_told_the_projects_and_the_agents_and_hears_of_new_projects() {
    let server = FakeServer::start().await;
    let mut socket = server.connect().await;
    let is_codex = |frame: &ServerFrame| matches!(frame, ServerFrame::Agent { cli_type, .. } if cli_type.as_str() == "codex");
    let frames = socket.until(is_codex).await;
    assert!(matches!(&frames[0], ServerFrame::Projects { projects } if projects.len() == 1), "{frames:?}");
    let other = server.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let (status, _) =
        server.ask("POST", "/api/project", json!({ "path": other.display().to_string() })).await;
    assert_eq!(status, 201);
    socket.until(|frame| matches!(frame, ServerFrame::Projects { projects } if projects.len() == 2)).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_are_answered_by_their_request_id_with_what_the_route_would_say() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let mut socket = server.connect().await;
    socket.send(json!({ "type": "load", "requestId": "1", "sessionId": id })).await;
    assert_eq!(socket.answer("1").await, Ok(json!({ "sessionId": id, "cliType": "claude-code" })));
    socket.send(json!({ "type": "load", "requestId": "2", "sessionId": "nobody" })).await;
    assert_eq!(socket.answer("2").await, Err("there is no session nobody".to_owned()));
    socket.send(json!({ "type": "cancel", "requestId": "3", "sessionId": id })).await;
    assert_eq!(socket.answer("3").await, Ok(json!({})));
    socket
        .send(json!({ "type": "model", "requestId": "4", "sessionId": id, "params": { "model": "m" } }))
        .await;
    assert_eq!(socket.answer("4").await, Ok(json!({})));
    socket.send(json!({ "type": "unsubscribe", "requestId": "5", "sessionId": id })).await;
    assert_eq!(socket.answer("5").await, Ok(json!({})));
    socket.send(json!({ "type": "kill", "requestId": "6", "sessionId": id })).await;
    assert_eq!(socket.answer("6").await, Ok(json!({})));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unsubscribe_right_after_subscribe_leaves_nothing_followed() {
    let server = FakeServer::start().await;
    server.claude.behave(|behaviour| behaviour.plays = Some(3));
    let id = server.create("claude-code").await;
    let mut socket = server.connect().await;
    for round in 0..20 {
        // In one packet, so that the second comes while the first is being answered.
        let subscribe = json!({ "type": "subscribe", "requestId": "on", "sessionId": id });
        let unsubscribe = json!({ "type": "unsubscribe", "requestId": "off", "sessionId": id });
        for frame in [subscribe, unsubscribe] {
            socket.stream.feed(Message::text(frame.to_string())).await.unwrap();
        }
        socket.stream.flush().await.unwrap();
        let mut n_answers = 0;
        while n_answers < 2 {
            n_answers += usize::from(matches!(socket.next().await, ServerFrame::Ack { .. }));
        }
        let body = json!({ "message": format!("round {round}") });
        assert_eq!(server.ask("POST", &format!("/api/session/{id}/send"), body).await.0, 202);
        // The end of the turn is seen in the overview, as of every session; nothing of the turn itself.
        let frames = socket.until(|frame| is_open(frame, &id)).await;
        let of_turn = |frame: &ServerFrame| {
            matches!(
                frame,
                ServerFrame::Upsert { .. } | ServerFrame::Turn { .. } | ServerFrame::History { .. }
            )
        };
        assert!(!frames.iter().any(of_turn), "round {round}: {frames:?}");
    }
    // A later subscription works as ever.
    socket.subscribe(&id, None).await;
    socket.until(|frame| matches!(frame, ServerFrame::History { .. })).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_frame_is_an_error_frame_and_the_socket_stays_open() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let mut socket = server.connect().await;
    for bad in ["", "{", "null", "[]", r#"{"type":"nonsense"}"#, r#"{"type":"subscribe"}"#] {
        socket.stream.send(Message::text(bad)).await.unwrap();
        socket.until(|frame| matches!(frame, ServerFrame::Error { request_id: None, .. })).await;
    }
    socket.stream.send(Message::binary(vec![0, 1, 2])).await.unwrap();
    socket.until(|frame| matches!(frame, ServerFrame::Error { .. })).await;
    socket.stream.send(Message::text(r#"{"type":"send","requestId":"r"}"#)).await.unwrap();
    assert!(socket.answer("r").await.unwrap_err().starts_with("the frame is not a command"));
    socket.subscribe(&id, None).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_oversized_message_closes_the_socket_and_nothing_else() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let mut socket = server.connect().await;
    // The server may close before all of it is written.
    drop(socket.stream.send(Message::text("x".repeat(17 << 20))).await);
    loop {
        match tokio::time::timeout(fake_server::PATIENCE, socket.stream.next()).await.unwrap() {
            Some(Ok(Message::Close(_))) | Some(Err(_)) | None => break,
            Some(Ok(_)) => {}
        }
    }
    server.connect().await.subscribe(&id, None).await;
    server.stop().await;
}

// TC-7.3a, TC-7.3b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loading_a_session_brings_its_history_to_the_browser() {
    let server = FakeServer::start().await;
    for (cli_type, fake, keeps) in
        [("claude-code", &server.claude, Keeps::Ids), ("codex", &server.codex, Keeps::Words)]
    {
        let id = server.create(cli_type).await;
        server.ask("POST", &format!("/api/session/{id}/kill"), json!({})).await;
        let session_id = SessionId::new(id.as_str());
        let said = |n: usize| {
            let mut said = message(
                &session_id,
                &"old".into(),
                &format!("h{n}"),
                UpsertStatus::Complete,
                &format!("said {n}"),
            );
            if let UpsertBody::Message { origin, .. } = &mut said.body
                && n == 0
            {
                *origin = Origin::User;
            }
            said
        };
        fake.remember(&session_id, (0..3).map(said).collect(), keeps);
        let mut socket = server.connect().await;
        socket.subscribe(&id, None).await;
        assert_eq!(server.ask("POST", &format!("/api/session/{id}/load"), json!({})).await.0, 200);
        let frames = socket
            .until(|frame| matches!(frame, ServerFrame::History { entries, .. } if !entries.is_empty()))
            .await;
        let Some(ServerFrame::History { entries, .. }) = frames.last() else { panic!("{frames:?}") };
        // What an agent without ids said gets names of ours.
        let shown: Vec<_> = entries.iter().map(|entry| (entry.status, entry.body.clone())).collect();
        assert_eq!(shown, (0..3).map(said).map(|said| (said.status, said.body)).collect::<Vec<_>>());
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_sessions_and_forty_readers_of_which_five_do_not_read() {
    let server = FakeServer::start().await;
    server.claude.behave(|behaviour| behaviour.plays = Some(400));
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(server.create("claude-code").await);
    }
    let mut readers = Vec::new();
    for n in 0..40 {
        let id = ids[n % 20].clone();
        let mut socket = server.connect().await;
        socket.subscribe(&id, None).await;
        readers.push((n, id, socket));
    }
    // These hold their sockets open and take nothing, until all is over.
    let stopped = readers.split_off(35);
    let tasks: Vec<_> = readers
        .into_iter()
        .map(|(_, id, mut socket)| {
            tokio::spawn(async move {
                let mut page = Page::default();
                while page.n_ended < 2 {
                    page.take(socket.next().await);
                }
                (id, page)
            })
        })
        .collect();
    for id in &ids {
        for text in ["first", "second"] {
            let body = json!({ "message": text });
            assert_eq!(server.ask("POST", &format!("/api/session/{id}/send"), body).await.0, 202);
        }
    }
    for task in tasks {
        let (id, page) = task.await.unwrap();
        assert_eq!(page, whole(&server, &id).await, "{id}");
        assert_eq!(page.order.len(), 4);
    }
    for (_, id, mut socket) in stopped {
        let mut page = Page::default();
        while page.n_ended < 2 {
            page.take(socket.next().await);
        }
        assert_eq!(page, whole(&server, &id).await, "{id}, which had stopped");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_drops_and_reconnects_200_times_ends_with_exactly_the_journal() {
    let server = FakeServer::start().await;
    server.claude.behave(|behaviour| behaviour.plays = Some(150));
    let id = server.create("claude-code").await;
    let mut page = Page::default();
    for round in 0..200_usize {
        if round % 20 == 0 {
            let body = json!({ "message": format!("round {round}") });
            assert_eq!(server.ask("POST", &format!("/api/session/{id}/send"), body).await.0, 202);
        }
        let mut socket = server.connect().await;
        socket.subscribe(&id, (page.seq > 0).then_some(page.seq)).await;
        // Every subscription ends its greeting with the state; it leaves somewhere before or at that.
        for n in 0.. {
            let frame = socket.next().await;
            let last = matches!(frame, ServerFrame::State { .. });
            page.take(frame);
            if last || n == round % 7 {
                break;
            }
        }
    }
    let mut socket = server.connect().await;
    socket.subscribe(&id, Some(page.seq)).await;
    while page.n_ended < 10 {
        page.take(socket.next().await);
    }
    assert_eq!(page, whole(&server, &id).await);
    assert_eq!(page.order.len(), 20);
    server.stop().await;
}

async fn whole(server: &FakeServer, id: &str) -> Page {
    let (_, history) = server.ask("GET", &format!("/api/session/{id}/history"), Value::Null).await;
    let mut page = Page::default();
    page.take(serde_json::from_value(history).unwrap());
    page
}
