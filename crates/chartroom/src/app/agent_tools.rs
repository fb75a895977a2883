//! What an agent that is started here has without set-up: diagnostics, navigation and the code index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use chartroom_edits::FileLocks;
use chartroom_index::IndexService;
use chartroom_lsp::LspHandle;
use chartroom_providers::agent_tools::{AgentTools, AgentToolsFor, ToolUse};
use chartroom_workspace::gate::{SandboxMode, SandboxState};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, boundary};
use serde_json::{Value, json};

use super::bridge::Bridge;
use super::language::UsedServices;
use crate::after_edit::{self, Mutation};
use crate::data::DataFolder;
use crate::mcp::{ToolServer, Toolbox};

/// The name under which an agent knows the tools.
const SERVER: &str = "chartroom";
/// Set for every agent that is started here, so that a hook which the user installed for agents elsewhere stays silent:
/// the diagnostics would come twice.
pub(crate) const AGENT_MARK: &str = "CHARTROOM_AGENT";

/// What the tools are made of.
#[derive(Clone)]
pub(super) struct AgentToolsParts {
    pub(super) services: UsedServices,
    pub(super) index: IndexService,
    /// What everybody holds who changes a file.
    pub(super) locks: FileLocks,
    /// Our own program, for agents that start their MCP servers themselves.
    pub(super) program: PathBuf,
    /// What that program needs to find this server's data and config.
    pub(super) environment: Vec<(String, String)>,
    /// Knows in which sandbox an agent runs.
    pub(super) gate: SpawnGate,
    /// Where confined agents find their tools; without it those that start MCP servers themselves have none.
    pub(super) bridges: Option<PathBuf>,
}

impl AgentToolsParts {
    /// Returns what the providers call for each new session.
    pub(super) fn for_each_session(self) -> AgentToolsFor {
        Arc::new(move |folder: &Path| {
            let root = CanonicalRoot::open(folder).ok()?;
            let lsp = self.services.service(&root);
            // It starts while the agent does, which asks for the tools before it says its first word.
            let starting = lsp.clone();
            tokio::spawn(async move { starting.start().await });
            let tools = Toolbox::for_agents(&root, &self.gate, lsp.clone(), &self.locks, self.index.clone());
            let own_server = json!({
                "name": SERVER,
                "command": self.program,
                "args": ["mcp", "--root", root.as_path()],
                "env": self.environment.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
            });
            let sandbox = match self.gate.sandbox_state(&root, ChildKind::Agent, SERVER) {
                SandboxState::InForce { mode, .. } => mode,
                SandboxState::Off | SandboxState::OffBecause(_) | SandboxState::Refused(_) => {
                    SandboxMode::Off
                }
            };
            let tools = ToolServer::new(Arc::new(tools));
            let (index, gate) = (self.index.clone(), self.gate.clone());
            let answers = Arc::new(Answers { root, tools, index, gate, sandbox });
            let (own_server, bridge) = match (sandbox, &self.bridges) {
                (SandboxMode::Off, _) => (Some(own_server), None),
                (_, None) => (None, None),
                (_, Some(folder)) => match Bridge::open(folder, answers.clone()) {
                    Ok(bridge) => (Some(bridge.server(SERVER, &self.program)), Some(bridge)),
                    Err(error) => {
                        tracing::warn!(%error, "an agent in a sandbox is without tools of ours");
                        (None, None)
                    }
                },
            };
            Some(Arc::new(SessionTools { answers, lsp, own_server, _bridge: bridge }))
        })
    }
}

/// What one session has.
struct SessionTools {
    answers: Arc<Answers>,
    lsp: LspHandle,
    /// How an agent that starts its MCP servers itself comes to the tools.
    own_server: Option<Value>,
    _bridge: Option<Bridge>,
}

/// Answers what an agent asks of the tools of its session.
pub(super) struct Answers {
    root: CanonicalRoot,
    tools: ToolServer,
    index: IndexService,
    gate: SpawnGate,
    sandbox: SandboxMode,
}

