//! A browser that was let in: what its cookie alone opens, what it needs beside it, and how it is put out again.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/door.rs"]
mod door;

use axum::http::StatusCode;
use chartroom::http::routes::{Kind, table};
use door::{HOST, TestDoor};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const ORIGIN: &str = "http://127.0.0.1:4747";

#[tokio::test]
async fn a_server_on_another_port_that_received_the_cookie_can_do_nothing_with_it() {
    let test = TestDoor::open();
    let (cookie, code) = test.follow_link().await;
    // It can write any header it likes: it is no browser.
    let headers = [
        ("host", HOST),
        ("origin", ORIGIN),
        ("sec-fetch-site", "same-origin"),
        ("cookie", cookie.as_str()),
        ("content-type", "application/json"),
    ];
    let check = async |when: &str| {
        let mut n_asked = 0;
        for route in table().into_iter().filter(|route| route.kind != Kind::Page) {
            for method in &route.methods {
                let answer =
                    test.send(method.as_str(), &route.path, &headers, "{\"code\":\"a guess\"}").await;
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{when}: {method} {}", route.path);
                n_asked += 1;
            }
        }
        assert!(n_asked > 20, "the whole API was asked");
        // The page's own files are the same for everybody who has the program.
        assert_eq!(test.send("GET", "/", &headers, "").await.status, StatusCode::OK);
    };
    check("before the page has its key").await;
    assert_eq!(
        test.enter(&cookie, &code).await.status,
        StatusCode::OK,
        "a guess takes nothing from the page"
    );
    check("after").await;
    assert_eq!(test.enter(&cookie, &code).await.status, StatusCode::UNAUTHORIZED, "the code was used");
}

#[tokio::test]
async fn the_cookie_and_the_key_of_one_browser_open_the_api_together() {
    let test = TestDoor::open();
    let (one, two) = (test.let_in().await, test.let_in().await);
    for browser in [&one, &two] {
        let answer = test.send("GET", "/api/health", &browser.headers(), "").await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    let mixed = door::TestBrowser { cookie: one.cookie, key: two.key };
    let answer = test.send("GET", "/api/health", &mixed.headers(), "").await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "UNAUTHORIZED"));
}

#[tokio::test]
async fn a_script_has_no_page_to_enter() {
    let test = TestDoor::open();
    let answer = test.ask("POST", "/api/enter", json!({ "code": "x" })).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn browsers_are_listed_without_anything_that_opens() {
    let test = TestDoor::open();
    let browser = test.let_in().await;
    let list = test.ask("GET", "/api/devices", Value::Null).await;
    let device = &list.json()["devices"][0];
    assert_eq!(device["browser"], "Browser/1.0");
    let life = device["expiresAt"].as_u64().unwrap() - device["enteredAt"].as_u64().unwrap();
    assert_eq!(life, 30 * 24 * 60 * 60);
    assert!(
        !list.text.contains(&browser.key) && !list.text.contains(browser.cookie.split('=').nth(1).unwrap())
    );
}

/// Opens the page's socket as a browser does.
async fn open_socket(
    address: std::net::SocketAddr,
    browser: &door::TestBrowser,
) -> tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>> {
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    let protocols = format!("chartroom, chartroom.key.{}", browser.key);
    for (name, value) in [
        ("origin", format!("http://{address}")),
        ("cookie", browser.cookie.clone()),
        ("sec-websocket-protocol", protocols),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (socket, answer) = tokio_tungstenite::connect_async(request).await.unwrap();
    let chosen = answer.headers().get("sec-websocket-protocol").unwrap();
    assert_eq!(chosen, "chartroom", "the key is not said again");
    socket
}

#[tokio::test]
async fn a_browser_that_is_put_out_loses_its_socket_and_the_others_keep_theirs() {
    let home = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = door::open_app(home.path());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(chartroom::http::run(listener, app.clone(), async move {
        stopped.await.ok();
    }));
    let test = TestDoor::over(address, app, home);
    let (one, two) = (test.let_in().await, test.let_in().await);
    let (mut first, mut second) = (open_socket(address, &one).await, open_socket(address, &two).await);

    let list = test.ask("GET", "/api/devices", Value::Null).await.json();
    let body = json!({ "deviceId": list["devices"][0]["deviceId"] });
    let revoked = test.ask("POST", "/api/devices/revoke", body).await;
    assert_eq!(revoked.json(), json!({ "revoked": 1 }));
    let reason = loop {
        if let Message::Close(frame) = first.next().await.unwrap().unwrap() {
            break frame.unwrap().reason.to_string();
        }
    };
    assert_eq!(reason, "this browser was signed out");
    // The other one still hears what happens.
    let folder = test.home.path().canonicalize().unwrap().join("shop");
    std::fs::create_dir(&folder).unwrap();
    test.ask("POST", "/api/project", json!({ "path": folder.to_str().unwrap() })).await;
    loop {
        let message = second.next().await.unwrap().unwrap();
        assert!(!message.is_close());
        if message.is_text() && message.to_text().unwrap().contains("shop") {
            break;
        }
    }
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
}
