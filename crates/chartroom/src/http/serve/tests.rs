//! Slow and hostile clients, on a paused clock and a pipe in memory.

use chartroom_transport::Keeper;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

use super::*;
use crate::config::Config;
use crate::data::DataFolder;

const TOKEN: &str = "the-token-of-this-test";

struct Client {
    pipe: DuplexStream,
    closing: CancellationToken,
    server: JoinHandle<()>,
    _home: tempfile::TempDir,
}

fn connect() -> Client {
    let home = tempfile::tempdir().unwrap();
    let data = DataFolder::open(home.path()).unwrap();
    let mut config = Config::default();
    config.server.token = Some(TOKEN.to_owned());
    let keeper = Keeper { program: "/bin/false".into(), args: Vec::new() };
    let app = App::open(config, data, keeper).unwrap();
    let door = Arc::new(Door::new("127.0.0.1:4747".parse().unwrap(), app));
    let (pipe, far_end) = tokio::io::duplex(64 * 1024);
    let closing = CancellationToken::new();
    let server = tokio::spawn(converse(far_end, door, closing.clone()));
    Client { pipe, closing, server, _home: home }
}

impl Client {
    /// Sends these bytes, then nothing more, and returns all that comes until the server hangs up.
    async fn until_hung_up(mut self, bytes: &[u8]) -> String {
        self.pipe.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        self.pipe.read_to_end(&mut answer).await.unwrap();
        self.server.await.unwrap();
        String::from_utf8(answer).unwrap()
    }
}

fn head(method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost:4747\r\nauthorization: Bearer {TOKEN}\r\n{more}\r\n")
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_finishes_its_head_is_hung_up_on() {
    for beginning in ["", "GET", "GET / HTTP/1.1\r\nhost: localhost:4747\r\nx-"] {
        let started = tokio::time::Instant::now();
        let answer = connect().until_hung_up(beginning.as_bytes()).await;
        assert!(!answer.contains(" 200 "), "{beginning:?}: {answer}");
        assert!(
            started.elapsed() <= limits::HEAD + Duration::from_secs(1),
            "{beginning:?}: {:?}",
            started.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_finishes_its_body_is_answered_408() {
    let request = head("POST", "/api/project", "content-type: application/json\r\ncontent-length: 100\r\n");
    let answer = connect().until_hung_up(format!("{request}{{").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("\"code\":\"INVALID_REQUEST\""), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_head_without_end_is_refused() {
    let more = format!("x-filler: {}\r\n", "x".repeat(limits::HEAD_BYTES));
    let mut client = connect();
    // The server may hang up before it has read everything: that is the point.
    client.pipe.write_all(head("GET", "/api/health", &more).as_bytes()).await.ok();
    let mut answer = String::new();
    client.pipe.read_to_string(&mut answer).await.ok();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn two_hosts_in_one_head_are_refused_on_the_wire_too() {
    let request = head("GET", "/api/health", "host: evil.example\r\nconnection: close\r\n");
    let answer = connect().until_hung_up(request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_closing_server_answers_the_current_request_and_hangs_up() {
    let mut client = connect();
    client.pipe.write_all(head("GET", "/api/health", "").as_bytes()).await.unwrap();
    let mut first = [0; 15];
    client.pipe.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    client.closing.cancel();
    let mut rest = String::new();
    client.pipe.read_to_string(&mut rest).await.unwrap();
    assert!(rest.contains("\"status\":\"ok\""), "{rest}");
    client.server.await.unwrap();
}
