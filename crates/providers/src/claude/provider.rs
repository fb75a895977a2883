//! The Claude Code provider: starts processes, brings sessions back, keeps a few warm.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chartroom_protocol::agent::Agent;
use chartroom_protocol::ids::{CliType, SessionId};
use chartroom_sessions::provider::{ForkedFrom, LoadOptions};
use chartroom_sessions::{
    AgentHandle, CreateOptions, DiscoveredSession, History, Provider, ProviderError, ProviderSession,
};
use chartroom_workspace::SpawnGate;
use serde_json::{Map, Value, json};

use super::fork::{self, Known};
use super::process::{self, Started};
use super::{control, discover, files, history};
use crate::agent_tools::AgentToolsFor;
use crate::launch::AgentCommand;
use crate::timeouts::Timeouts;
use crate::warm::{Spare, StartsSpares, WarmPool};

/// What a Claude provider is made of.
#[derive(Clone)]
pub struct ClaudeConfig {
    /// How the CLI is started.
    pub command: AgentCommand,
    /// How long its answers are waited for.
    pub timeouts: Timeouts,
    /// Initialised processes to keep per open project; `None` lets the machine's memory decide.
    pub warm_processes: Option<usize>,
    /// After which a warm process that nobody took is let go; `None` keeps it.
    pub warm_idle: Option<Duration>,
    /// The tools that its sessions are given, if any.
    pub agent_tools: Option<AgentToolsFor>,
}

impl Default for ClaudeConfig {
    fn default() -> Self {
        Self {
            command: AgentCommand::claude(),
            timeouts: Timeouts::default(),
            warm_processes: None,
            warm_idle: None,
            agent_tools: None,
        }
    }
}

/// Claude Code behind the provider trait.
pub struct ClaudeProvider {
    starter: Starter,
    warm: WarmPool<Starter>,
}

impl ClaudeProvider {
    /// Returns a provider; nothing is started yet.
    pub fn new(gate: SpawnGate, config: ClaudeConfig) -> Self {
        let starter = Starter { gate, config: Arc::new(config) };
        let config = &starter.config;
        let warm = WarmPool::new(starter.clone(), config.warm_processes, config.warm_idle);
        Self { starter, warm }
    }
}

#[async_trait]
impl Provider for ClaudeProvider {
    fn cli_type(&self) -> &CliType {
        &self.starter.config.command.cli_type
    }

    fn agent(&self) -> Agent {
        self.starter.config.command.agent()
    }

    async fn create_session(&self, options: CreateOptions) -> Result<ProviderSession, ProviderError> {
        let settings =
            Settings { model: options.model, mode: options.mode, provider_options: options.provider_options };
        let warm = match settings.fit_a_warm_process() {
            true => self.warm.take(&options.project_dir).await,
            false => None,
        };
        let started = match warm {
            Some(started) => {
                settings.apply(&started).await?;
                started
            }
            None => {
                let session_id = SessionId::new(uuid::Uuid::new_v4().to_string());
                self.starter.start(&options.project_dir, Conversation::New(session_id), &settings).await?
            }
        };
        self.warm.refill(&options.project_dir);
        Ok(hand_over(started, History::empty()))
    }

    async fn load_session(
        &self,
        session_id: &SessionId,
        options: LoadOptions,
    ) -> Result<ProviderSession, ProviderError> {
        let folder = files::config_dir(&self.starter.config.command);
        let file = files::session_file(&folder, &options.project_dir, session_id);
        let forked_from = ForkedFrom::of(&options.provider_options);
        let settings =
            Settings { model: options.model, mode: options.mode, provider_options: options.provider_options };
        let Some(file) = file else {
            if let Some(forked_from) = &forked_from {
                // The CLI keeps it as its own with the first message.
                let conversation = fork_of(&folder, &options.project_dir, forked_from, session_id)?;
                let started = self.starter.start(&options.project_dir, conversation, &settings).await?;
                return Ok(hand_over(started, History::empty()));
            }
            if !options.may_be_unkept {
                return Err(ProviderError::session_not_found(session_id));
            }
            // The CLI makes the file some time after its first words.
            let conversation = Conversation::New(session_id.clone());
            let started = self.starter.start(&options.project_dir, conversation, &settings).await?;
            return Ok(hand_over(started, History::empty()));
        };
        // Opened before the process starts, so that what the process adds is not taken for history.
        let history = history::open(&file, session_id).await?;
        let started = self
            .starter
            .start(&options.project_dir, Conversation::Existing(session_id.clone()), &settings)
            .await?;
        Ok(hand_over(started, history))
    }