impl Answers {
    /// Answers one message of MCP; nothing for a notification.
    pub(super) async fn answer(&self, message: Value) -> Option<Value> {
        if message["method"] == "tools/call"
            && let Some(text) = self.refusal(&message)
        {
            let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
            return Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        self.tools.answer(message).await
    }

    /// Says why a call is not answered: the tools run here, outside of the agent's sandbox, and must not read for it what it
    /// may not read itself.
    fn refusal(&self, message: &Value) -> Option<&'static str> {
        let tool = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
        let input = message.pointer("/params/arguments")?;
        match self.sandbox {
            SandboxMode::Off => None,
            SandboxMode::Workspace => (!paths_are(input, &|path| self.is_seen(path)))
                .then_some("this agent's sandbox hides that path, or there is none"),
            SandboxMode::Strict => (!stays_inside(&self.root, input) || !self.codebase_is_own(tool, input))
                .then_some("this agent's sandbox is strict: the tools see its own project only"),
        }
    }

    /// Whether an agent in *workspace* may read a path with all below it: to index a home would be to read its keys.
    fn is_seen(&self, path: &str) -> bool {
        boundary::inside(&self.root, Path::new(path)).is_ok()
            || (self.root.as_path().join(path).canonicalize())
                .is_ok_and(|real| !self.gate.hides(&self.root, &real))
    }

    /// Tells whether what a tool says of a codebase is of this project alone. A codebase may be a folder around it, and
    /// these two tools take their file from there.
    fn codebase_is_own(&self, tool: &str, input: &Value) -> bool {
        if !["file_outline", "call_graph"].contains(&tool) {
            return true;
        }
        let path = input.get("path").and_then(Value::as_str).unwrap_or_default();
        let codebase = self.index.codebase_of(&self.root.as_path().join(path));
        codebase.is_none_or(|codebase| boundary::is_inside(&self.root, &codebase))
    }
}

#[async_trait]
impl AgentTools for SessionTools {
    fn mcp_servers(&self) -> Vec<String> {
        vec![SERVER.to_owned()]
    }

    async fn mcp_message(&self, _server: &str, message: Value) -> Option<Value> {
        self.answers.answer(message).await
    }

    async fn after_tool(&self, use_of_tool: ToolUse) -> Option<String> {
        Mutation::read(&use_of_tool.tool_name, &use_of_tool.input)?.diagnostics(&self.lsp).await
    }

    fn after_tools(&self) -> String {
        after_edit::TOOLS.to_owned()
    }

    fn needs_no_permission(&self, tool_name: &str, input: &Value) -> bool {
        let name = tool_name.strip_prefix("mcp__").and_then(|name| name.strip_prefix(SERVER));
        name.and_then(|name| name.strip_prefix("__")).is_some_and(|name| {
            let Answers { root, .. } = &*self.answers;
            Toolbox::only_reads(name, input)
                && stays_inside(root, input)
                && self.answers.codebase_is_own(name, input)
        })
    }

    fn acp_mcp_servers(&self) -> Vec<Value> {
        self.own_server.iter().cloned().collect()
    }
}

/// Tells whether every path in a tool's arguments is in the agent's own project: the index may hold others of the user's,
/// and those are not read without asking.
fn stays_inside(root: &CanonicalRoot, input: &Value) -> bool {
    // A relative one as well: a link of the project's may lead anywhere.
    paths_are(input, &|path| boundary::inside(root, Path::new(path)).is_ok())
}

