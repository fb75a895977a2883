//! A workbench, two MCP servers and the command line on one data folder, all at work at once: no update is lost, nobody
//! fails another's run, nobody waits for ever.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chartroom_search::sqlite::SqliteStore;
use program::{Home, Server, finish};
use serde_json::{Value, json};
use stdio::McpClient;

const TOKEN: &str = "0123456789abcdef-of-this-test";
/// Folders that each of the four creates for itself while the others are at work.
const OWN: usize = 4;
const ROUNDS: usize = 6;

fn write_project(folder: &Path, files: usize, round: usize) {
    std::fs::create_dir_all(folder).unwrap();
    for file in 0..files {
        let mut text = String::new();
        for function in 0..12 {
            text.push_str(&format!(
                "def function_{file}_{function}(value):\n    return value + {round}{file}{function}\n\n\n"
            ));
        }
        std::fs::write(folder.join(format!("module_{file}.py")), text).unwrap();
    }
}

/// Somebody who can call `manage_index`, `search_codebase` and `list_codebases`.
trait Client: Send {
    fn call(&mut self, tool: &str, arguments: Value) -> Value;

    fn manage(&mut self, action: &str, path: &Path) -> Value {
        self.call("manage_index", json!({"action": action, "path": path.to_str().unwrap()}))
    }
}

struct Http<'a>(&'a Server);

impl Client for Http<'_> {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let (method, path) = match tool {
            "manage_index" => ("POST", "/api/index/manage"),
            "search_codebase" => ("POST", "/api/index/search"),
            "list_codebases" => ("GET", "/api/index"),
            other => panic!("{other} is not asked here"),
        };
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = if method == "GET" { String::new() } else { arguments.to_string() };
        let answer = self.0.request(method, path, &headers, &body);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{tool} {arguments}: {answer}");
        serde_json::from_str(body).unwrap()
    }
}

impl Client for McpClient {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut arguments = arguments;
        if tool == "search_codebase" {
            arguments["detail"] = "full".into();
        }
        let answer = self.tool(tool, arguments.clone());
        assert_ne!(answer["isError"], true, "{tool} {arguments}: {answer}");
        answer["structuredContent"].clone()
    }
}

struct Cli<'a>(&'a Home);

impl Client for Cli<'_> {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let text = |name: &str| arguments[name].as_str().unwrap().to_owned();
        let args: Vec<String> = match tool {
            "manage_index" => vec!["index".into(), text("action"), text("path")],
            "search_codebase" => vec!["search".into(), text("query"), "--path".into(), text("path")],
            "list_codebases" => vec!["index".into(), "list".into()],
            other => panic!("{other} is not asked here"),
        };
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--json"]).collect();
        let (code, stdout, stderr) = finish(self.0.command(&args).output().unwrap());
        assert!(code == 0 || code == 1, "{args:?}: {code} {stdout} {stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {stdout} {stderr}"))
    }
}

/// What may be answered while others are at work: done, or who is at it.
#[track_caller]
fn check(who: &str, action: &str, answer: &Value) {
    let (status, reason) = (answer["status"].as_str().unwrap(), answer["reason"].as_str());
    let legal = matches!(
        (status, reason),
        ("ok", None | Some("preflight_unknown"))
            | ("blocked", Some("mutation_in_progress"))
            | ("not_ready", Some("indexing"))
    ) || (action == "create" && status == "blocked" && reason.is_none());
    assert!(legal, "{who} {action}: {answer}");
    let phase = answer["operation"]["phase"].as_str().unwrap_or_default();
    assert!(!matches!(phase, "failed" | "cancelled"), "{who} {action}: somebody's run failed: {answer}");
}

