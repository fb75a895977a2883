//! Tools for agents, in groups: `lsp`, `edits`, `index`. One list, whoever asks for it: an MCP client on stdio, the
//! command line, a session.
//!
//! To add a tool, read docs/adding-a-tool.md. To add a group: a file in `mcp/` with a [`ToolGroup`], a variant of
//! [`Group`], a line in `Toolbox::open`.

mod edits;
mod index;
mod lsp;
pub(crate) mod stdio;
mod symbols;

use std::collections::BTreeSet;

use chartroom_edits::FileLocks;
use chartroom_index::IndexService;
use chartroom_lsp::mcp::{Consent, Tools};
use chartroom_lsp::{LspHandle, proposals};
use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::app::language::Workspace;

/// Speaks MCP for a toolbox.
pub type ToolServer = chartroom_lsp::mcp::ToolServer<Toolbox>;

/// A group of tools that `--only` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Group {
    /// Diagnostics and navigation by language servers
    Lsp,
    /// Edits: of texts, of whole files, of symbols
    Edits,
    /// The code index
    Index,
}

/// Some tools that belong together.
pub trait ToolGroup: Send + Sync {
    /// Returns which group of tools this is.
    fn group(&self) -> Group;

    /// Returns the tools that are there now.
    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]>;

    /// Calls a tool; nothing when it is not one of these.
    /// `consent` is asked before it does what needs a person's.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>>;
}

/// All tools of one workspace.
pub struct Toolbox {
    groups: Vec<Box<dyn ToolGroup>>,
}

impl Toolbox {
    /// Puts the tools of a workspace together; `only` names the groups, none means all.
    ///
    /// Without an index its group is left out: trouble there takes nothing else away.
    pub(crate) fn open(workspace: &Workspace, index: Option<IndexService>, only: &[Group]) -> Self {
        let mut groups: Vec<Box<dyn ToolGroup>> = vec![
            Box::new(lsp::LspTools::new(workspace.lsp.clone())),
            Box::new(edits::EditTools::new(workspace)),
            Box::new(symbols::SymbolTools::new(
                &workspace.root,
                &workspace.gate,
                &workspace.lsp,
                &workspace.locks,
            )),
        ];
        if let Some(index) = index {
            groups.push(Box::new(index::IndexTools::new(workspace.root.clone(), index)));
        }
        Self::of(groups, only)
    }

    /// Puts the tools together that an agent of a session has.
    pub(crate) fn for_agents(
        root: &CanonicalRoot,
        gate: &SpawnGate,
        lsp: LspHandle,
        locks: &FileLocks,
        index: IndexService,
    ) -> Self {
        // The agent's own edits are told of as they happen; a second way to edit a text would only confuse it.
        let symbols = symbols::SymbolTools::new(root, gate, &lsp, locks);
        let index = index::IndexTools::of_session(root.clone(), index);
        Self { groups: vec![Box::new(lsp::LspTools::new(lsp)), Box::new(symbols), Box::new(index)] }
    }

    /// Tells whether a call of `name` with these arguments changes nothing.
    pub(crate) fn only_reads(name: &str, arguments: &Value) -> bool {
        let mut tools = chartroom_lsp::tools::all().iter().chain(chartroom_index::definitions::definitions());
        tools.any(|tool| tool.read_only && tool.name == name) || proposals::only_looks(name, arguments)
    }

    /// Keeps the groups that were asked for.
    pub fn of(groups: Vec<Box<dyn ToolGroup>>, only: &[Group]) -> Self {
        let wanted: BTreeSet<Group> = only.iter().copied().collect();
        let groups =
            groups.into_iter().filter(|group| wanted.is_empty() || wanted.contains(&group.group())).collect();
        Self { groups }
    }

    /// Returns every tool, by name.
    pub async fn tools(&self) -> Vec<&'static ToolSpec> {
        let mut tools = Vec::new();
        for group in &self.groups {
            tools.extend(group.tools().await);
        }
        tools.sort_by_key(|tool| tool.name);
        tools
    }

    /// Calls a tool; nothing when there is none of that name.
    pub async fn call(&self, name: &str, arguments: Value, consent: &dyn Consent) -> Option<ToolAnswer> {
        for group in &self.groups {
            if let Some(answer) = group.call(name, arguments.clone(), consent).await {
                return Some(answer);
            }
        }
        None
    }
}

impl Tools for Toolbox {
    fn name(&self) -> (&'static str, &'static str) {
        ("chartroom", env!("CARGO_PKG_VERSION"))
    }

    fn instructions(&self) -> Option<&'static str> {
        Some(
            "Tools of the workspace: compiler diagnostics and navigation (lsp_*), code search by words and by identifier \
             with outline and call graph (search_codebase, file_outline, call_graph), and, where they are listed, \
             edits that report the errors they bring (edit_file, write_file, apply_patch; rename_symbol, edit_symbol, \
             code_actions). Paths are absolute or \
             relative to the workspace.",
        )
    }

    async fn list(&self) -> Vec<&'static ToolSpec> {
        self.tools().await
    }

    async fn call(&self, name: &str, arguments: Value, consent: &dyn Consent) -> Option<ToolAnswer> {
        Toolbox::call(self, name, arguments, consent).await
    }
}