    async fn discover(&self, project_dir: &Path) -> Result<Vec<DiscoveredSession>, ProviderError> {
        let folder = files::config_dir(&self.starter.config.command);
        let project_dir = project_dir.to_path_buf();
        tokio::task::spawn_blocking(move || discover::sessions(&folder, &project_dir))
            .await
            .map_err(|error| ProviderError::protocol("looking for sessions failed").with_cause(error))
    }

    fn can_fork(&self) -> bool {
        true
    }

    fn project_opened(&self, project_dir: &Path) {
        self.warm.fill(project_dir);
    }
}

fn hand_over(started: Started, history: History) -> ProviderSession {
    ProviderSession {
        session_id: started.session_id,
        handle: started.handle,
        outputs: started.outputs,
        history,
    }
}

/// Which conversation a process is for.
pub(super) enum Conversation {
    New(SessionId),
    Existing(SessionId),
    /// It begins with what another one has, up to a line of it.
    Forked {
        session_id: SessionId,
        from: SessionId,
        up_to: Option<String>,
    },
}

/// Says how a conversation is begun that parts from another one.
fn fork_of(
    config_dir: &Path,
    project_dir: &Path,
    forked_from: &ForkedFrom,
    session_id: &SessionId,
) -> Result<Conversation, ProviderError> {
    let (session_id, from) = (session_id.clone(), forked_from.session_id.clone());
    let Some(file) = files::session_file(config_dir, project_dir, &from) else {
        return Err(ProviderError::session_not_found(&from));
    };
    let up_to = match &forked_from.before {
        None => None,
        Some(turn_id) => match fork::before(&file, turn_id)? {
            Known::Nothing => return Ok(Conversation::New(session_id)),
            Known::UpTo(line) => Some(line),
        },
    };
    Ok(Conversation::Forked { session_id, from, up_to })
}

/// What was chosen for a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    model: Option<String>,
    mode: Option<String>,
    provider_options: Map<String, Value>,
}

impl Settings {
    /// Tells whether a process that is running already can be told all of this.
    pub(super) fn fit_a_warm_process(&self) -> bool {
        self.mode.as_deref() != Some("bypassPermissions")
    }

    async fn apply(&self, started: &Started) -> Result<(), ProviderError> {
        if let Some(model) = &self.model {
            started.handle.set_model(model).await?;
        }
        if let Some(mode) = &self.mode {
            started.handle.set_mode(mode).await?;
        }
        self.apply_budget(started).await
    }

    async fn apply_budget(&self, started: &Started) -> Result<(), ProviderError> {
        if let Some(tokens) = self.provider_options.get("maxThinkingTokens").and_then(Value::as_u64) {
            let request = json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens});
            started.handle.control(request).await?;
        }
        Ok(())
    }
}

/// Starts processes. Cheap to clone.
#[derive(Clone)]
pub(super) struct Starter {
    gate: SpawnGate,
    pub(super) config: Arc<ClaudeConfig>,
}

impl Starter {
    pub(super) async fn start(
        &self,
        project_dir: &Path,
        conversation: Conversation,
        settings: &Settings,
    ) -> Result<Started, ProviderError> {
        let agent_tools = self.config.agent_tools.as_ref().and_then(|make| make(project_dir));
        let mcp_config = agent_tools.as_deref().and_then(control::mcp_config);
        let args = arguments(&conversation, settings, mcp_config);
        let child = self.config.command.launch(&self.gate, project_dir, args)?;
        let (Conversation::New(session_id)
        | Conversation::Existing(session_id)
        | Conversation::Forked { session_id, .. }) = conversation;
        let started =
            process::start(session_id, child, project_dir, agent_tools, self.config.timeouts).await?;
        settings.apply_budget(&started).await?;
        Ok(started)
    }
}

