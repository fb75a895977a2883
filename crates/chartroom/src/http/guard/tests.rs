//! One request head per line of the threat table.

use axum::http::Request;

use super::*;
use crate::http::Secret;

struct Case {
    guard: Guard,
    cookie: String,
    key: String,
    code: String,
}

fn case() -> Case {
    let access = Arc::new(Access::new(Secret::new("the-token-of-this-test")));
    let first = access.new_launch_code().unwrap();
    let arrival = access.redeem(first.expose(), "Browser", None).unwrap().unwrap();
    let device = access.device_of(arrival.cookie.expose()).unwrap();
    let key = access.enter(&device, arrival.code.expose()).unwrap().unwrap().expose().to_owned();
    let cookie = arrival.cookie.expose().to_owned();
    let code = access.new_launch_code().unwrap().expose().to_owned();
    let guard = Guard::new("127.0.0.1:4747".parse().unwrap(), "127.0.0.1", access);
    Case { guard, cookie, key, code }
}

/// `head` is a request line and headers; `TOKEN`, `COOKIE`, `KEY` and `CODE` stand for good keys, `BROWSER` for what our
/// own page sends.
#[track_caller]
fn check(head: &str, expected: Result<(), Refusal>) {
    let case = case();
    let head = head
        .replace("BROWSER", "cookie: COOKIE\nx-chartroom-key: KEY")
        .replace("TOKEN", "the-token-of-this-test")
        .replace("COOKIE", &format!("chartroom_4747={}", case.cookie))
        .replace("KEY", &case.key)
        .replace("CODE", &case.code);
    let mut lines = head.lines().map(str::trim);
    let (method, uri) = lines.next().unwrap().split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    assert_eq!(case.guard.judge(&parts).map(|_| ()), expected, "{head}");
}

const INSIDE: Result<(), Refusal> = Ok(());

#[test]
fn a_bearer_token_opens_and_a_wrong_one_does_not() {
    check("GET /api/health\nhost: localhost:4747\nauthorization: Bearer TOKEN", INSIDE);
    check("GET /api/health\nhost: localhost:4747\nauthorization: bearer TOKEN", INSIDE);
    check("GET /api/health\nhost: localhost:4747\nauthorization: Bearer wrong", Err(Refusal::NoKey));
    check("GET /api/health\nhost: localhost:4747\nauthorization: TOKEN", Err(Refusal::NoKey));
    check("GET /api/health\nhost: localhost:4747\nauthorization: Basic TOKEN", Err(Refusal::NoKey));
    check("GET /api/health\nhost: localhost:4747", Err(Refusal::NoKey));
    check("GET /api/health?token=TOKEN\nhost: localhost:4747", Err(Refusal::NoKey));
    check("GET /api/health?token=CODE\nhost: localhost:4747", Err(Refusal::NoKey));
}

#[test]
fn dns_rebinding_fails_although_origin_and_host_agree() {
    for host in
        ["evil.example", "evil.example:4747", "127.0.0.1", "127.0.0.1:4748", "localhost", "0.0.0.0:4747"]
    {
        let head = format!("GET /\nhost: {host}\norigin: http://{host}\nauthorization: Bearer TOKEN");
        check(&head, Err(Refusal::ForeignHost));
    }
    check("GET /\nauthorization: Bearer TOKEN", Err(Refusal::ForeignHost));
    check(
        "GET /\nhost: localhost:4747\nhost: evil.example\nauthorization: Bearer TOKEN",
        Err(Refusal::ForeignHost),
    );
    check(
        "GET http://evil.example/\nhost: localhost:4747\nauthorization: Bearer TOKEN",
        Err(Refusal::ForeignHost),
    );
}

#[test]
fn another_origin_fails_even_with_the_token() {
    for origin in [
        "http://evil.example",
        "null",
        "https://localhost:4747",
        "http://localhost:4747/",
        "http://localhost",
    ] {
        let head =
            format!("GET /api/health\nhost: localhost:4747\norigin: {origin}\nauthorization: Bearer TOKEN");
        check(&head, Err(Refusal::ForeignOrigin));
    }
    check(
        "GET /api/health\nhost: [::1]:4747\norigin: http://[::1]:4747\nauthorization: Bearer TOKEN",
        INSIDE,
    );
}

#[test]
fn a_cookie_alone_opens_the_page_s_files_and_nothing_else() {
    check("GET /\nhost: localhost:4747\ncookie: a=b; COOKIE", INSIDE);
    check("HEAD /\nhost: localhost:4747\ncookie: COOKIE", INSIDE);
    check("GET /index.html\nhost: localhost:4747\ncookie: COOKIE", INSIDE);
    for path in ["/api/health", "/metrics", "/api/openapi.json", "/nothing", "//", "/api/../index.html"] {
        let head = format!("GET {path}\nhost: localhost:4747\ncookie: COOKIE\norigin: http://localhost:4747");
        check(&head, Err(Refusal::NoPageKey));
    }
    let post = "POST /api/project\nhost: localhost:4747\ncookie: COOKIE\norigin: http://localhost:4747";
    check(post, Err(Refusal::NoPageKey));
    check(&format!("{post}\nx-chartroom-key: wrong"), Err(Refusal::NoPageKey));
    check(&format!("{post}\nx-chartroom-key: KEY\nx-chartroom-key: KEY"), Err(Refusal::NoPageKey));
    check("GET /\nhost: localhost:4747\ncookie: chartroom_4747=wrong", Err(Refusal::NoKey));
    check("GET /api/health\nhost: localhost:4747\nx-chartroom-key: KEY", Err(Refusal::NoKey));
    // The page has no key before it has asked for it.
    check("POST /api/enter\nhost: localhost:4747\ncookie: COOKIE\norigin: http://localhost:4747", INSIDE);
    check("POST /api/enter\nhost: localhost:4747\ncookie: COOKIE", Err(Refusal::OriginMissing));
    check("POST /api/enter\nhost: localhost:4747\norigin: http://localhost:4747", Err(Refusal::NoKey));
}

