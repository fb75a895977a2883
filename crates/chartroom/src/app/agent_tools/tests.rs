//! What the agents of sessions are offered, as they ask for it.

use super::*;
use crate::config::Config;
use chartroom_protocol::index::{ManageAction, ManageIndexParams};
use chartroom_transport::Keeper;
use chartroom_workspace::TrustStore;
use chartroom_workspace::gate::SandboxSettings;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

fn session_tools(home: &Path) -> Arc<dyn AgentTools> {
    session_tools_and_index(home, "project").0
}

fn session_tools_and_index(home: &Path, project: &str) -> (Arc<dyn AgentTools>, IndexService) {
    session_tools_in(home, project, SandboxMode::Off)
}

fn session_tools_in(home: &Path, project: &str, agents: SandboxMode) -> (Arc<dyn AgentTools>, IndexService) {
    session_tools_with(home, project, agents, Some(home.to_owned()))
}

fn session_tools_with(
    home: &Path,
    project: &str,
    agents: SandboxMode,
    bridges: Option<PathBuf>,
) -> (Arc<dyn AgentTools>, IndexService) {
    let data = DataFolder::open(&home.join("data")).unwrap();
    let keeper = Keeper { program: "/bin/false".into(), args: Vec::new() };
    let trust = Arc::new(TrustStore::open(data.path()).unwrap());
    let mut sandbox = SandboxSettings::default();
    sandbox.rules.agents = agents;
    // A kernel that can.
    sandbox.support.landlock = Some(6);
    std::fs::create_dir_all(home.join(project)).unwrap();
    trust.trust(&CanonicalRoot::open(home.join(project)).unwrap()).unwrap();
    let gate = SpawnGate::new(keeper, trust, data.path()).with_sandbox(sandbox);
    let config = Config::default();
    let pool = crate::app::language::pool(&config.lsp, &data, &gate, "/bin/false".into());
    let index = crate::app::index::serve(&config, &data, &gate).unwrap();
    let parts = AgentToolsParts {
        services: UsedServices::of(pool),
        index: index.clone(),
        locks: FileLocks::in_folder(data.path().join("locks")),
        program: "/opt/chartroom".into(),
        environment: vec![("CHARTROOM_HOME".into(), "/data".into())],
        gate,
        bridges,
        confined_bridges: Some(home.to_owned()),
    };
    (parts.for_each_session()(&home.join(project)).unwrap(), index)
}

#[tokio::test]
async fn an_agent_lists_and_calls_the_tools_in_process_also_after_a_second_initialize() {
    let home = tempfile::tempdir().unwrap();
    let tools = session_tools(home.path());
    for id in [1, 2] {
        let hello = json!({ "jsonrpc": "2.0", "id": id, "method": "initialize",
            "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
        let answer = tools.mcp_message(SERVER, hello).await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["serverInfo"]["name"]),
            (&json!(id), &json!("chartroom"))
        );
    }
    let gone = tools.mcp_message(SERVER, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(gone.await, None);
    let list = tools.mcp_message(SERVER, json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).await;
    let list = list.unwrap();
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"search_codebase") && !names.contains(&"edit_file"), "{names:?}");
    let call = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call",
        "params": { "name": "list_codebases", "arguments": {} } });
    let answer = tools.mcp_message(SERVER, call).await.unwrap();
    assert_eq!(answer["result"]["structuredContent"]["total"], 0, "{answer}");
    for (method, code) in [("tools/nonsense", -32601), ("tools/call", -32602)] {
        let bad = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": { "name": "nonsense" } });
        assert_eq!(tools.mcp_message(SERVER, bad).await.unwrap()["error"]["code"], code, "{method}");
    }
}