#[async_trait]
impl StartsSpares for Starter {
    type Spare = Started;

    async fn start_spare(&self, project_dir: &Path) -> Result<Started, ProviderError> {
        let conversation = Conversation::New(SessionId::new(uuid::Uuid::new_v4().to_string()));
        self.start(project_dir, conversation, &Settings::default()).await
    }
}

#[async_trait]
impl Spare for Started {
    fn is_fit(&self) -> bool {
        self.handle.is_alive()
    }

    async fn end(self) {
        self.handle.kill().await;
    }
}

fn arguments(conversation: &Conversation, settings: &Settings, mcp_config: Option<String>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
        "--verbose",
        "--permission-prompt-tool",
        "stdio",
    ]
    .map(OsString::from)
    .into();
    let mut add = |flag: &str, value: &str| args.extend([OsString::from(flag), OsString::from(value)]);
    match conversation {
        Conversation::New(session_id) => add("--session-id", session_id.as_str()),
        Conversation::Existing(session_id) => add("--resume", session_id.as_str()),
        Conversation::Forked { session_id, from, up_to } => {
            add("--resume", from.as_str());
            if let Some(line) = up_to {
                add("--resume-session-at", line);
            }
            add("--session-id", session_id.as_str());
        }
    }
    if let Some(model) = &settings.model {
        add("--model", model);
    }
    if let Some(mode) = &settings.mode {
        add("--permission-mode", mode);
    }
    if let Some(config) = mcp_config {
        add("--mcp-config", &config);
    }
    if matches!(conversation, Conversation::Forked { .. }) {
        args.push(OsString::from("--fork-session"));
    }
    if settings.mode.as_deref() == Some("bypassPermissions") {
        args.push(OsString::from("--allow-dangerously-skip-permissions"));
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(conversation: Conversation, settings: Settings, expected: &str) {
        let args = arguments(&conversation, &settings, None);
        let line: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let always = "-p --input-format stream-json --output-format stream-json --include-partial-messages --verbose \
                      --permission-prompt-tool stdio ";
        assert_eq!(line.join(" "), format!("{always}{expected}"));
    }

    #[test]
    fn a_new_conversation_has_our_id_and_an_old_one_is_resumed() {
        let id = || SessionId::from("11111111-2222-4333-8444-555555555555");
        check(
            Conversation::New(id()),
            Settings::default(),
            "--session-id 11111111-2222-4333-8444-555555555555",
        );
        let settings =
            Settings { model: Some("opus".to_owned()), mode: Some("plan".to_owned()), ..Settings::default() };
        check(
            Conversation::Existing(id()),
            settings,
            "--resume 11111111-2222-4333-8444-555555555555 --model opus --permission-mode plan",
        );
    }

    #[test]
    fn a_conversation_that_parts_from_another_has_an_id_of_its_own() {
        let (session_id, from) = (SessionId::from("new"), SessionId::from("old"));
        let whole = Conversation::Forked { session_id: session_id.clone(), from: from.clone(), up_to: None };
        check(whole, Settings::default(), "--resume old --session-id new --fork-session");
        let part = Conversation::Forked { session_id, from, up_to: Some("line".to_owned()) };
        check(
            part,
            Settings::default(),
            "--resume old --resume-session-at line --session-id new --fork-session",
        );
    }

    #[test]
    fn skipping_all_permissions_must_be_asked_for_at_the_start() {
        let settings = Settings { mode: Some("bypassPermissions".to_owned()), ..Settings::default() };
        assert!(!settings.fit_a_warm_process());
        check(
            Conversation::New(SessionId::from("s")),
            settings,
            "--session-id s --permission-mode bypassPermissions --allow-dangerously-skip-permissions",
        );
    }
}
