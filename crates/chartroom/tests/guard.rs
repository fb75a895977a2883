//! Every route of the table, static files and the socket included, behind every way to come from elsewhere.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/door.rs"]
mod door;

use axum::http::StatusCode;
use chartroom::http::routes::table;
use door::{HOST, TOKEN, TestDoor};

const OUR_HOSTS: [&str; 3] = ["127.0.0.1:4747", "localhost:4747", "[::1]:4747"];

const HOSTS: [&str; 20] = [
    "127.0.0.1:4747",
    "localhost:4747",
    "[::1]:4747",
    "127.0.0.1",
    "localhost",
    "[::1]",
    "127.0.0.1:80",
    "localhost:4748",
    "127.0.0.2:4747",
    "0.0.0.0:4747",
    "LOCALHOST:4747",
    "localhost.:4747",
    "localhost.evil.example:4747",
    "evil.example",
    "evil.example:4747",
    "127.0.0.1.nip.io:4747",
    "127.0.0.1:4747.evil.example",
    "2130706433:4747",
    "192.168.1.5:4747",
    "user@localhost:4747",
];

const ORIGINS: [&str; 30] = [
    "http://127.0.0.1:4747",
    "http://localhost:4747",
    "http://[::1]:4747",
    "https://127.0.0.1:4747",
    "https://localhost:4747",
    "http://127.0.0.1",
    "http://localhost",
    "http://localhost:80",
    "http://localhost:4748",
    "http://localhost:47470",
    "http://LOCALHOST:4747",
    "http://localhost:4747/",
    "http://localhost:4747, http://evil.example",
    "http://evil.example",
    "https://evil.example",
    "http://evil.example:4747",
    "http://localhost.evil.example:4747",
    "http://evil.example#http://localhost:4747",
    "http://user@localhost:4747",
    "http://127.0.0.1.nip.io:4747",
    "http://0.0.0.0:4747",
    "http://2130706433:4747",
    "http://192.168.1.5:4747",
    "ws://localhost:4747",
    "file://",
    "null",
    "",
    "chrome-extension://abcdefghijklmnop",
    "vscode-webview://abc",
    "localhost:4747",
];

/// Every method and path that can be asked for, with ids filled in: the table, the page's files, and what is not
/// there.
fn requests() -> Vec<(String, String)> {
    let mut requests: Vec<(String, String)> = table()
        .into_iter()
        .flat_map(|route| {
            let path = route.path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
            let path = path.collect::<Vec<_>>().join("/");
            route.methods.into_iter().map(move |method| (method.to_string(), path.clone()))
        })
        .collect();
    requests.extend(chartroom_web_ui::paths().into_iter().map(|path| ("GET".to_owned(), format!("/{path}"))));
    for path in ["/ws", "/nothing", "/api/nothing", "/../etc/passwd", "//"] {
        requests.push(("GET".to_owned(), path.to_owned()));
    }
    for method in ["POST", "OPTIONS", "PUT"] {
        requests.push((method.to_owned(), "/api/health".to_owned()));
    }
    requests
}

#[tokio::test]
async fn only_our_own_origins_and_hosts_come_in_on_any_route() {
    let test = TestDoor::open();
    let bearer = format!("Bearer {TOKEN}");
    let mut n_inside = 0;
    for (method, path) in requests() {
        for host in HOSTS {
            for origin in ORIGINS {
                let headers = [("host", host), ("origin", origin), ("authorization", bearer.as_str())];
                let answer = test.send(&method, &path, &headers, "").await;
                let ours = OUR_HOSTS.contains(&host)
                    && origin.strip_prefix("http://").is_some_and(|host| OUR_HOSTS.contains(&host));
                let inside = answer.status != StatusCode::FORBIDDEN;
                assert_eq!(inside, ours, "{method} {path} from {origin:?} to {host:?}: {}", answer.status);
                if !inside {
                    let code = if OUR_HOSTS.contains(&host) { "FORBIDDEN_ORIGIN" } else { "FORBIDDEN_HOST" };
                    assert_eq!(answer.code(), code, "{method} {path} from {origin:?} to {host:?}");
                }
                n_inside += usize::from(inside);
            }
        }
    }
    assert_eq!(n_inside, requests().len() * 9, "three of our origins at three of our hosts, on every route");
}

#[tokio::test]
async fn no_route_answers_without_a_key() {
    let test = TestDoor::open();
    let wrong = "Bearer wrong";
    for (method, path) in requests() {
        for headers in [
            vec![("host", HOST)],
            vec![("host", HOST), ("origin", "http://127.0.0.1:4747")],
            vec![("host", HOST), ("authorization", wrong)],
            vec![("host", HOST), ("cookie", "chartroom_4747=0123456789abcdef")],
            vec![("host", HOST), ("authorization", TOKEN)],
        ] {
            let answer = test.send(&method, &path, &headers, "").await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path} with {headers:?}");
            assert_eq!(answer.code(), "UNAUTHORIZED", "{method} {path}");
        }
        let query = format!("{path}?token={TOKEN}");
        let answer = test.send(&method, &query, &[("host", HOST)], "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "the token is no launch code: {method} {path}");
    }
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_others_out() {
    let test = TestDoor::open();
    let bearer = format!("Bearer {TOKEN}");
    for (method, path) in requests() {
        for headers in
            [vec![("host", HOST), ("authorization", bearer.as_str())], vec![("host", "evil.example")]]
        {
            let answer = test.send(&method, &path, &headers, "").await;
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'self';"), "{method} {path}: {policy}");
            assert!(policy.contains("frame-ancestors 'none'"), "{method} {path}: {policy}");
            assert!(!policy.contains("script-src"), "scripts are ours alone: {policy}");
            assert_eq!(answer.header("referrer-policy"), "no-referrer", "{method} {path}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{method} {path}");
            let cors = answer.headers.keys().any(|name| name.as_str().starts_with("access-control-"));
            assert!(!cors, "no CORS: {method} {path}");
        }
    }
}

#[test]
fn the_document_lists_every_route() {
    let paths: Vec<String> = table().into_iter().map(|route| route.path).collect();
    for path in ["/", "/api/health", "/api/openapi.json", "/metrics", "/api/agents", "/api/project"] {
        assert!(paths.iter().any(|known| known == path), "{path} is in the table");
    }
}

#[tokio::test]
async fn the_openapi_document_has_every_method_of_every_route_with_an_answer() {
    let test = TestDoor::open();
    let document = test.ask("GET", "/api/openapi.json", serde_json::Value::Null).await.json();
    assert_eq!(document["info"]["title"], "Chartroom");
    for route in table() {
        for method in &route.methods {
            let operation = &document["paths"][&route.path][method.as_str().to_lowercase()];
            let answers = operation["responses"].as_object();
            assert!(answers.is_some_and(|answers| !answers.is_empty()), "{method} {}", route.path);
        }
    }
    // A reference that leads nowhere is a type that someone forgot to register.
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name} is described");
    }
}
