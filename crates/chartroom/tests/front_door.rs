//! What a browser and a script get from the front door.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/door.rs"]
mod door;

use std::io::Read as _;

use axum::http::StatusCode;
use door::{HOST, TestDoor};
use serde_json::{Value, json};

#[tokio::test]
async fn a_launch_link_becomes_a_cookie_once_and_leaves_the_address_bar() {
    let test = TestDoor::open();
    let code = test.app.access().new_launch_code().unwrap();
    let link = format!("/?token={}", code.expose());
    let first = test.send("GET", &link, &[("host", HOST)], "").await;
    assert_eq!(first.status, StatusCode::SEE_OTHER);
    assert!(first.header("location").starts_with("/#enter="), "{}", first.header("location"));
    assert!(!first.header("location").contains(code.expose()), "the page's code is one of its own");
    let cookie = first.header("set-cookie").to_owned();
    assert!(cookie.starts_with("chartroom_4747="), "{cookie}");
    assert!(cookie.ends_with("; Max-Age=2592000; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    assert!(!cookie.contains(code.expose()), "the cookie is a key of its own");

    let key = cookie.split(';').next().unwrap();
    let page = test.send("GET", "/", &[("host", HOST), ("cookie", key)], "").await;
    assert_eq!((page.status, page.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));

    let again = test.send("GET", &link, &[("host", HOST)], "").await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
    assert!(again.text.contains("This link was used already"), "{}", again.text);
    assert!(again.text.contains("chartroom link") && !again.text.contains(code.expose()), "{}", again.text);
    assert_eq!(again.header("set-cookie"), "");

    // The back button of a browser that is logged in.
    let back = test.send("GET", &link, &[("host", HOST), ("cookie", key)], "").await;
    assert_eq!((back.status, back.header("location")), (StatusCode::SEE_OTHER, "/"));
}

#[tokio::test]
async fn a_link_from_another_place_enters_by_a_page_of_our_own() {
    // After a redirect that another site began, a browser would keep the strict cookie back.
    let test = TestDoor::open();
    let code = test.app.access().new_launch_code().unwrap();
    let headers = [
        ("host", HOST),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let answer = test.send("GET", &format!("/?token={}", code.expose()), &headers, "").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text.contains("http-equiv=\"refresh\" content=\"0; url=/#enter="), "{}", answer.text);
    assert!(answer.header("set-cookie").starts_with("chartroom_4747="));
}

#[tokio::test]
async fn a_person_without_a_key_is_told_how_to_get_one() {
    let test = TestDoor::open();
    let answer = test.send("GET", "/", &[("host", HOST), ("accept", "text/html,*/*")], "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.text.contains("chartroom serve"), "{}", answer.text);
}

#[tokio::test]
async fn every_error_has_the_same_shape() {
    let test = TestDoor::open();
    let bearer = format!("Bearer {}", door::TOKEN);
    let json_headers =
        [("host", HOST), ("authorization", bearer.as_str()), ("content-type", "application/json")];
    let large = format!("{{\"path\":\"{}\"}}", "x".repeat(1024 * 1024));
    let cases = [
        (test.ask("GET", "/nothing", Value::Null).await, 404, "NOT_FOUND"),
        (test.ask("POST", "/api/nothing", json!({})).await, 404, "NOT_FOUND"),
        (test.ask("DELETE", "/api/health", Value::Null).await, 405, "METHOD_NOT_ALLOWED"),
        (test.send("POST", "/api/project", &json_headers, &large).await, 413, "PAYLOAD_TOO_LARGE"),
        (
            test.send("POST", "/api/project", &json_headers[..2], "path=/").await,
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        ),
        (test.send("POST", "/api/project", &json_headers, "{").await, 400, "INVALID_REQUEST"),
        (test.ask("POST", "/api/project", json!({ "path": 1 })).await, 400, "INVALID_REQUEST"),
        (test.ask("POST", "/api/project", json!({ "path": "/", "more": 1 })).await, 400, "INVALID_REQUEST"),
        (test.ask("POST", "/api/project", json!({ "path": "relative" })).await, 400, "INVALID_PATH"),
        (test.ask("POST", "/api/project", json!({ "path": "/no/such/folder" })).await, 400, "INVALID_PATH"),
        (test.ask("DELETE", "/api/project/none", Value::Null).await, 404, "NOT_FOUND"),
        (test.ask("GET", "/api/project/none/files", Value::Null).await, 404, "NOT_FOUND"),
    ];
    for (answer, status, code) in cases {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{}", answer.text);
        assert!(answer.json()["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
        assert_eq!(answer.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn a_project_is_added_trusted_searched_and_removed() {
    let test = TestDoor::open();
    let folder = test.home.path().canonicalize().unwrap().join("shop");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("cart.rs"), "").unwrap();
    let path = folder.to_str().unwrap();

    let added = test.ask("POST", "/api/project", json!({ "path": path })).await;
    assert_eq!(added.status, StatusCode::CREATED);
    let id = added.json()["projectId"].as_str().unwrap().to_owned();
    let project =
        |trusted: bool| json!({ "projectId": id, "path": path, "name": "shop", "trusted": trusted });
    assert_eq!(added.json(), project(false));
    let again = test.ask("POST", "/api/project", json!({ "path": path })).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "DUPLICATE_PROJECT"));

    let route = format!("/api/project/{id}/trust");
    let wrong = test.ask("POST", &route, json!({ "realPath": "/elsewhere", "trusted": true })).await;
    assert_eq!((wrong.status.as_u16(), wrong.code().as_str()), (400, "INVALID_PATH"));
    let list = test.ask("GET", "/api/project", Value::Null).await.json();
    assert_eq!(list, json!({ "projects": [project(false)] }));
    let trusted = test.ask("POST", &route, json!({ "realPath": path, "trusted": true })).await;
    assert_eq!(trusted.json(), project(true));
    let revoked = test.ask("POST", &route, json!({ "realPath": path, "trusted": false })).await;
    assert_eq!(revoked.json(), project(false));

    let files = test.ask("GET", &format!("/api/project/{id}/files?query=cart"), Value::Null).await.json();
    assert_eq!(files, json!({ "files": ["cart.rs"], "truncated": false }));

    let removed = test.ask("DELETE", &format!("/api/project/{id}"), Value::Null).await;
    assert_eq!((removed.status, removed.text.as_str()), (StatusCode::NO_CONTENT, ""));
    let list = test.ask("GET", "/api/project", Value::Null).await.json();
    assert_eq!(list, json!({ "projects": [] }));
}

#[tokio::test]
async fn a_project_whose_folder_is_gone_is_kept_as_missing() {
    let test = TestDoor::open();
    let folder = test.home.path().canonicalize().unwrap().join("gone");
    std::fs::create_dir(&folder).unwrap();
    test.ask("POST", "/api/project", json!({ "path": folder.to_str().unwrap() })).await;
    std::fs::remove_dir(&folder).unwrap();
    let list = test.ask("GET", "/api/project", Value::Null).await.json();
    assert_eq!(
        (&list["projects"][0]["missing"], &list["projects"][0]["trusted"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn health_agents_and_metrics_answer() {
    let test = TestDoor::open();
    let health = test.ask("GET", "/api/health", Value::Null).await.json();
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &json!(env!("CARGO_PKG_VERSION"))));
    let agents = test.ask("GET", "/api/agents", Value::Null).await.json();
    let names: Vec<&str> =
        agents["agents"].as_array().unwrap().iter().map(|agent| agent["cliType"].as_str().unwrap()).collect();
    assert_eq!(names, ["claude-code", "codex"]);
    let metrics = test.ask("GET", "/metrics", Value::Null).await;
    assert!(metrics.text.contains("chartroom_http_requests_total{status=\"200\"}"), "{}", metrics.text);
}

/// Each way to ask for the page's script: what is asked, and in which coding it comes.
const WAYS: [(&str, &str); 5] = [
    ("gzip, deflate, br", "br"),
    ("gzip", "gzip"),
    ("br;q=0.1, gzip;q=0.2", "gzip"),
    ("identity", ""),
    ("", ""),
];

fn script() -> String {
    let paths = chartroom_web_ui::paths();
    let path = paths.iter().find(|path| path.starts_with("assets/index-") && path.ends_with(".js"));
    format!("/{}", path.expect("the page has a script"))
}

#[tokio::test]
async fn the_pages_script_comes_in_the_coding_that_the_browser_takes() {
    let test = TestDoor::open();
    let whole = test.ask_with("GET", &script(), &[]).await;
    let mut lengths = Vec::new();
    for (accepts, coding) in WAYS {
        let answer = test.ask_with("GET", &script(), &[("accept-encoding", accepts)]).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (StatusCode::OK, coding), "{accepts}");
        assert_eq!(answer.header("vary"), "accept-encoding", "{accepts}");
        assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8", "{accepts}");
        assert_eq!(answer.header("cache-control"), "private, max-age=31536000, immutable", "{accepts}");
        lengths.push(answer.bytes.len());
        if coding == "gzip" {
            assert!(unzipped(&answer.bytes) == whole.text, "the script is another one after it is unpacked");
        }
        let head = test.ask_with("HEAD", &script(), &[("accept-encoding", accepts)]).await;
        assert_eq!((head.status, head.header("content-encoding")), (StatusCode::OK, coding), "{accepts}");
        assert_eq!(head.header("etag"), answer.header("etag"), "{accepts}");
    }
    let [brotli, gzip, .., identity] = lengths[..] else { panic!("{lengths:?}") };
    assert!(brotli < gzip && gzip * 2 < identity, "{lengths:?}");
}

#[tokio::test]
async fn a_browser_that_has_a_form_of_a_file_is_not_sent_it_again_and_another_form_is() {
    let test = TestDoor::open();
    for path in chartroom_web_ui::paths().iter().map(|path| format!("/{path}")).chain(["/".to_owned()]) {
        for (accepts, _) in WAYS {
            let answer = test.ask_with("GET", &path, &[("accept-encoding", accepts)]).await;
            let tag = answer.header("etag");
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            for known in [tag.to_owned(), format!("\"other\", W/{tag}"), "*".to_owned()] {
                let headers = [("accept-encoding", accepts), ("if-none-match", known.as_str())];
                let again = test.ask_with("GET", &path, &headers).await;
                assert_eq!(
                    (again.status, again.text.as_str()),
                    (StatusCode::NOT_MODIFIED, ""),
                    "{path} {known}"
                );
                for name in ["etag", "vary", "cache-control"] {
                    assert_eq!(again.header(name), answer.header(name), "{path} {name}");
                }
            }
        }
    }
    let zipped = test.ask_with("GET", &script(), &[("accept-encoding", "gzip")]).await;
    let headers = [("accept-encoding", "br"), ("if-none-match", zipped.header("etag"))];
    assert_eq!(test.ask_with("GET", &script(), &headers).await.status, StatusCode::OK);
}

#[tokio::test]
async fn large_answers_of_the_api_are_compressed_for_who_takes_it_and_small_ones_are_not() {
    let test = TestDoor::open();
    let whole = test.ask("GET", "/api/openapi.json", Value::Null).await;
    assert_eq!((whole.header("content-encoding"), whole.header("vary")), ("", "accept-encoding"));
    let zipped = test.ask_with("GET", "/api/openapi.json", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!((zipped.header("content-encoding"), zipped.header("vary")), ("gzip", "accept-encoding"));
    assert!(unzipped(&zipped.bytes) == whole.text, "the document is another one after it is unpacked");
    assert!(zipped.bytes.len() * 3 < whole.bytes.len(), "{} of {}", zipped.bytes.len(), whole.bytes.len());

    let small = test.ask_with("GET", "/api/health", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!((small.header("content-encoding"), small.json()["status"].as_str()), ("", Some("ok")));
    let code = test.ask_with("POST", "/api/launch", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!((code.status, code.header("content-encoding")), (StatusCode::OK, ""), "it has a secret in it");
    // An error of axum's own gets its shape before it is looked at.
    let refused = test.ask_with("PUT", "/api/openapi.json", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(refused.code(), "METHOD_NOT_ALLOWED");
}

fn unzipped(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("it is gzip of text");
    text
}