#[test]
fn a_page_may_read_but_not_change_without_an_origin() {
    check("GET /api/health\nhost: localhost:4747\nBROWSER", INSIDE);
    check("HEAD /api/health\nhost: localhost:4747\nBROWSER", INSIDE);
    check("POST /api/project\nhost: localhost:4747\nBROWSER", Err(Refusal::OriginMissing));
    check("DELETE /api/project\nhost: localhost:4747\nBROWSER", Err(Refusal::OriginMissing));
    check("POST /api/project\nhost: localhost:4747\nBROWSER\norigin: http://localhost:4747", INSIDE);
    check("POST /api/project\nhost: localhost:4747\nauthorization: Bearer TOKEN", INSIDE);
}

#[test]
fn a_websocket_wants_an_origin_and_the_page_s_key_or_the_bearer_token() {
    let open = "GET /ws\nhost: localhost:4747\nupgrade: websocket";
    let keyed = "cookie: COOKIE\nsec-websocket-protocol: chartroom, chartroom.key.KEY";
    check(&format!("{open}\n{keyed}"), Err(Refusal::OriginMissing));
    check("GET /ws\nhost: localhost:4747\nBROWSER", Err(Refusal::OriginMissing));
    check(&format!("{open}\nauthorization: Bearer TOKEN"), INSIDE);
    check(&format!("{open}\n{keyed}\norigin: http://localhost:4747"), INSIDE);
    check(&format!("{open}\n{keyed}\norigin: http://evil.example"), Err(Refusal::ForeignOrigin));
    check(&format!("{open}\norigin: http://localhost:4747"), Err(Refusal::NoKey));
    let ours = format!("{open}\ncookie: COOKIE\norigin: http://localhost:4747");
    check(&ours, Err(Refusal::NoPageKey));
    check(&format!("{ours}\nsec-websocket-protocol: chartroom.key.wrong"), Err(Refusal::NoPageKey));
    // An upgrade of anything else is no file of the page.
    check(
        "GET /\nhost: localhost:4747\nupgrade: h2c\ncookie: COOKIE\norigin: http://localhost:4747",
        Err(Refusal::NoPageKey),
    );
}

#[test]
fn what_a_browser_says_about_another_site_is_believed() {
    for site in ["cross-site", "same-site", "nonsense"] {
        let head = format!("GET /api/health\nhost: localhost:4747\nBROWSER\nsec-fetch-site: {site}");
        check(&head, Err(Refusal::ForeignSite));
    }
    for site in ["same-origin", "none"] {
        check(&format!("GET /api/health\nhost: localhost:4747\nBROWSER\nsec-fetch-site: {site}"), INSIDE);
    }
    let link = "host: localhost:4747\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate\nsec-fetch-dest";
    check(&format!("GET /?token=CODE\n{link}: document"), INSIDE);
    check(&format!("GET /\n{link}: document\ncookie: COOKIE"), INSIDE);
    check(&format!("GET /\n{link}: iframe\ncookie: COOKIE"), Err(Refusal::ForeignSite));
    check(&format!("GET /api/health\n{link}: document\nBROWSER"), Err(Refusal::ForeignSite));
}

#[test]
fn a_body_is_json_or_nothing() {
    let post = "POST /api/project\nhost: localhost:4747\nauthorization: Bearer TOKEN\ncontent-length: 2";
    check(post, Err(Refusal::NotJson));
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
    {
        check(&format!("{post}\ncontent-type: {kind}"), Err(Refusal::NotJson));
    }
    check(&format!("{post}\ncontent-type: application/json; charset=utf-8"), INSIDE);
    check(
        "POST /x\nhost: localhost:4747\nauthorization: Bearer TOKEN\ntransfer-encoding: chunked",
        Err(Refusal::NotJson),
    );
    check("POST /x\nhost: localhost:4747\nauthorization: Bearer TOKEN\ncontent-length: 0", INSIDE);
}

#[test]
fn a_bound_name_and_address_are_ours_too() {
    let access = Arc::new(Access::new(Secret::new("t")));
    let guard = Guard::new("192.168.1.5:80".parse().unwrap(), "Box.local", access);
    let hosts = [
        "127.0.0.1",
        "127.0.0.1:80",
        "192.168.1.5",
        "192.168.1.5:80",
        "[::1]",
        "[::1]:80",
        "box.local",
        "box.local:80",
        "localhost",
        "localhost:80",
    ];
    assert_eq!(guard.hosts, hosts);
}
