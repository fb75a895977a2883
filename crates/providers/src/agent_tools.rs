//! The tools that an agent has from us: the seam through which diagnostics, navigation and the index reach a session.
//!
//! An agent asks in its own protocol; what answers is handed in by the front door, so that no provider knows a
//! language server or an index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

/// The MCP tools and the diagnostics after an edit, for the agents of one project.
#[async_trait]
pub trait AgentTools: Send + Sync {
    /// Returns the names of the MCP servers that are answered in process.
    fn mcp_servers(&self) -> Vec<String>;

    /// Answers one JSON-RPC message to such a server; `None` for a notification.
    ///
    /// An agent may connect twice: `initialize` must answer the same again.
    async fn mcp_message(&self, server: &str, message: Value) -> Option<Value>;

    /// Returns a text that the model should read after a tool has run, e.g. the diagnostics of an edit.
    async fn after_tool(&self, use_of_tool: ToolUse) -> Option<String>;

    /// Returns the tools after which [`after_tool`](Self::after_tool) wants to be asked, as a matcher: `Write|Edit`.
    fn after_tools(&self) -> String {
        "Write|Edit|MultiEdit|NotebookEdit".to_owned()
    }

    /// Tells whether a tool of these servers changes nothing and reads only what the agent works on, so that nobody has to
    /// be asked before it runs. The name is the agent's: `mcp__server__tool`.
    fn needs_no_permission(&self, _tool_name: &str, _input: &Value) -> bool {
        false
    }

    /// Returns MCP servers for agents that connect by themselves, in ACP's shape (`{"type":"http",…}`).
    fn acp_mcp_servers(&self) -> Vec<Value> {
        Vec::new()
    }
}

/// The tools of `chartroom mcp` that change files: their answers end with the diagnostics.
pub(crate) const EDIT_TOOLS: [&str; 6] =
    ["edit_file", "write_file", "apply_patch", "rename_symbol", "edit_symbol", "code_actions"];

/// A tool that has just run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The tool by the agent's name for it.
    pub tool_name: String,
    /// The arguments it ran with.
    pub input: Value,
    /// What it answered, as the agent tells.
    pub response: Value,
    /// The folder the agent works in.
    pub cwd: PathBuf,
}

/// Makes the tools for a project's next session; `None` where there are none.
pub type AgentToolsFor = Arc<dyn Fn(&Path) -> Option<Arc<dyn AgentTools>> + Send + Sync>;
