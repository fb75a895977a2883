//! An ACP agent behind the provider trait: Codex, or one that the config names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use chartroom_protocol::agent::Agent;
use chartroom_protocol::ids::{CliType, SessionId};
use chartroom_sessions::provider::AGENTS_ID;
use chartroom_sessions::{
    CreateOptions, DiscoveredSession, LoadOptions, Provider, ProviderError, ProviderSession,
};
use chartroom_workspace::SpawnGate;
use serde_json::Value;

use super::process::{Beginning, Ready, Unopened};
use super::rollout;
use super::spare::Starter;
use crate::agent_tools::AgentToolsFor;
use crate::launch::AgentCommand;
use crate::timeouts::Timeouts;
use crate::warm::WarmPool;

/// What an ACP provider is made of.
#[derive(Clone)]
pub struct AcpConfig {
    /// How the agent is started.
    pub command: AgentCommand,
    /// How long its answers are waited for.
    pub timeouts: Timeouts,
    /// The tools that its sessions are given, if any.
    pub agent_tools: Option<AgentToolsFor>,
    /// Whether the agent is Codex: sessions are found from its rollout files, and its settings are known by their files.
    pub is_codex: bool,
    /// Initialised processes to keep per open project; `None` lets the machine's memory decide.
    pub warm_processes: Option<usize>,
    /// After which a warm process that nobody took is let go; `None` keeps it.
    pub warm_idle: Option<Duration>,
}

impl AcpConfig {
    /// Codex through codex-acp.
    pub fn codex() -> Self {
        Self { is_codex: true, warm_processes: None, ..Self::agent(AgentCommand::codex()) }
    }

    /// Any other agent that speaks ACP on its stdio. What it takes, and which settings it reads when it starts, is not
    /// known: none is started ahead unless the user says so.
    pub fn agent(command: AgentCommand) -> Self {
        Self {
            command,
            timeouts: Timeouts::default(),
            agent_tools: None,
            is_codex: false,
            warm_processes: Some(0),
            warm_idle: None,
        }
    }
}

impl AcpConfig {
    /// Where Codex keeps its settings and sessions; nothing for another agent.
    pub(super) fn codex_home(&self) -> Option<PathBuf> {
        let home = || PathBuf::from(self.command.variable("HOME").unwrap_or_default()).join(".codex");
        self.is_codex.then(|| self.command.variable("CODEX_HOME").map_or_else(home, PathBuf::from))
    }
}

/// An ACP agent as a provider.
pub struct AcpProvider {
    starter: Starter,
    warm: WarmPool<Starter>,
}

impl AcpProvider {
    /// Returns a provider; nothing is started yet.
    pub fn new(gate: SpawnGate, config: AcpConfig) -> Self {
        let (per_project, idle) = (config.warm_processes, config.warm_idle);
        let starter = Starter::new(gate, config);
        Self { warm: WarmPool::new(starter.clone(), per_project, idle), starter }
    }

    async fn start(
        &self,
        project_dir: &Path,
        beginning: Beginning<'_>,
        model: Option<&str>,
        mode: Option<&str>,
    ) -> Result<ProviderSession, ProviderError> {
        let session = self.open(project_dir, beginning).await?;
        self.warm.refill(project_dir);
        if let Some(model) = model {
            session.handle.set_model(model).await?;
        }
        if let Some(mode) = mode {
            session.handle.set_mode(mode).await?;
        }
        Ok(session)
    }

    async fn open(
        &self,
        project_dir: &Path,
        beginning: Beginning<'_>,
    ) -> Result<ProviderSession, ProviderError> {
        if let Some(spare) = self.warm.take(project_dir).await {
            match self.begin(spare.into_ready(), project_dir, beginning).await {
                Ok(session) => return Ok(session),
                // It may have been ended since it was looked at; a new one says whether the agent can start.
                Err(Unopened::Gone(error)) => tracing::debug!(%error, "a warm process was gone"),
                Err(Unopened::Refused(error)) => return Err(error),
            }
        }
        let ready = self.starter.start(project_dir).await?;
        Ok(self.begin(ready, project_dir, beginning).await?)
    }

    async fn begin(
        &self,
        ready: Ready,
        project_dir: &Path,
        beginning: Beginning<'_>,
    ) -> Result<ProviderSession, Unopened> {
        let config = &self.starter.config;
        let tools = config.agent_tools.as_ref().and_then(|make| make(project_dir));
        let mcp_servers = tools.as_ref().map(|tools| tools.acp_mcp_servers()).unwrap_or_default();
        // It asks for them as long as it lives.
        let exit = ready.exit_watch();
        tokio::spawn(async move {
            exit.wait().await;
            drop(tools);
        });
        ready.begin(config.command.cli_type.as_str(), project_dir, mcp_servers, beginning).await
    }
}

#[async_trait]
impl Provider for AcpProvider {
    fn cli_type(&self) -> &CliType {
        &self.starter.config.command.cli_type
    }

    fn agent(&self) -> Agent {
        self.starter.config.command.agent()
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
        let Some(home) = self.starter.config.codex_home() else { return Ok(Vec::new()) };
        let project_dir = project_dir.to_path_buf();
        tokio::task::spawn_blocking(move || rollout::sessions(&home, &project_dir))
            .await
            .map_err(|error| ProviderError::protocol("looking for sessions failed").with_cause(error))
    }

    fn project_opened(&self, project_dir: &Path) {
        // Who never had a session with Codex is likely not to begin one now.
        if self.starter.config.codex_home().is_none_or(|home| home.join("sessions").is_dir()) {
            self.warm.fill(project_dir);
        }
    }
}
