//! The real front door over a new data folder, without a socket: requests go in, answers come out.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use chartroom::app::App;
use chartroom::config::Config;
use chartroom::data::DataFolder;
use chartroom::http::Door;
use chartroom_transport::Keeper;
use serde_json::Value;

pub const TOKEN: &str = "a-token-of-the-tests-0123456789";
pub const HOST: &str = "127.0.0.1:4747";

pub struct TestDoor {
    pub door: Door,
    pub app: App,
    pub home: tempfile::TempDir,
    /// What the door thinks it listens on.
    pub host: String,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    pub text: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The code of an error answer.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {}", self.text)).to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A browser that was let in, as the headers of its page.
pub struct TestBrowser {
    pub cookie: String,
    pub key: String,
}

impl TestBrowser {
    pub fn headers(&self) -> Vec<(&str, &str)> {
        vec![
            ("host", HOST),
            ("origin", "http://127.0.0.1:4747"),
            ("cookie", &self.cookie),
            ("x-chartroom-key", &self.key),
        ]
    }
}

impl TestDoor {
    pub fn open() -> Self {
        let home = tempfile::tempdir().unwrap();
        let app = open_app(home.path());
        Self::over(HOST.parse().unwrap(), app, home)
    }

    /// Another door of a server that listens on `address`.
    pub fn over(address: std::net::SocketAddr, app: App, home: tempfile::TempDir) -> Self {
        let door = Door::new(address, app.clone());
        Self { door, app, home, host: address.to_string() }
    }

    /// Sends a request with these headers and nothing else but its method and path.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.header("content-length", body.len());
        }
        let answer = self.door.answer(request.body(Body::from(body.to_owned())).unwrap()).await;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status, headers, bytes: bytes.into(), text }
    }

    /// Follows a new link as a browser does, and returns its cookie and the code that is left for its page.
    pub async fn follow_link(&self) -> (String, String) {
        let code = self.app.access().new_launch_code().unwrap();
        let link = format!("/?token={}", code.expose());
        let entered =
            self.send("GET", &link, &[("host", &self.host), ("user-agent", "Browser/1.0")], "").await;
        let cookie = entered.header("set-cookie").split(';').next().unwrap().to_owned();
        let code = entered.header("location").strip_prefix("/#enter=").unwrap().to_owned();
        (cookie, code)
    }

    /// Asks for the page's key.
    pub async fn enter(&self, cookie: &str, code: &str) -> Answer {
        let origin = format!("http://{}", self.host);
        let headers = [
            ("host", self.host.as_str()),
            ("origin", &origin),
            ("cookie", cookie),
            ("content-type", "application/json"),
        ];
        self.send("POST", "/api/enter", &headers, &format!("{{\"code\":\"{code}\"}}")).await
    }

    /// Lets a browser in.
    pub async fn let_in(&self) -> TestBrowser {
        let (cookie, code) = self.follow_link().await;
        let key = self.enter(&cookie, &code).await.json()["key"].as_str().unwrap().to_owned();
        TestBrowser { cookie, key }
    }

    /// Sends a request with the bearer token and these headers.
    pub async fn ask_with(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [&[("host", self.host.as_str()), ("authorization", bearer.as_str())], headers].concat();
        self.send(method, path, &headers, "").await
    }

    /// Sends a request as a script with the bearer token does.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let mut headers = vec![("host", self.host.as_str()), ("authorization", bearer.as_str())];
        let text = if body.is_null() { String::new() } else { body.to_string() };
        if !text.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        self.send(method, path, &headers, &text).await
    }
}

pub fn open_app(home: &Path) -> App {
    let mut config = Config::default();
    config.server.token = Some(TOKEN.to_owned());
    let data = DataFolder::open(&home.join("data")).unwrap();
    let keeper = Keeper { program: env!("CARGO_BIN_EXE_chartroom").into(), args: vec!["keeper".into()] };
    App::open(config, data, keeper).unwrap()
}
