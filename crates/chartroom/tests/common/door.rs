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

impl TestDoor {
    pub fn open() -> Self {
        let home = tempfile::tempdir().unwrap();
        let app = open_app(home.path());
        let door = Door::new(HOST.parse().unwrap(), app.clone());
        Self { door, app, home }
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

    /// Sends a request with the bearer token and these headers.
    pub async fn ask_with(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [&[("host", HOST), ("authorization", bearer.as_str())], headers].concat();
        self.send(method, path, &headers, "").await
    }

    /// Sends a request as a script with the bearer token does.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let mut headers = vec![("host", HOST), ("authorization", bearer.as_str())];
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
