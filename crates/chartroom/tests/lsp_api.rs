//! `/api/lsp/{project}/…` of a real server, beside an agent that uses the same language service.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/agent.rs"]
mod agent;
#[path = "common/program.rs"]
mod program;

use agent::{Scene, created};
use program::{Server, processes_of, wait_until};
use serde_json::{Value, json};

const TOKEN: &str = "0123456789abcdef";

/// A server whose one project is the scene's folder.
struct Api {
    server: Server,
    project_id: String,
}

impl Api {
    fn start(scene: &Scene) -> Self {
        let mut command = scene.command(&["serve", "--port", "0", "shop"]);
        command.env("CHARTROOM_TOKEN", TOKEN);
        let server = Server::start(command);
        let mut api = Self { server, project_id: String::new() };
        let (status, projects) = api.ask("GET", "/api/project", &Value::Null);
        assert_eq!(status, 200, "{projects}");
        api.project_id = projects["projects"][0]["projectId"].as_str().unwrap().to_owned();
        api
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let mut headers = vec![("authorization", bearer.as_str())];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        let answer = self.server.request(method, path, &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    fn status(&self) -> Value {
        let (status, body) = self.ask("GET", &format!("/api/lsp/{}/status", self.project_id), &Value::Null);
        assert_eq!(status, 200, "{body}");
        body
    }

    fn restart(&self, body: &Value) -> (u16, Value) {
        self.ask("POST", &format!("/api/lsp/{}/restart", self.project_id), body)
    }

    fn row(&self) -> Value {
        row(&self.status())
    }
}

fn row(status: &Value) -> Value {
    let rows = status["servers"].as_array().unwrap_or_else(|| panic!("{status}"));
    rows.iter().find(|row| row["id"] == "good").unwrap().clone()
}

#[test]
fn a_trusted_project_lists_every_known_server_by_id_and_starts_none() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    let status = api.status();
    assert_eq!(status["root"], scene.shop().display().to_string());
    assert_eq!(status.get("unavailable"), None);
    let ids: Vec<&str> =
        status["servers"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for id in ["eslint", "good", "gopls", "pyright", "rust-analyzer", "typescript"] {
        assert!(ids.contains(&id), "{id} is not in {ids:?}");
    }
    let row = row(&status);
    assert_eq!(row["status"], "idle");
    assert_eq!(row["reason"], "it starts with the first file of its language");
    assert_eq!(row.get("serverPid"), None);
    assert_eq!(scene.servers(), Vec::<u32>::new());
    // Nothing runs, so that there is nothing to restart; that is no error.
    let (code, body) = api.restart(&json!({}));
    assert_eq!((code, &body["servers"]), (200, &status["servers"]));
    assert_eq!(api.server.stop().0, 0);
    wait_until("everything ends with the server", || processes_of(&scene.home.path()).is_empty());
    assert_eq!(scene.traces(), Vec::<String>::new());
}

#[test]
fn the_servers_of_a_projects_languages_are_those_of_its_files() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    let servers = || {
        let path = format!("/api/lsp/{}/languages", api.project_id);
        let (code, body) = api.ask("GET", &path, &Value::Null);
        assert_eq!(code, 200, "{body}");
        body["servers"].clone()
    };
    std::fs::write(scene.shop().join("main.go"), "package main\n").unwrap();
    let before = servers();
    let has = |servers: &Value, id: &str| servers.as_array().unwrap().contains(&json!(id));
    assert!(has(&before, "gopls") && !has(&before, "pyright"), "{before}");
    std::fs::write(scene.shop().join("main.py"), "x = 1\n").unwrap();
    assert!(has(&servers(), "pyright"), "what came is seen");
    assert_eq!(scene.servers(), Vec::<u32>::new(), "nothing is started for it");
}

#[test]
fn an_untrusted_project_says_so_and_what_mends_it() {
    let scene = Scene::new("good");
    let api = Api::start(&scene);
    let row = api.row();
    assert_eq!(row["status"], "untrusted");
    assert_eq!(row["hint"], format!("chartroom trust {}", scene.shop().display()));
    let (code, body) = api.restart(&json!({ "id": "good" }));
    assert_eq!((code, &body["servers"]), (200, &api.status()["servers"]));
    assert_eq!(scene.servers(), Vec::<u32>::new());
}

#[test]
fn an_unknown_project_and_an_unknown_server_are_not_found() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    for (method, path, body) in [
        ("GET", "/api/lsp/nobody/status".to_owned(), Value::Null),
        ("POST", "/api/lsp/nobody/restart".to_owned(), json!({})),
        ("POST", format!("/api/lsp/{}/restart", api.project_id), json!({ "id": "nonsense" })),
    ] {
        let (code, answer) = api.ask(method, &path, &body);
        assert_eq!((code, &answer["error"]["code"]), (404, &json!("NOT_FOUND")), "{path}: {answer}");
    }
    let (code, answer) = api.restart(&json!({ "command": "rm" }));
    assert_eq!(code, 400, "a request cannot name a command: {answer}");
    assert_eq!(scene.servers(), Vec::<u32>::new());
}

