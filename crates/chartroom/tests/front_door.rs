//! What a browser and a script get from the front door.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/door.rs"]
mod door;

use axum::http::StatusCode;
use door::{HOST, TestDoor};
use serde_json::{Value, json};

#[tokio::test]
async fn a_launch_link_becomes_a_cookie_once_and_leaves_the_address_bar() {
    let test = TestDoor::open();
    let code = test.app.access().new_launch_code().unwrap();
    let link = format!("/?token={}", code.expose());
    let first = test.send("GET", &link, &[("host", HOST)], "").await;
    assert_eq!((first.status, first.header("location")), (StatusCode::SEE_OTHER, "/"));
    let cookie = first.header("set-cookie").to_owned();
    assert!(cookie.starts_with("chartroom_4747="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
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
    assert!(answer.text.contains("http-equiv=\"refresh\" content=\"0; url=/\""), "{}", answer.text);
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

#[tokio::test]
async fn files_of_the_page_are_cached_by_their_hash() {
    let test = TestDoor::open();
    for path in chartroom_web_ui::paths() {
        let answer = test.ask("GET", &format!("/{path}"), Value::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let bearer = format!("Bearer {}", door::TOKEN);
        let headers =
            [("host", HOST), ("authorization", bearer.as_str()), ("if-none-match", answer.header("etag"))];
        let known = test.send("GET", &format!("/{path}"), &headers, "").await;
        assert_eq!((known.status, known.text.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
    }
}
