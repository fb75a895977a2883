//! An ACP agent behind the provider trait: Codex, or one that the config names.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chartroom_protocol::agent::Agent;
use chartroom_protocol::ids::{CliType, SessionId};
use chartroom_sessions::provider::AGENTS_ID;
use chartroom_sessions::{
    CreateOptions, DiscoveredSession, LoadOptions, Provider, ProviderError, ProviderSession,
};
use chartroom_workspace::SpawnGate;
use serde_json::Value;

use super::process::{self, Beginning};
use super::rollout;
use crate::agent_tools::AgentToolsFor;
use crate::launch::AgentCommand;
use crate::timeouts::Timeouts;

/// What an ACP provider is made of.
#[derive(Clone)]
pub struct AcpConfig {
    /// How the agent is started.
    pub command: AgentCommand,
    /// How long its answers are waited for.
    pub timeouts: Timeouts,
    /// The tools that its sessions are given, if any.
    pub agent_tools: Option<AgentToolsFor>,
    /// Whether the agent keeps Codex's rollout files, from which sessions are found.
    pub keeps_rollouts: bool,
}

impl AcpConfig {
    /// Codex through codex-acp.
    pub fn codex() -> Self {
        Self { keeps_rollouts: true, ..Self::agent(AgentCommand::codex()) }
    }

    /// Any other agent that speaks ACP on its stdio.
    pub fn agent(command: AgentCommand) -> Self {
        Self { command, timeouts: Timeouts::default(), agent_tools: None, keeps_rollouts: false }
    }
}

/// An ACP agent as a provider.
pub struct AcpProvider {
    gate: SpawnGate,
    config: AcpConfig,
}

impl AcpProvider {
    /// Returns a provider; nothing is started yet.
    pub fn new(gate: SpawnGate, config: AcpConfig) -> Self {
        Self { gate, config }
    }

    async fn start(
        &self,
        project_dir: &Path,
        beginning: Beginning<'_>,
        model: Option<&str>,
        mode: Option<&str>,
    ) -> Result<ProviderSession, ProviderError> {
        let command = &self.config.command;
        let child = command.launch(&self.gate, project_dir, Vec::new())?;
        let tools = self.config.agent_tools.as_ref().and_then(|make| make(project_dir));
        let mcp_servers = tools.as_ref().map(|tools| tools.acp_mcp_servers()).unwrap_or_default();
        // It asks for them as long as it lives.
        let exit = child.exit_watch();
        tokio::spawn(async move {
            exit.wait().await;
            drop(tools);
        });
        let session = process::start(
            child,
            command.cli_type.as_str(),
            project_dir,
            mcp_servers,
            beginning,
            self.config.timeouts,
        )
        .await?;
        if let Some(model) = model {
            session.handle.set_model(model).await?;
        }
        if let Some(mode) = mode {
            session.handle.set_mode(mode).await?;
        }
        Ok(session)
    }
}

#[async_trait]
impl Provider for AcpProvider {
    fn cli_type(&self) -> &CliType {
        &self.config.command.cli_type
    }

    fn agent(&self) -> Agent {
        self.config.command.agent()
    }

    fn tells_turns_by_words(&self) -> bool {
        true
    }

    async fn create_session(&self, options: CreateOptions) -> Result<ProviderSession, ProviderError> {
        let (model, mode) = (options.model.as_deref(), options.mode.as_deref());
        self.start(&options.project_dir, Beginning::New, model, mode).await
    }

    async fn load_session(
        &self,
        session_id: &SessionId,
        options: LoadOptions,
    ) -> Result<ProviderSession, ProviderError> {
        let (model, mode) = (options.model.as_deref(), options.mode.as_deref());
        let agents_id = options.provider_options.get(AGENTS_ID).and_then(Value::as_str).map(SessionId::from);
        let agents_id = agents_id.as_ref().unwrap_or(session_id);
        let beginning = Beginning::Load { session_id, agents_id, may_be_unkept: options.may_be_unkept };
        self.start(&options.project_dir, beginning, model, mode).await
    }

    async fn discover(&self, project_dir: &Path) -> Result<Vec<DiscoveredSession>, ProviderError> {
        if !self.config.keeps_rollouts {
            return Ok(Vec::new());
        }
        let home = match self.config.command.variable("CODEX_HOME") {
            Some(home) => PathBuf::from(home),
            None => PathBuf::from(self.config.command.variable("HOME").unwrap_or_default()).join(".codex"),
        };
        let project_dir = project_dir.to_path_buf();
        tokio::task::spawn_blocking(move || rollout::sessions(&home, &project_dir))
            .await
            .map_err(|error| ProviderError::protocol("looking for sessions failed").with_cause(error))
    }
}