#[test]
fn a_restart_ends_the_server_that_an_agent_uses_and_the_next_touch_starts_another() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    let mut agent = scene.agent();
    assert!(agent.write("a.foo", "ERR one\n").starts_with(&created("a.foo", "one")));
    let before = api.row();
    assert_eq!((&before["status"], &before["freshness"]), (&json!("active"), &json!("current")));
    assert_eq!(json!(scene.servers()), json!([before["serverPid"]]), "the one that the agent uses");
    assert!(before["rssBytes"].as_u64().unwrap() > 0 && before["uptimeMs"].as_u64().is_some(), "{before}");
    let (code, body) = api.restart(&json!({ "id": "good" }));
    assert_eq!((code, row(&body).get("serverPid")), (200, None), "{body}");
    wait_until("the server ends", || scene.servers().is_empty());
    assert!(agent.write("b.foo", "ERR two\n").starts_with(&created("b.foo", "two")));
    let after = api.row();
    assert_eq!(json!(scene.servers()), json!([after["serverPid"]]));
    assert_ne!(after["serverPid"], before["serverPid"]);
    assert_eq!(agent.leave().0, 0);
    assert_eq!(api.server.stop().0, 0);
    wait_until("everything ends", || processes_of(&scene.home.path()).is_empty());
    assert_eq!(scene.traces(), Vec::<String>::new());
}

#[test]
fn a_person_starts_a_server_before_anything_needs_it_and_an_untrusted_one_not() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    assert_eq!(api.row()["status"], "idle");
    let start = |body: &Value| api.ask("POST", &format!("/api/lsp/{}/start", api.project_id), body);
    let (code, body) = start(&json!({ "id": "good" }));
    assert_eq!((code, &row(&body)["status"]), (200, &json!("active")), "{body}");
    assert_eq!(json!(scene.servers()), json!([row(&body)["serverPid"]]));
    for body in [json!({ "id": "nonsense" }), json!({})] {
        assert_eq!(start(&body).0, 404, "{body}");
    }
    let untrusted = Scene::new("good");
    let api = Api::start(&untrusted);
    let (_, body) = api.ask("POST", &format!("/api/lsp/{}/start", api.project_id), &json!({ "id": "good" }));
    assert_eq!(row(&body)["status"], "untrusted", "{body}");
    assert_eq!(untrusted.servers(), Vec::<u32>::new());
}

#[test]
fn a_service_that_was_killed_is_told_of_and_starts_again_by_a_restart() {
    let scene = Scene::trusted("good");
    let api = Api::start(&scene);
    assert_eq!(api.row()["status"], "idle");
    let service = scene.processes("lsp-service");
    assert_eq!(service.len(), 1);
    let pid = rustix::process::Pid::from_raw(i32::try_from(service[0]).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait_until("the service ends", || scene.processes("lsp-service").is_empty());
    wait_until("its end is told", || {
        let status = api.status();
        status["unavailable"].as_str().is_some_and(|why| why.starts_with("LSP unavailable: the service"))
    });
    let (code, body) = api.restart(&json!({}));
    assert_eq!((code, body.get("unavailable")), (200, None), "{body}");
    assert_ne!(scene.processes("lsp-service"), service);
}