/// Tells whether every text in a tool's arguments that may be a path is as it should be.
fn paths_are(input: &Value, fine: &dyn Fn(&str) -> bool) -> bool {
    let words = |key: &str| ["query", "symbol", "newName", "text", "kind", "apply"].contains(&key);
    match input {
        Value::Object(object) => {
            object.iter().all(|(key, value)| words(key) && value.is_string() || paths_are(value, fine))
        }
        Value::Array(values) => values.iter().all(|value| paths_are(value, fine)),
        Value::String(text) => fine(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Returns the variables that make our own program use this server's data and config.
pub(super) fn environment(data: &DataFolder) -> Vec<(String, String)> {
    let config = crate::config::default_path().map(|path| ("CHARTROOM_CONFIG", path));
    [("CHARTROOM_HOME", data.path().to_owned())]
        .into_iter()
        .chain(config.filter(|(_, path)| path.is_file()))
        .map(|(name, path)| (name.to_owned(), path.display().to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use chartroom_protocol::index::{ManageAction, ManageIndexParams};
    use chartroom_transport::Keeper;
    use chartroom_workspace::TrustStore;
    use chartroom_workspace::gate::SandboxSettings;

    fn session_tools(home: &Path) -> Arc<dyn AgentTools> {
        session_tools_and_index(home, "project").0
    }

    fn session_tools_and_index(home: &Path, project: &str) -> (Arc<dyn AgentTools>, IndexService) {
        session_tools_in(home, project, SandboxMode::Off)
    }

    fn session_tools_in(
        home: &Path,
        project: &str,
        agents: SandboxMode,
    ) -> (Arc<dyn AgentTools>, IndexService) {
        let data = DataFolder::open(&home.join("data")).unwrap();
        let keeper = Keeper { program: "/bin/false".into(), args: Vec::new() };
        let trust = Arc::new(TrustStore::open(data.path()).unwrap());
        let mut sandbox = SandboxSettings::default();
        sandbox.rules.agents = agents;
        // A kernel that can.
        sandbox.support.landlock = Some(6);
        let gate = SpawnGate::new(keeper, trust, data.path()).with_sandbox(sandbox);
        let config = Config::default();
        let pool = super::super::language::pool(&config.lsp, &data, &gate, "/bin/false".into());
        let index = super::super::index::serve(&config, &data, &gate).unwrap();
        let parts = AgentToolsParts {
            services: UsedServices::of(pool),
            index: index.clone(),
            locks: FileLocks::in_folder(data.path().join("locks")),
            program: "/opt/chartroom".into(),
            environment: vec![("CHARTROOM_HOME".into(), "/data".into())],
            gate,
            bridges: Some(home.to_owned()),
        };
        std::fs::create_dir_all(home.join(project)).unwrap();
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
        let gone =
            tools.mcp_message(SERVER, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(gone.await, None);
        let list =
            tools.mcp_message(SERVER, json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).await;
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
            let bad =
                json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": { "name": "nonsense" } });
            assert_eq!(tools.mcp_message(SERVER, bad).await.unwrap()["error"]["code"], code, "{method}");
        }
    }

    #[tokio::test]
    async fn only_tools_that_change_nothing_run_unasked() {
        let home = tempfile::tempdir().unwrap();
        let tools = session_tools(home.path());
        for name in
            ["lsp_hover", "search_codebase", "file_outline", "call_graph", "read_file", "list_codebases"]
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
                assert_eq!(
                    tools.needs_no_permission("mcp__chartroom__read_file", &input),
                    unasked,
                    "{input}"
                );
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

    #[tokio::test]
    async fn a_confined_acp_agent_comes_to_the_same_tools_by_a_socket_and_a_key() {
        use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
        let home = tempfile::tempdir().unwrap();
        let (tools, _) = session_tools_in(home.path(), "project", SandboxMode::Strict);
        let [server] = <[Value; 1]>::try_from(tools.acp_mcp_servers()).unwrap();
        // Nothing of our data is named in there.
        assert_eq!((&server["command"], &server["args"][1]), (&json!("/opt/chartroom"), &json!("--bridge")));
        assert_eq!(server["env"].as_array().unwrap().len(), 1);
        let socket = server["args"][2].as_str().unwrap().to_owned();
        let ask = async |key: &Value, message: Value| {
            let stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
            let (read, mut write) = stream.into_split();
            write.write_all(format!("{key}\n{message}\n").as_bytes()).await.unwrap();
            let mut line = String::new();
            BufReader::new(read).read_line(&mut line).await.unwrap();
            serde_json::from_str::<Value>(&line).ok()
        };
        let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
        let key = server["env"][0]["value"].clone();
        let listed = ask(&key, list.clone()).await.unwrap();
        assert!(listed.to_string().contains("search_codebase"), "{listed}");
        let read = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call",
            "params": { "name": "read_file", "arguments": { "path": "/etc/passwd" } } });
        assert!(ask(&key, read).await.unwrap().to_string().contains("sandbox is strict"));
        for wrong in [json!("no key"), json!(null), list.clone()] {
            assert_eq!(ask(&wrong, list.clone()).await, None, "{wrong}");
        }
        // It ends with the session.
        drop(tools);
        assert!(!Path::new(&socket).exists());
    }

    #[tokio::test]
    async fn an_acp_agent_starts_our_program_with_this_servers_data() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().canonicalize().unwrap().join("project");
        let server = json!({ "name": "chartroom", "command": "/opt/chartroom", "args": ["mcp", "--root", project],
            "env": [{ "name": "CHARTROOM_HOME", "value": "/data" }] });
        assert_eq!(session_tools(home.path()).acp_mcp_servers(), [server]);
    }
}