#[tokio::test]
async fn only_tools_that_change_nothing_run_unasked() {
    let home = tempfile::tempdir().unwrap();
    let tools = session_tools(home.path());
    for name in ["lsp_hover", "search_codebase", "file_outline", "call_graph", "read_file", "list_codebases"]
    {
        assert!(
            tools.needs_no_permission(&format!("mcp__chartroom__{name}"), &json!({ "query": "/etc" })),
            "{name}"
        );
    }
    for name in [
        "mcp__chartroom__manage_index",
        "mcp__chartroom__edit_file",
        "mcp__chartroom__rename_symbol",
        "mcp__chartroom__edit_symbol",
        "mcp__chartroom__nonsense",
        "mcp__chartroom2__search_codebase",
        "mcp__other__search_codebase",
        "search_codebase",
        "Bash",
    ] {
        assert!(!tools.needs_no_permission(name, &json!({})), "{name}");
    }
    for (name, input, unasked) in [
        (
            "rename_symbol",
            json!({ "filePath": "a.rs", "symbol": "a", "newName": "/b", "preview": true }),
            true,
        ),
        (
            "rename_symbol",
            json!({ "filePath": "/etc/a.rs", "symbol": "a", "newName": "b", "preview": true }),
            false,
        ),
        (
            "rename_symbol",
            json!({ "filePath": "a.rs", "symbol": "a", "newName": "b", "previewId": "1" }),
            false,
        ),
        ("edit_symbol", json!({ "filePath": "a.rs", "symbol": "a", "action": "delete" }), false),
        ("code_actions", json!({ "filePath": "a.rs", "line": 1 }), true),
        ("code_actions", json!({ "filePath": "a.rs", "line": 1, "apply": "a1" }), false),
    ] {
        let name = format!("mcp__chartroom__{name}");
        assert_eq!(tools.needs_no_permission(&name, &input), unasked, "{name} {input}");
    }
    let inside = home.path().join("project/src/a.rs").display().to_string();
    std::os::unix::fs::symlink("../data", home.path().join("project/link")).unwrap();
    for (path, unasked) in [
        (inside.as_str(), true),
        ("src/a.rs", true),
        ("/etc/passwd", false),
        ("../data", false),
        ("link/a", false),
    ] {
        for input in [json!({ "path": path }), json!({ "at": { "paths": [path] } })] {
            assert_eq!(tools.needs_no_permission("mcp__chartroom__read_file", &input), unasked, "{input}");
        }
    }
}

#[tokio::test]
async fn other_codebases_of_the_user_are_counted_and_not_named() {
    let home = tempfile::tempdir().unwrap();
    let (tools, index) = session_tools_and_index(home.path(), "project");
    for name in ["project", "private"] {
        std::fs::create_dir_all(home.path().join(name)).unwrap();
        let path = home.path().join(name).display().to_string();
        index.finish(index.manage(ManageIndexParams::new(ManageAction::Create, path)).await).await;
    }
    let call = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call",
        "params": { "name": "list_codebases", "arguments": {} } });
    let answer = tools.mcp_message(SERVER, call).await.unwrap();
    assert_eq!(answer["result"]["structuredContent"]["total"], 1, "{answer}");
    let text = answer.to_string();
    assert!(!text.contains("private") && text.contains("1 more are tracked outside"), "{text}");
}

#[tokio::test]
async fn a_codebase_around_the_project_is_not_read_unasked() {
    let home = tempfile::tempdir().unwrap();
    let (tools, index) = session_tools_and_index(home.path(), "around/project");
    let unasked = || {
        ["file_outline", "call_graph", "search_codebase"].map(|name| {
            let input = json!({ "path": ".", "file": "other/secret.py" });
            tools.needs_no_permission(&format!("mcp__chartroom__{name}"), &input)
        })
    };
    assert_eq!(unasked(), [true; 3]);
    let around = home.path().join("around").display().to_string();
    index.finish(index.manage(ManageIndexParams::new(ManageAction::Create, around)).await).await;
    // A search is for what is below its path; the other two take their file from the codebase.
    assert_eq!(unasked(), [false, false, true]);
}

#[tokio::test]
async fn the_tools_read_nothing_for_a_confined_agent_that_it_may_not_read_itself() {
    let home = tempfile::tempdir().unwrap();
    let call = |path: &str| {
        json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call",
            "params": { "name": "read_file", "arguments": { "path": path } } })
    };
    for (mode, path, refused) in [
        (SandboxMode::Strict, "/etc/passwd", true),
        (SandboxMode::Strict, "../data", true),
        (SandboxMode::Strict, "src/a.rs", false),
        (SandboxMode::Workspace, "/etc/passwd", false),
        (SandboxMode::Workspace, "../data", true),
        (SandboxMode::Workspace, "..", true),
        (SandboxMode::Off, "../data", false),
    ] {
        let (tools, _) = session_tools_in(home.path(), "project", mode);
        let answer = tools.mcp_message(SERVER, call(path)).await.unwrap().to_string();
        assert_eq!(answer.contains("this agent's sandbox"), refused, "{mode:?} {path}: {answer}");
    }
}

/// What an agent has when it has started the program that it was named.
struct Connected {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Connected {
    async fn to(server: &Value, key: &Value) -> Self {
        let stream = tokio::net::UnixStream::connect(server["args"][2].as_str().unwrap()).await.unwrap();
        let (read, write) = stream.into_split();
        let mut connected = Self { lines: BufReader::new(read).lines(), write };
        connected.say(key).await;
        connected
    }

    /// The other end may have hung up.
    async fn say(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.ok();
    }

