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

fn open(home: &std::path::Path) -> App {
    let data = DataFolder::open(home).unwrap();
    let mut config = Config::default();
    config.server.token = Some(TOKEN.to_owned());
    let keeper = Keeper { program: "/bin/false".into(), args: Vec::new() };
    App::open(config, data, keeper).unwrap()
}

fn connect() -> Client {
    let home = tempfile::tempdir().unwrap();
    let door = Arc::new(Door::new("127.0.0.1:4747".parse().unwrap(), open(home.path())));
    let (pipe, far_end) = tokio::io::duplex(64 * 1024);
    let closing = CancellationToken::new();
    let place = Places::new(Bounds::default()).1.take([127, 0, 0, 1].into());
    let connection = Connection::new("127.0.0.1:1".parse().unwrap(), "127.0.0.1:4747".parse().unwrap());
    let server = tokio::spawn(serve_connection(far_end, door, closing.clone(), (connection, place)));
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
            started.elapsed() <= limits::STRANGER_SILENCE + Duration::from_secs(1),
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

/// A server with few places, on a real socket.
struct SmallServer {
    address: std::net::SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    server: JoinHandle<anyhow::Result<()>>,
    _home: tempfile::TempDir,
}

impl SmallServer {
    /// Starts one with as many places for those who have a key.
    async fn start(known: usize) -> Self {
        Self::start_with(Bounds { known, ..Bounds::default() }).await
    }

    async fn start_with(bounds: Bounds) -> Self {
        let home = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let app = open(home.path());
        let server =
            tokio::spawn(async move { serve(listener, app, async { stopped.await.unwrap() }, bounds).await });
        Self { address, stop, server, _home: home }
    }

    async fn connect(&self) -> tokio::net::TcpStream {
        tokio::net::TcpStream::connect(self.address).await.unwrap()
    }

    fn request(&self, path: &str, more: &str) -> String {
        head("GET", path, more).replace("localhost:4747", &self.address.to_string())
    }

    /// Asks over a connection and reads until the answer has come.
    async fn ask(&self, stream: &mut tokio::net::TcpStream) {
        stream.write_all(self.request("/api/health", "").as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.contains("\"status\":\"ok\"") {
            let mut bytes = [0; 4096];
            let n = stream.read(&mut bytes).await.unwrap();
            assert!(n > 0, "hung up after {answer}");
            answer.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
    }

    async fn open_socket(&self) -> tokio::net::TcpStream {
        let mut stream = self.connect().await;
        let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        stream.write_all(self.request("/ws", upgrade).as_bytes()).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 101");
        stream
    }
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_a_place_and_a_web_socket_holds_one() {
    let server = SmallServer::start(2).await;
    let socket = server.open_socket().await;
    let mut idle = server.connect().await;
    server.ask(&mut idle).await;

    let mut third = server.connect().await;
    third.write_all(server.request("/api/health", "").as_bytes()).await.unwrap();
    // The server has turned many times since the third one asked.
    for _ in 0..20 {
        server.ask(&mut idle).await;
    }
    let mut byte = [0; 1];
    let answered = third.try_read(&mut byte);
    assert_eq!(answered.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "two places, three answered");

    drop(socket);
    third.read_exact(&mut byte).await.unwrap();
    assert_eq!(&byte, b"H");
    server.stop.send(()).unwrap();
    server.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_with_every_place_taken_still_stops() {
    let server = SmallServer::start(2).await;
    let (_socket, mut idle) = (server.open_socket().await, server.connect().await);
    server.ask(&mut idle).await;
    server.stop.send(()).unwrap();
    server.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_web_socket_message_above_the_limit_is_refused_by_its_head() {
    let server = SmallServer::start(2).await;
    let mut socket = server.open_socket().await;
    // A masked text frame that announces one byte too many; the body never comes.
    let length = limits::SOCKET_MESSAGE as u64 + 1;
    let frame = [&[0x81, 0xff][..], &length.to_be_bytes(), &[1, 2, 3, 4]].concat();
    socket.write_all(&frame).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    let reason = [&1009_u16.to_be_bytes()[..], b"the message is too large: 16 MB at most"].concat();
    let close = [&[0x88, u8::try_from(reason.len()).unwrap()][..], &reason].concat();
    assert!(answer.ends_with(&close), "{}", String::from_utf8_lossy(&answer));
}

/// A server on which nobody's time runs out while a test runs.
async fn patient_server() -> SmallServer {
    SmallServer::start_with(Bounds { patience: Duration::from_secs(24 * 60 * 60), ..Bounds::default() }).await
}

#[tokio::test]
async fn the_owner_is_answered_while_1_100_strangers_say_nothing() {
    let server = patient_server().await;
    let mut idle = Vec::new();
    for _ in 0..1_100 {
        idle.push(server.connect().await);
    }
    let mut owner = server.connect().await;
    server.ask(&mut owner).await;
    // Nobody's time was over: the last of them is still waited for.
    let still_there = idle.last().unwrap().try_read(&mut [0; 1]);
    assert_eq!(still_there.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    let oldest = idle.first_mut().unwrap().read(&mut [0; 1]).await;
    assert!(matches!(oldest, Ok(0) | Err(_)), "the first of them made room: {oldest:?}");
}

#[tokio::test]
async fn an_owner_who_is_here_already_is_not_cut_by_1_100_strangers() {
    let server = patient_server().await;
    let mut owner = server.connect().await;
    server.ask(&mut owner).await;
    let mut idle = Vec::new();
    for _ in 0..1_100 {
        idle.push(server.connect().await);
    }
    // They have all been let in when the last of them is told that it has no key.
    let last = idle.last_mut().unwrap();
    let request = server.request("/api/health", "").replace(TOKEN, "wrong");
    last.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    last.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 401");
    server.ask(&mut owner).await;
}
