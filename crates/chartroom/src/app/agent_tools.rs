//! What an agent that is started here has without set-up: diagnostics, navigation and the code index.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use chartroom_edits::FileLocks;
use chartroom_index::IndexService;
use chartroom_lsp::LspHandle;
use chartroom_lsp::mcp::{Consent, NobodyToAsk};
use chartroom_providers::agent_tools::{AgentTools, AgentToolsFor, ToolUse};
use chartroom_workspace::gate::{SandboxMode, SandboxState};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, boundary};
use serde_json::{Value, json};

use super::bridge::Bridge;
use super::language::{UsedServices, Workspace};
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
    /// What that program needs to find this server's data and config, where there is no socket for it.
    pub(super) environment: Vec<(String, String)>,
    /// Knows in which sandbox an agent runs.
    pub(super) gate: SpawnGate,
    /// Where agents that start MCP servers themselves find their tools; without it our program serves them by itself.
    pub(super) bridges: Option<PathBuf>,
    /// The same for confined ones; without it they have none.
    pub(super) confined_bridges: Option<PathBuf>,
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
            let sandbox = match self.gate.sandbox_state(&root, ChildKind::Agent, SERVER) {
                SandboxState::InForce { mode, .. } => mode,
                SandboxState::Off | SandboxState::OffBecause(_) | SandboxState::Refused(_) => {
                    SandboxMode::Off
                }
            };
            let answers = Arc::new(Answers {
                root,
                tools: ToolServer::new(Arc::new(tools)),
                index: self.index.clone(),
                gate: self.gate.clone(),
                sandbox,
            });
            Some(Arc::new(SessionTools { parts: self.clone(), answers, lsp, own_server: OnceLock::new() }))
        })
    }
}

/// What one session has.
struct SessionTools {
    parts: AgentToolsParts,
    answers: Arc<Answers>,
    lsp: LspHandle,
    /// Made when an agent asks for it.
    own_server: OnceLock<Option<OwnServer>>,
}

/// How an agent that starts its MCP servers itself comes to the tools.
struct OwnServer {
    /// As ACP names a server.
    named: Value,
    /// What it connects to; gone with the session.
    _bridge: Option<Bridge>,
}

impl SessionTools {
    fn own_server(&self) -> Option<OwnServer> {
        let is_confined = self.answers.sandbox != SandboxMode::Off;
        let parts = &self.parts;
        let (folder, answers) = match is_confined {
            true => (&parts.confined_bridges, self.answers.clone()),
            false => (&parts.bridges, self.with_edits()),
        };
        let opened = folder.as_ref().map(|folder| Bridge::open(folder, answers));
        match opened {
            Some(Ok(bridge)) => {
                Some(OwnServer { named: bridge.server(SERVER, &parts.program), _bridge: Some(bridge) })
            }
            Some(Err(error)) if is_confined => {
                tracing::warn!(%error, "an agent in a sandbox is without tools of ours");
                None
            }
            None if is_confined => None,
            without_socket => {
                if let Some(Err(error)) = without_socket {
                    // A data folder with a long path has no room for a socket.
                    tracing::debug!(%error, "an agent's program serves the tools by itself");
                }
                Some(OwnServer { named: self.serving_by_itself(), _bridge: None })
            }
        }
    }

    /// All the tools, as `chartroom mcp` has them: an ACP agent's own edits are not told of, so it has ours.
    fn with_edits(&self) -> Arc<Answers> {
        let Answers { root, index, gate, sandbox, .. } = &*self.answers;
        let (locks, lsp) = (self.parts.locks.clone(), self.lsp.clone());
        let workspace = Workspace { root: root.clone(), gate: gate.clone(), lsp, locks };
        let tools = ToolServer::new(Arc::new(Toolbox::open(&workspace, Some(index.clone()), &[])));
        let (root, index, gate) = (root.clone(), index.clone(), gate.clone());
        Arc::new(Answers { root, tools, index, gate, sandbox: *sandbox })
    }

    fn serving_by_itself(&self) -> Value {
        let variable = |(name, value): &(String, String)| json!({ "name": name, "value": value });
        json!({
            "name": SERVER,
            "command": self.parts.program,
            "args": ["mcp", "--root", self.answers.root.as_path()],
            "env": self.parts.environment.iter().map(variable).collect::<Vec<_>>(),
        })
    }
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
    pub(super) async fn answer(&self, message: Value, person: &dyn Consent) -> Option<Value> {
        if message["method"] == "tools/call"
            && let Some(text) = self.refusal(&message)
        {
            let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
            return Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        // What a confined agent says that its person said is the agent's word alone.
        let person = if self.sandbox == SandboxMode::Off { person } else { &NobodyToAsk };
        self.tools.answer_asking(message, person).await
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
        self.answers.answer(message, &NobodyToAsk).await
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
        let own_server = self.own_server.get_or_init(|| self.own_server());
        own_server.iter().map(|server| server.named.clone()).collect()
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
