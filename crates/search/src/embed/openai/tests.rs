//! Against a scripted server in this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Embedder, OpenAi, OpenAiConfig};

/// What the server does with one request.
#[derive(Clone)]
enum Act {
    /// One vector per text, in reverse order: `[length of the text, 1]`.
    Answer,
    /// The same, without the last text's vector.
    Short,
    Status(u16, &'static str),
    Body(&'static str),
    HangUp,
}

/// Starts a server that plays the acts and then keeps answering; gives its URL and the requests it saw.
fn serve(acts: Vec<Act>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        let mut acts = acts.into_iter();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                head += &line;
            }
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned))
                .and_then(|value| value.trim().parse().ok())
                .unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
            let key = head.lines().any(|line| line.eq_ignore_ascii_case("authorization: Bearer secret"));
            log.lock().unwrap().push(format!(
                "{} {} key={key}",
                body["model"].as_str().unwrap(),
                texts.join(",")
            ));
            let rows = |count: usize| {
                let rows: Vec<_> = (0..count)
                    .rev()
                    .map(|at| serde_json::json!({"index": at, "embedding": [texts[at].len() as f32, 1.0]}))
                    .collect();
                serde_json::json!({ "data": rows }).to_string()
            };
            let (status, extra, body) = match acts.next().unwrap_or(Act::Answer) {
                Act::Answer => (200, "", rows(texts.len())),
                Act::Short => (200, "", rows(texts.len() - 1)),
                Act::Status(status, extra) => (status, extra, "{\"error\":\"told\"}".to_owned()),
                Act::Body(body) => (200, "", body.to_owned()),
                Act::HangUp => continue,
            };
            let answer = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{extra}Connection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, seen)
}

fn embedder(base_url: String) -> OpenAi {
    OpenAi::new(OpenAiConfig {
        base_url,
        model: "m".into(),
        dimension: 2,
        key: Some("secret".into()),
        batch: 2,
        attempts: 4,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(5),
        ..OpenAiConfig::default()
    })
}

/// Embeds three texts against the script: the vectors' directions or the error, and the requests.
#[track_caller]
fn check(acts: Vec<Act>, outcome: Result<(), &str>, requests: &[&str]) {
    let (url, seen) = serve(acts);
    let got = embedder(url).embed(&["a", "bb", "cccc"]);
    match (got, outcome) {
        (Ok(vectors), Ok(())) => {
            let lengths: Vec<i32> =
                vectors.iter().map(|vector| (vector[0] / vector[1]).round() as i32).collect();
            assert_eq!(lengths, [1, 2, 4], "one vector per text, in order");
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
        (got, _) => panic!("{got:?}"),
    }
    assert_eq!(*seen.lock().unwrap(), requests);
}

const FIRST: &str = "m a,bb key=true";
const SECOND: &str = "m cccc key=true";

#[test]
fn texts_are_sent_in_batches_and_come_back_in_order() {
    check(vec![], Ok(()), &[FIRST, SECOND]);
}

#[test]
fn a_429_is_waited_out_and_nothing_is_lost() {
    check(vec![Act::Status(429, "Retry-After: 1\r\n"), Act::Answer], Ok(()), &[FIRST, FIRST, SECOND]);
}

#[test]
fn a_500_and_a_broken_connection_are_tried_again() {
    check(vec![Act::Status(500, ""), Act::HangUp, Act::Answer], Ok(()), &[FIRST, FIRST, FIRST, SECOND]);
}

#[test]
fn a_short_or_unreadable_answer_is_asked_for_again() {
    check(vec![Act::Short, Act::Body("{"), Act::Answer], Ok(()), &[FIRST, FIRST, FIRST, SECOND]);
}

#[test]
fn patience_ends() {
    check(vec![Act::Status(503, ""); 4], Err("answered 503"), &[FIRST; 4]);
}

#[test]
fn a_refused_key_is_final_and_says_so() {
    check(vec![Act::Status(401, "")], Err("answered 401: {\"error\":\"told\"}"), &[FIRST]);
}

#[test]
fn another_dimension_than_configured_is_told() {
    let wrong = Act::Body(r#"{"data":[{"index":0,"embedding":[1.0]},{"index":1,"embedding":[1.0]}]}"#);
    check(vec![wrong; 4], Err("the configuration says 2"), &[FIRST; 4]);
}

#[test]
fn no_server_is_unavailable() {
    let error = embedder("http://127.0.0.1:1/v1".into()).embed(&["a"]).unwrap_err();
    assert!(matches!(error, super::EmbedError::Unavailable(_)), "{error}");
}

#[test]
fn a_redirect_does_not_carry_the_key_away() {
    check(vec![Act::Status(302, "Location: http://127.0.0.1:1/\r\n")], Err(""), &[FIRST]);
}
