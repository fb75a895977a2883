//! The real agents in each mode of the sandbox: a key that is read, a profile that is written, a port that is reached,
//! and what the person is shown of it.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]

#[path = "common/story.rs"]
mod story;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

use chartroom_testkit::project::Project;
use serde_json::{Value, json};
use story::{Place, Server};

/// A home that is not below /tmp, which every sandbox may write, with a secret in it.
struct Home {
    place: Place,
    folder: tempfile::TempDir,
    scratch: Project,
    /// Somebody's server on this machine.
    port: u16,
}

impl Home {
    async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                // Its whole head is read: a reset would take the answer away.
                BufReader::new(&socket).lines().map_while(Result::ok).find(String::is_empty);
                socket
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")
                    .unwrap();
            }
        });
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (place, scratch) = (Place::new().await, Project::new(""));
        let home = Self { place, folder, scratch, port };
        for (name, text) in [(".ssh/id_x", "PRIVATE-KEY"), (".bashrc", "# old\n")] {
            std::fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
            std::fs::write(home.path(name), text).unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Starts a server whose agents have this home and this sandbox.
    async fn serve(&self, sandbox: &str) -> Server {
        let home = self.folder.path().canonicalize().unwrap();
        let codex = self.place.home.path(".codex/config.toml");
        std::fs::create_dir_all(home.join(".codex")).unwrap();
        std::fs::copy(codex, home.join(".codex/config.toml")).unwrap();
        let old = self.place.home.root().display().to_string();
        let config = self.place.config(0).replace(&old, &home.display().to_string());
        let variables = [("HOME", home.to_str().unwrap()), ("TMPDIR", self.scratch.root().to_str().unwrap())];
        Server::start_with(&self.place, &format!("{config}\n{sandbox}"), &variables).await
    }

    /// Codex names its model in a file of its own, which we do not read: the port is the user's to allow.
    fn model_port(&self) -> u16 {
        let url = self.place.api.openai_url();
        url.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap()
    }

    /// What an agent is asked to run; each part prints a word when it comes off.
    fn attempts(&self) -> String {
        let (key, profile, port) = (self.path(".ssh/id_x"), self.path(".bashrc"), self.port);
        format!(
            "cat {}; echo; echo new > {} && echo WRITTEN; curl -sS --max-time 20 http://127.0.0.1:{port}/ && echo REACHED; echo inside > made.txt && echo end",
            key.display(),
            profile.display()
        )
    }
}

/// The last finished tool call of a history.
fn tool(history: &Value) -> Value {
    let entries = history["entries"].as_array().unwrap();
    entries.iter().rfind(|entry| entry["type"] == "tool_call").unwrap_or_else(|| panic!("{history}")).clone()
}