    async fn hear(&mut self) -> Option<Value> {
        self.lines.next_line().await.ok()?.and_then(|line| serde_json::from_str(&line).ok())
    }

    async fn ask(&mut self, message: &Value) -> Option<Value> {
        self.say(message).await;
        self.hear().await
    }
}

fn tools_list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

#[tokio::test]
async fn an_acp_agent_comes_to_its_tools_by_a_socket_and_a_key() {
    let home = tempfile::tempdir().unwrap();
    for (mode, edits) in [(SandboxMode::Strict, false), (SandboxMode::Off, true)] {
        let (tools, _) = session_tools_in(home.path(), "project", mode);
        let [server] = <[Value; 1]>::try_from(tools.acp_mcp_servers()).unwrap();
        assert_eq!(tools.acp_mcp_servers(), std::slice::from_ref(&server), "one socket a session");
        // Nothing of our data is named in there.
        assert_eq!((&server["command"], &server["args"][1]), (&json!("/opt/chartroom"), &json!("--bridge")));
        assert_eq!(server["env"].as_array().unwrap().len(), 1);
        let key = server["env"][0]["value"].clone();
        let mut agent = Connected::to(&server, &key).await;
        let listed = agent.ask(&tools_list()).await.unwrap().to_string();
        assert!(listed.contains("search_codebase"), "{listed}");
        assert_eq!(listed.contains("edit_file"), edits, "{mode:?}: {listed}");
        let read = agent.ask(&call("read_file", json!({ "path": "/etc/passwd" }))).await.unwrap();
        assert_eq!(read.to_string().contains("sandbox is strict"), mode == SandboxMode::Strict, "{read}");
        for wrong in [json!("no key"), json!(null), tools_list()] {
            let mut stranger = Connected::to(&server, &wrong).await;
            assert_eq!(stranger.ask(&tools_list()).await, None, "{wrong}");
        }
        // It ends with the session, for those inside too.
        drop(tools);
        assert_eq!(agent.hear().await, None);
        assert!(!Path::new(server["args"][2].as_str().unwrap()).exists());
    }
}

#[tokio::test]
async fn the_person_of_an_acp_agent_is_asked_over_its_connection() {
    let home = tempfile::tempdir().unwrap();
    let tools = session_tools(home.path());
    let [server] = <[Value; 1]>::try_from(tools.acp_mcp_servers()).unwrap();
    let hook = home.path().join("project/.git/hooks/pre-commit");
    let write = call("write_file", json!({ "filePath": ".git/hooks/pre-commit", "content": "true" }));
    let hello = |capabilities: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": { "name": "x", "version": "1" } } })
    };
    for (capabilities, answer, written) in [
        (json!({}), None, false),
        (json!({ "elicitation": {} }), Some(json!({ "result": { "action": "decline" } })), false),
        (json!({ "elicitation": {} }), Some(json!({ "error": { "code": 1, "message": "no" } })), false),
        (json!({ "elicitation": {} }), Some(json!({ "result": { "action": "accept" } })), true),
    ] {
        let mut agent = Connected::to(&server, &server["env"][0]["value"]).await;
        agent.ask(&hello(capabilities)).await.unwrap();
        let mut heard = agent.ask(&write).await.unwrap();
        if let Some(mut answer) = answer {
            assert_eq!(heard["method"], "elicitation/create", "{heard}");
            assert!(heard["params"]["message"].as_str().unwrap().contains("pre-commit"), "{heard}");
            // Others are answered meanwhile, and nobody else's word counts.
            assert!(agent.ask(&tools_list()).await.unwrap().to_string().contains("edit_file"));
            agent.say(&json!({ "jsonrpc": "2.0", "id": "other", "result": { "action": "accept" } })).await;
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = heard["id"].clone();
            heard = agent.ask(&answer).await.unwrap();
        }
        assert_eq!((heard["result"]["isError"] != true, hook.exists()), (written, written), "{heard}");
    }
}

#[tokio::test]
async fn an_acp_agent_without_a_socket_starts_our_program_with_this_servers_data() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().canonicalize().unwrap().join("project");
    let server = json!({ "name": "chartroom", "command": "/opt/chartroom", "args": ["mcp", "--root", project],
        "env": [{ "name": "CHARTROOM_HOME", "value": "/data" }] });
    // The second has no room for the name of a socket.
    for bridges in [None, Some(home.path().join("long/".repeat(30)))] {
        let (tools, _) = session_tools_with(home.path(), "project", SandboxMode::Off, bridges);
        assert_eq!(tools.acp_mcp_servers(), std::slice::from_ref(&server));
    }
}