/// Asks until it is done; others' work is waited for.
fn insist(who: &str, client: &mut dyn Client, action: &str, path: &Path) {
    for _ in 0..600 {
        let answer = client.manage(action, path);
        check(who, action, &answer);
        if answer["status"] == "ok" {
            return;
        }
        if action == "create" && answer["status"] == "blocked" && answer["reason"].is_null() {
            return;
        }
        #[allow(clippy::disallowed_methods, reason = "another process's work gives no signal")]
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{who}: {action} of {} was never let", path.display());
}

/// What one of the four does: its own folders come and go, and the shared ones are synced, rebuilt and searched.
fn work(who: &'static str, client: &mut dyn Client, base: &Path, shared: &[PathBuf]) -> Vec<PathBuf> {
    let own: Vec<PathBuf> = (0..OWN).map(|number| base.join(format!("{who}-{number}"))).collect();
    for folder in &own {
        write_project(folder, 2, 0);
        insist(who, client, "create", folder);
    }
    for round in 0..ROUNDS {
        for (at, folder) in shared.iter().enumerate() {
            let action = if (round + at) % 3 == 0 { "reindex" } else { "sync" };
            write_project(folder, 3, round);
            check(who, action, &client.manage(action, folder));
            let found = client
                .call("search_codebase", json!({"path": folder.to_str().unwrap(), "query": "function_0_0"}));
            assert_eq!(found["status"], "ok", "{who}: the shared index always answers: {found}");
            assert!(!found["results"].as_array().unwrap().is_empty(), "{who}: {found}");
        }
        let listed = client.call("list_codebases", json!({}));
        let paths: Vec<&str> = listed["codebases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["path"].as_str().unwrap())
            .collect();
        for folder in own.iter().chain(shared) {
            assert!(
                paths.contains(&folder.to_str().unwrap()),
                "{who}: {} is lost: {listed}",
                folder.display()
            );
        }
    }
    // The first of its own goes again.
    insist(who, client, "clear", &own[0]);
    own[1..].to_vec()
}

#[test]
fn a_workbench_two_mcp_servers_and_a_command_line_lose_nothing_and_fail_nobody() {
    let home = Home::new();
    let base = home.path().join("work");
    let shared = [base.join("shared-a"), base.join("shared-b")];
    let mut cli = Cli(&home);
    for folder in &shared {
        write_project(folder, 40, 0);
        assert_eq!(cli.manage("create", folder)["status"], "ok");
    }
    let mut command = home.command(&["serve", "--port", "0"]);
    command.env("CHARTROOM_TOKEN", TOKEN);
    let server = Server::start(command);
    let mcp = || {
        let mut command = home.command(&["mcp", "--only", "index"]);
        command.current_dir(&base);
        McpClient::start(command)
    };
    let (mut first, mut second, mut http) = (mcp(), mcp(), Http(&server));
    let kept = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let clients: [(&'static str, &mut dyn Client); 4] =
            [("workbench", &mut http), ("first", &mut first), ("second", &mut second), ("command", &mut cli)];
        for (who, client) in clients {
            let (kept, base, shared) = (&kept, &base, &shared);
            scope.spawn(move || {
                let own = work(who, client, base, shared);
                kept.lock().unwrap().extend(own);
            });
        }
    });

    // Everything that was accepted is there, and nothing else.
    let mut expected: Vec<String> =
        kept.into_inner().unwrap().iter().chain(&shared).map(|path| path.display().to_string()).collect();
    expected.sort();
    for folder in &expected {
        insist("the end", &mut cli, "sync", Path::new(folder));
    }
    let listed = cli.call("list_codebases", json!({}));
    let mut ready: Vec<String> = Vec::new();
    for entry in listed["codebases"].as_array().unwrap() {
        assert_eq!(entry["bucket"], "ready", "{entry}");
        ready.push(entry["path"].as_str().unwrap().to_owned());
    }
    ready.sort();
    assert_eq!(ready, expected);

    // And each is exactly what a data folder of its own would hold.
    let fresh = tempfile::tempdir().unwrap();
    for folder in &expected {
        let mut create = home.command(&["index", "create", folder]);
        assert!(create.env("CHARTROOM_HOME", fresh.path()).output().unwrap().status.success());
        let digests = |data: &Path| SqliteStore::open(data).unwrap().file_digests(folder).unwrap();
        assert_eq!(digests(&home.data()), digests(fresh.path()), "{folder}");
    }
}
