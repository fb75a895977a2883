//! The JSON-RPC peer, against another peer and against a hand-held end of the pipe.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chartroom_transport::codec::Framing;
use chartroom_transport::rpc::codes;
use chartroom_transport::{Handler, Peer, PeerOptions, ResponseError, RpcError, connect};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::{Notify, mpsc};

/// Answers `add`, `fail`, `hang` and `panic`; tells of every notification, and holds at `hold`.
struct Recorder {
    notifications: mpsc::UnboundedSender<(String, Value)>,
    release: Arc<Notify>,
    n_hanging: Arc<AtomicUsize>,
}

struct Hanging(Arc<AtomicUsize>);

impl Drop for Hanging {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Handler for Recorder {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        match method.as_str() {
            "add" => Ok(json!(params[0].as_i64().unwrap_or(0) + params[1].as_i64().unwrap_or(0))),
            "fail" => Err(ResponseError::new(7, "as asked")),
            "hang" => {
                self.n_hanging.fetch_add(1, Ordering::SeqCst);
                let _hanging = Hanging(self.n_hanging.clone());
                std::future::pending().await
            }
            "panic" => panic!("as asked"),
            _ => Err(ResponseError::method_not_found(&method)),
        }
    }

    async fn notification(&self, method: String, params: Value) {
        if method == "hold" {
            self.release.notified().await;
        }
        self.notifications.send((method, params)).ok();
    }
}

/// A peer under test, and everything a test needs to hold at its other end.
struct Fixture {
    peer: Peer,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    notifications: mpsc::UnboundedReceiver<(String, Value)>,
    release: Arc<Notify>,
    n_hanging: Arc<AtomicUsize>,
}

fn fixture() -> Fixture {
    fixture_with(|options| options)
}

fn fixture_with(change: impl FnOnce(PeerOptions) -> PeerOptions) -> Fixture {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    let (sender, notifications) = mpsc::unbounded_channel();
    let (release, n_hanging) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let recorder = Recorder { notifications: sender, release: release.clone(), n_hanging: n_hanging.clone() };
    let options = change(PeerOptions::new("fake", Framing::Lines));
    let peer = connect(read, write, options, recorder);
    let (read, write) = tokio::io::split(theirs);
    Fixture { peer, lines: BufReader::new(read).lines(), write, notifications, release, n_hanging }
}