/// Runs the attempts with Claude; returns what the tool said and what the person is told about the sandbox.
async fn claude(home: &Home, sandbox: &str) -> (String, String) {
    let server = home.serve(sandbox).await;
    let mut browser = server.create("claude-code", Some("bypassPermissions")).await;
    let call = json!({"command": home.attempts(), "description": "d"});
    browser.send(&server, &format!("[[tool:Bash:{call}]]")).await;
    browser.until_idle().await;
    let tool = tool(&server.get(&browser.path("history")).await);
    server.stop().await;
    let said = tool["toolOutput"].as_str().unwrap().to_owned();
    assert!(said.contains("end"), "{said}");
    assert_eq!(home.place.project.read("made.txt"), "inside\n");
    (said, tool["detail"]["sandbox"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn without_a_sandbox_claude_does_what_its_user_may() {
    let home = Home::new().await;
    let (said, told) = claude(&home, "").await;
    assert!(said.contains("PRIVATE-KEY") && said.contains("WRITTEN") && said.contains("REACHED"), "{said}");
    assert_eq!(std::fs::read_to_string(home.path(".bashrc")).unwrap(), "new\n");
    assert_eq!(told, "");
}

#[tokio::test]
async fn in_workspace_claude_reads_no_key_and_writes_no_profile_and_the_person_is_told() {
    for tool in ["landlock", "bubblewrap"] {
        let home = Home::new().await;
        let (said, told) =
            claude(&home, &format!("[sandbox]\nagents = \"workspace\"\ntool = \"{tool}\"\n")).await;
        assert!(!said.contains("PRIVATE-KEY") && !said.contains("WRITTEN"), "{tool}: {said}");
        assert!(said.contains("REACHED"), "{tool}: {said}");
        assert_eq!(std::fs::read_to_string(home.path(".bashrc")).unwrap(), "# old\n");
        let (key, profile) = (home.path(".ssh/id_x"), home.path(".bashrc"));
        assert!(told.contains(&format!("read {}", key.display())), "{tool}: {told} {said}");
        assert!(told.contains(&format!("write {}", profile.display())), "{tool}: {told} {said}");
    }
}

#[tokio::test]
async fn in_strict_claude_reaches_its_model_and_nothing_else() {
    for tool in ["landlock", "bubblewrap"] {
        let home = Home::new().await;
        let (said, told) =
            claude(&home, &format!("[sandbox]\nagents = \"strict\"\ntool = \"{tool}\"\n")).await;
        assert!(!said.contains("PRIVATE-KEY") && !said.contains("WRITTEN"), "{tool}: {said}");
        assert!(!said.contains("REACHED"), "{tool}: {said}");
        assert!(told.contains(&format!("connect to port {}", home.port)), "{tool}: {told} {said}");
        assert_eq!(std::fs::read_to_string(home.path(".bashrc")).unwrap(), "# old\n");
    }
}

#[tokio::test]
async fn the_project_says_which_sandbox_its_agents_have() {
    let home = Home::new().await;
    let project = home.place.project.root().display().to_string();
    let sandbox = format!("[sandbox.projects.\"{project}\"]\nagents = \"strict\"\n");
    let server = home.serve(&sandbox).await;
    let projects = server.get("/api/project").await;
    assert_eq!(projects["projects"][0]["sandbox"], "strict (landlock)", "{projects}");
    server.stop().await;
}

#[tokio::test]
async fn codex_is_kept_from_the_same_without_a_sandbox_of_its_own() {
    for mode in ["workspace", "strict"] {
        let home = Home::new().await;
        let sandbox = format!("[sandbox]\nagents = \"{mode}\"\nnetwork = [{}]\n", home.model_port());
        let server = home.serve(&sandbox).await;
        let mut browser = server.create("codex", Some("full-access")).await;
        let call = json!({"cmd": home.attempts()});
        browser.send(&server, &format!("[[tool:exec_command:{call}]]")).await;
        browser.until_idle().await;
        let tool = tool(&server.get(&browser.path("history")).await);
        server.stop().await;
        let said = tool["toolOutput"].as_str().unwrap();
        assert!(said.contains("end") && home.place.project.read("made.txt") == "inside\n", "{mode}: {said}");
        for word in ["PRIVATE-KEY", "WRITTEN", "REACHED"] {
            assert!(!said.contains(word), "{mode}: {said}");
        }
        let told = tool["detail"]["sandbox"].as_str().unwrap_or_default();
        let key = home.path(".ssh/id_x").display().to_string();
        assert!(
            told.contains("does not let this agent read") && told.contains(&key),
            "{mode}: {told} {said}"
        );
        assert_eq!(std::fs::read_to_string(home.path(".bashrc")).unwrap(), "# old\n");
    }
}

#[tokio::test]
async fn a_confined_codex_has_the_tools_of_its_session() {
    for (mode, tool_of) in [
        ("workspace", "landlock"),
        ("strict", "landlock"),
        ("workspace", "bubblewrap"),
        ("strict", "bubblewrap"),
    ] {
        let home = Home::new().await;
        let network = home.model_port();
        let sandbox =
            format!("[sandbox]\nagents = \"{mode}\"\ntool = \"{tool_of}\"\nnetwork = [{network}]\n");
        let server = home.serve(&sandbox).await;
        let mut browser = server.create("codex", Some("full-access")).await;
        let outside = json!({ "path": home.path(".bashrc") });
        let refused = if mode == "strict" { "sandbox is strict" } else { "not inside a tracked codebase" };
        for (name, call, expected) in
            [("list_codebases", json!({}), "No codebases"), ("read_file", outside, refused)]
        {
            browser.send(&server, &format!("[[tool:mcp__chartroom/{name}:{call}]]")).await;
            browser.until_idle().await;
            let tool = tool(&server.get(&browser.path("history")).await);
            let said = tool["toolOutput"].as_str().unwrap_or_default();
            assert!(said.contains(expected), "{mode} {tool_of} {name}: {tool}");
        }
        server.stop().await;
    }
}