impl Fixture {
    async fn say(&mut self, text: &str) {
        self.write.write_all(text.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("a message before the end");
        serde_json::from_str(&line).unwrap()
    }

    /// Starts a request in a task of its own.
    fn ask(&self, method: &'static str) -> tokio::task::JoinHandle<Result<Value, RpcError>> {
        let peer = self.peer.clone();
        tokio::spawn(async move { peer.request(method, json!({})).await })
    }
}

#[tokio::test]
async fn a_request_is_written_and_its_answer_returned() {
    let mut fixture = fixture();
    let answer = fixture.ask("what");
    assert_eq!(fixture.receive().await, json!({"jsonrpc": "2.0", "id": 1, "method": "what", "params": {}}));
    fixture.say(r#"{"jsonrpc":"2.0","id":1,"result":42}"#).await;
    assert_eq!(answer.await.unwrap().unwrap(), json!(42));
}

#[tokio::test]
async fn null_params_are_left_out() {
    let mut fixture = fixture();
    fixture.peer.notify("exit", ()).await.unwrap();
    assert_eq!(fixture.receive().await, json!({"jsonrpc": "2.0", "method": "exit"}));
}

#[tokio::test]
async fn an_error_answer_is_an_error() {
    for (answer, expected) in [
        (r#"{"id":1,"error":{"code":-1,"message":"no"}}"#, ResponseError::new(-1, "no")),
        (
            r#"{"id":1,"error":"just text"}"#,
            ResponseError {
                code: codes::INTERNAL_ERROR,
                message: "an error of no known shape".into(),
                data: Some(json!("just text")),
            },
        ),
    ] {
        let mut fixture = fixture();
        let request = fixture.ask("what");
        fixture.receive().await;
        fixture.say(answer).await;
        match request.await.unwrap() {
            Err(RpcError::Response(error)) => assert_eq!(error, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn answers_may_come_in_any_order_and_in_any_dress() {
    let mut fixture = fixture();
    let requests = [fixture.ask("a"), fixture.ask("b"), fixture.ask("c")];
    for _ in 0..3 {
        fixture.receive().await;
    }
    fixture.say(r#"{"id":3,"result":"c"}"#).await;
    fixture.say(r#"{"id":1.0,"result":"a"}"#).await;
    fixture.say(r#"{"id":2}"#).await;
    let mut answers = Vec::new();
    for request in requests {
        answers.push(request.await.unwrap().unwrap());
    }
    assert_eq!(answers, [json!("a"), json!(null), json!("c")]);
}

#[tokio::test]
async fn answers_to_nobody_garbage_and_doubles_are_passed_over() {
    let mut fixture = fixture();
    let request = fixture.ask("what");
    fixture.receive().await;
    for nonsense in [
        "not json at all",
        r#"{"id":99,"result":1}"#,
        r#"{"id":"1","result":"a string is not our number"}"#,
        r#"{"id":null,"error":{"code":-32700,"message":"parse error"}}"#,
        r#"{"id":{},"method":"x"}"#,
        r#"{"method":7}"#,
        "{}",
        "17",
        "[[[]]]",
        r#"{"id":1,"result":"first"}"#,
        r#"{"id":1,"result":"second"}"#,
    ] {
        fixture.say(nonsense).await;
    }
    assert_eq!(request.await.unwrap().unwrap(), json!("first"));
    let again = fixture.ask("again");
    fixture.receive().await;
    fixture.say(r#"{"id":2,"result":"fine"}"#).await;
    assert_eq!(again.await.unwrap().unwrap(), json!("fine"));
}

#[tokio::test]
async fn their_requests_are_answered_whatever_their_id() {
    let mut fixture = fixture();
    for (id, method, expected) in [
        (json!(1), "add", json!({"jsonrpc": "2.0", "id": 1, "result": 5})),
        (json!("a-b"), "add", json!({"jsonrpc": "2.0", "id": "a-b", "result": 5})),
        (
            json!(1.5),
            "fail",
            json!({"jsonrpc": "2.0", "id": 1.5, "error": {"code": 7, "message": "as asked"}}),
        ),
        (
            json!(2),
            "nobody knows",
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "unknown method nobody knows"}}),
        ),
        (
            json!(3),
            "panic",
            json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "the request failed in an unexpected way"}}),
        ),
    ] {
        fixture.say(&json!({"id": id, "method": method, "params": [2, 3]}).to_string()).await;
        assert_eq!(fixture.receive().await, expected);
    }
}

#[tokio::test]
async fn a_batch_is_taken_apart() {
    let mut fixture = fixture();
    fixture.say(r#"[{"method":"one"},{"id":1,"method":"add","params":[1,1]},{"method":"two"}]"#).await;
    assert_eq!(fixture.receive().await["result"], json!(2));
    assert_eq!(fixture.notifications.recv().await.unwrap().0, "one");
    assert_eq!(fixture.notifications.recv().await.unwrap().0, "two");
}

#[tokio::test]
async fn a_slow_request_of_theirs_holds_up_nothing() {
    let mut fixture = fixture();
    fixture.say(r#"{"id":1,"method":"hang"}"#).await;
    fixture.say(r#"{"id":2,"method":"add","params":[1,1]}"#).await;
    assert_eq!(fixture.receive().await["id"], json!(2));
}

#[tokio::test]
async fn a_request_of_theirs_can_be_cancelled() {
    let mut fixture = fixture();
    fixture.say(r#"{"id":"x","method":"hang"}"#).await;
    fixture.say(r#"{"method":"$/cancelRequest","params":{"id":"x"}}"#).await;
    let expected = json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -32800, "message": "the request was cancelled"}});
    assert_eq!(fixture.receive().await, expected);
    assert_eq!(fixture.n_hanging.load(Ordering::SeqCst), 0);
    // Cancelling what is not there is nothing.
    fixture.say(r#"{"method":"$/cancelRequest","params":{"id":"x"}}"#).await;
    fixture.say(r#"{"method":"$/cancelRequest","params":17}"#).await;
    fixture.say(r#"{"id":2,"method":"add","params":[1,1]}"#).await;
    assert_eq!(fixture.receive().await["id"], json!(2));
}

#[tokio::test]
async fn an_id_in_use_and_too_many_at_once_are_refused() {
    let mut fixture = fixture_with(|options| PeerOptions { max_running_requests: 2, ..options });
    fixture.say(r#"{"id":1,"method":"hang"}"#).await;
    fixture.say(r#"{"id":1,"method":"hang"}"#).await;
    assert_eq!(fixture.receive().await["error"]["code"], json!(codes::INVALID_REQUEST));
    fixture.say(r#"{"id":2,"method":"hang"}"#).await;
    fixture.say(r#"{"id":3,"method":"hang"}"#).await;
    assert_eq!(fixture.receive().await["error"]["code"], json!(codes::BUSY));
}

#[tokio::test]
async fn notifications_are_handled_in_order() {
    let mut fixture = fixture();
    for n in 0..1000 {
        fixture.say(&json!({"method": "count", "params": n}).to_string()).await;
    }
    for n in 0..1000 {
        assert_eq!(fixture.notifications.recv().await.unwrap(), ("count".to_owned(), json!(n)));
    }
}

#[tokio::test]
async fn a_flood_of_notifications_does_not_starve_an_answer() {
    let mut fixture = fixture();
    let request = fixture.ask("what");
    fixture.receive().await;
    fixture.say(r#"{"method":"hold"}"#).await;
    for n in 0..10_000 {
        fixture.say(&json!({"method": "count", "params": n}).to_string()).await;
    }
    fixture.say(r#"{"id":1,"result":"through"}"#).await;
    // The handler still holds at the first one.
    assert_eq!(request.await.unwrap().unwrap(), json!("through"));
    assert!(fixture.notifications.try_recv().is_err());
    fixture.release.notify_one();
    for _ in 0..=10_000 {
        fixture.notifications.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_request_in_order_returns_after_what_came_before_its_answer() {
    let mut fixture = fixture();
    let peer = fixture.peer.clone();
    let mut request = tokio::spawn(async move { peer.request_in_order("prompt", json!({})).await });
    fixture.receive().await;
    fixture.say(r#"{"method":"hold"}"#).await;
    fixture.say(r#"{"method":"text"}"#).await;
    fixture.say(r#"{"id":1,"result":"end of turn"}"#).await;
    // An answered request of theirs proves that the answer was read.
    fixture.say(r#"{"id":9,"method":"add"}"#).await;
    fixture.receive().await;
    assert!(futures_util::poll!(&mut request).is_pending());
    fixture.release.notify_one();
    assert_eq!(request.await.unwrap().unwrap(), json!("end of turn"));
    assert_eq!(fixture.notifications.try_recv().unwrap().0, "hold");
    assert_eq!(fixture.notifications.try_recv().unwrap().0, "text");
}

#[tokio::test]
async fn their_request_in_order_is_handled_after_what_came_before_it() {
    let mut fixture = fixture_with(|options| PeerOptions { requests_in_order: true, ..options });
    fixture.say(r#"{"method":"hold"}"#).await;
    fixture.say(r#"{"id":9,"method":"add","params":[1,2]}"#).await;
    // An answered request of ours proves that theirs was read.
    let answer = fixture.ask("what");
    assert_eq!(fixture.receive().await["method"], json!("what"), "theirs was answered first");
    fixture.say(r#"{"id":1,"result":null}"#).await;
    answer.await.unwrap().unwrap();
    fixture.release.notify_one();
    assert_eq!(fixture.receive().await, json!({"jsonrpc": "2.0", "id": 9, "result": 3}));
    assert_eq!(fixture.notifications.try_recv().unwrap().0, "hold");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_returns_ends_the_connection_and_not_us() {
    let mut fixture = fixture_with(|options| PeerOptions { notification_capacity: 4, ..options });
    let request = fixture.ask("what");
    fixture.receive().await;
    for _ in 0..10 {
        fixture.say(r#"{"method":"hold"}"#).await;
    }
    let error = request.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "fake closed the connection: our handler of its notifications is stuck");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_times_out_and_is_cancelled() {
    let mut fixture = fixture();
    let error = fixture.peer.request_timeout("slow", json!({}), Duration::from_secs(5)).await.unwrap_err();
    assert_eq!(error.to_string(), "fake did not answer slow within 5000 ms");
    assert_eq!(fixture.receive().await["method"], json!("slow"));
    assert_eq!(
        fixture.receive().await,
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
    );
    // Its late answer harms nobody.
    fixture.say(r#"{"id":1,"result":"late"}"#).await;
    let request = fixture.ask("next");
    assert_eq!(fixture.receive().await["id"], json!(2));
    fixture.say(r#"{"id":2,"result":"fine"}"#).await;
    assert_eq!(request.await.unwrap().unwrap(), json!("fine"));
}

#[tokio::test]
async fn dropping_a_request_cancels_it_unless_told_not_to() {
    for (cancel_method, expected) in [(Some("$/cancelRequest"), "$/cancelRequest"), (None, "next")] {
        let mut fixture = fixture_with(|options| PeerOptions { cancel_method, ..options });
        let request = fixture.ask("slow");
        fixture.receive().await;
        request.abort();
        assert!(request.await.unwrap_err().is_cancelled());
        fixture.peer.notify("next", ()).await.unwrap();
        let heard = [fixture.receive().await].map(|message| message["method"].clone());
        // The cancellation may be written before or after the notification.
        if cancel_method.is_some() && heard == [json!("next")] {
            assert_eq!(fixture.receive().await["method"], json!(expected));
        } else {
            assert_eq!(heard, [json!(expected)]);
        }
    }
}

#[tokio::test]
async fn the_end_of_the_stream_fails_everything_that_is_pending() {
    let mut fixture = fixture();
    let requests = [fixture.ask("a"), fixture.ask("b")];
    fixture.receive().await;
    fixture.receive().await;
    fixture.say(r#"{"method":"last words"}"#).await;
    drop((fixture.lines, fixture.write));
    for request in requests {
        let error = request.await.unwrap().unwrap_err().to_string();
        assert_eq!(error, "fake closed the connection: the stream ended");
    }
    assert_eq!(fixture.notifications.recv().await.unwrap().0, "last words");
    assert_eq!(fixture.peer.closed().await, "the stream ended");
    let late = fixture.peer.request("late", json!({})).await.unwrap_err();
    assert!(matches!(late, RpcError::Closed { .. }), "{late}");
    assert!(matches!(fixture.peer.notify("late", ()).await, Err(RpcError::Closed { .. })));
}

#[tokio::test]
async fn closing_fails_everything_with_the_given_reason_and_ends_their_requests() {
    let mut fixture = fixture();
    fixture.say(r#"{"id":1,"method":"hang"}"#).await;
    fixture.say(r#"{"id":2,"method":"add"}"#).await;
    fixture.receive().await;
    let request = fixture.ask("a");
    fixture.receive().await;
    fixture.peer.close("we are leaving");
    let error = request.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "fake closed the connection: we are leaving");
    assert!(fixture.peer.is_closed());
    // The stream ends for the other side once both tasks are gone, and with them the handler that hung.
    while fixture.lines.next_line().await.unwrap().is_some() {}
    while fixture.n_hanging.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_last_handle_closes() {
    let mut fixture = fixture();
    let second = fixture.peer.clone();
    drop(fixture.peer);
    second.notify("still here", ()).await.unwrap();
    assert_eq!(
        fixture.lines.next_line().await.unwrap().unwrap(),
        r#"{"jsonrpc":"2.0","method":"still here"}"#
    );
    drop(second);
    assert_eq!(fixture.lines.next_line().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_holds_up_senders_and_not_for_ever() {
    let fixture = fixture_with(|options| PeerOptions { outgoing_capacity: 2, ..options });
    let big = "x".repeat(60 * 1024);
    for _ in 0..2 {
        fixture.peer.notify("big", json!([big])).await.unwrap();
    }
    let mut last = Ok(Value::Null);
    for _ in 0..5 {
        last = fixture.peer.request_timeout("big", json!([big]), Duration::from_secs(1)).await;
    }
    assert!(matches!(last, Err(RpcError::Timeout { .. })), "{last:?}");
    fixture.peer.close("enough");
}

#[tokio::test]
async fn two_peers_understand_each_other_in_either_framing() {
    for framing in [Framing::Lines, Framing::ContentLength] {
        let (ours, theirs) = tokio::io::duplex(128);
        let (sender, _notifications) = mpsc::unbounded_channel();
        let recorder = Recorder { notifications: sender, release: Arc::default(), n_hanging: Arc::default() };
        let (read, write) = tokio::io::split(ours);
        let a = connect(read, write, PeerOptions::new("b", framing), ());
        let (read, write) = tokio::io::split(theirs);
        let _b = connect(read, write, PeerOptions::new("a", framing), recorder);
        for n in 0..100 {
            assert_eq!(a.request("add", [n, n]).await.unwrap(), json!(2 * n));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a peer sends, the next good answer is returned and the next good request answered.
    #[test]
    fn nothing_a_peer_sends_breaks_the_connection(
        nonsense in proptest::collection::vec(nonsense(), 0..20),
        framing in prop_oneof![Just(Framing::Lines), Just(Framing::ContentLength)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(survives(framing, nonsense));
    }
}

fn nonsense() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just("null"),
        Just("1"),
        Just("\"1\""),
        Just("-7"),
        Just("1e300"),
        Just("[]"),
        Just("true")
    ];
    let member = prop_oneof![
        id.prop_map(|id| format!("\"id\":{id}")),
        Just("\"result\":1".to_owned()),
        Just("\"error\":{}".to_owned()),
        Just("\"error\":null".to_owned()),
        Just("\"method\":\"add\"".to_owned()),
        Just("\"method\":\"$/cancelRequest\"".to_owned()),
        Just("\"params\":{\"id\":1}".to_owned()),
        Just("\"params\":7".to_owned()),
    ];
    prop_oneof![
        proptest::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        "[ -~]{0,40}",
    ]
}

async fn survives(framing: Framing, nonsense: Vec<String>) {
    let frame = |text: &str| match framing {
        Framing::Lines => format!("{text}\n"),
        Framing::ContentLength => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
    };
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let (read, write) = tokio::io::split(ours);
    let (sender, _notifications) = mpsc::unbounded_channel();
    let recorder = Recorder { notifications: sender, release: Arc::default(), n_hanging: Arc::default() };
    let peer = connect(read, write, PeerOptions::new("fake", framing), recorder);
    let (_read, mut write) = tokio::io::split(theirs);
    for text in nonsense {
        write.write_all(frame(&text).as_bytes()).await.unwrap();
    }
    let asking = peer.clone();
    let asked =
        tokio::spawn(async move { (asking.request("what", ()).await, asking.request("again", ()).await) });
    // The nonsense may have answered the first already, with whatever; the second is answered again and again.
    let until_answered = async {
        loop {
            for id in 1..3 {
                let answer = format!(r#"{{"id":{id},"result":"good"}}"#);
                write.write_all(frame(&answer).as_bytes()).await.unwrap();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        answers = asked => { let (_first, second) = answers.unwrap(); assert_eq!(second.unwrap(), json!("good")); }
        () = until_answered => {}
    }
}
