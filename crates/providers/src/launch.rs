//! Starting an agent's program: found and allowed, or an error that says what to do.

mod shim;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_protocol::agent::{Agent, AgentStatus};
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::CliType;
use chartroom_sessions::ProviderError;
use chartroom_transport::{Child, Exit};
use chartroom_workspace::{CanonicalRoot, ChildKind, GateError, ProgramQuery, SpawnGate, SpawnRequest, gate};

/// How an agent is called on this machine; from our defaults and the user's config, never from a project.
#[derive(Debug, Clone)]
pub struct AgentCommand {
    /// The config key.
    pub cli_type: CliType,
    /// What a person calls it: "Claude Code".
    pub name: String,
    /// The program's name on PATH.
    pub program_name: String,
    /// An absolute path or another name, from the config.
    pub program: Option<PathBuf>,
    /// What comes before the provider's own arguments.
    pub args: Vec<OsString>,
    /// On top of what every agent inherits.
    pub env: BTreeMap<OsString, OsString>,
    /// The command that installs it.
    pub install: String,
}

impl AgentCommand {
    /// Claude Code, found on PATH.
    pub fn claude() -> Self {
        Self {
            cli_type: CliType::from("claude-code"),
            name: "Claude Code".to_owned(),
            program_name: "claude".to_owned(),
            program: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            install: "npm install -g @anthropic-ai/claude-code".to_owned(),
        }
    }

    /// Codex, through its ACP adapter found on PATH.
    pub fn codex() -> Self {
        Self {
            cli_type: CliType::from("codex"),
            name: "Codex".to_owned(),
            program_name: "codex-acp".to_owned(),
            program: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            install: "npm install -g @zed-industries/codex-acp".to_owned(),
        }
    }

    /// Tells whether the agent is on this machine.
    pub fn agent(&self) -> Agent {
        let path = self.find();
        Agent {
            cli_type: self.cli_type.clone(),
            name: self.name.clone(),
            status: if path.is_some() { AgentStatus::Found } else { AgentStatus::Missing },
            path: path.map(|path| path.display().to_string()),
            install: self.install.clone(),
        }
    }

    /// Starts the program for a project, if the project is trusted and the program there.
    pub(crate) fn launch(
        &self,
        gate: &SpawnGate,
        project_dir: &Path,
        args: Vec<OsString>,
    ) -> Result<Child, ProviderError> {
        let root = CanonicalRoot::open(project_dir).map_err(|error| {
            ProviderError::new(ErrorCode::InvalidPath, error.to_string()).with_cause(error)
        })?;
        // Trust comes first: where an agent may not run, it does not matter whether it is installed.
        if !gate.is_trusted(&root) {
            let what = format!("{} would run its hooks and servers", self.name);
            return Err(self.refusal(GateError::Untrusted { root, what }));
        }
        let query = ProgramQuery::on_path(&self.program_name).configured(self.program.clone());
        let program = gate.resolve_program(&root, &query).map_err(|error| self.refusal(error))?;
        let program = shim::program_behind(&program.path).unwrap_or(program.path);
        let mut request = SpawnRequest::new(&root, ChildKind::Agent, program);
        request.label.clone_from(&self.program_name);
        request.args = self.args.iter().cloned().chain(args).collect();
        request.env.clone_from(&self.env);
        gate.spawn(request).map_err(|error| self.refusal(error))
    }

    /// Returns a variable as the agent will see it.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.env
            .get(OsStr::new(name))
            .cloned()
            .or_else(|| std::env::var_os(name))
            .filter(|value| !value.is_empty())
    }

    fn find(&self) -> Option<PathBuf> {
        let program = self.program.as_deref().unwrap_or(Path::new(&self.program_name));
        gate::find_program(program, self.variable("PATH").as_ref())
    }

    fn refusal(&self, error: GateError) -> ProviderError {
        let (code, message) = match &error {
            GateError::Untrusted { .. } => (ErrorCode::WorkspaceUntrusted, error.to_string()),
            GateError::NotFound { .. }
            | GateError::NotExecutable { .. }
            | GateError::RelativeProgram { .. } => (
                ErrorCode::AgentNotInstalled,
                format!("{} is not installed ({error}); install it with `{}`", self.name, self.install),
            ),
            GateError::Cwd { .. } => (ErrorCode::InvalidPath, error.to_string()),
            GateError::Sandbox { .. } | GateError::Spawn(_) => {
                (ErrorCode::SessionCreateFailed, error.to_string())
            }
        };
        ProviderError::new(code, message).with_cause(error)
    }
}

/// Waits for a child that has ended or should have, ends what is left of its tree, and returns how it ended with the
/// last line of its stderr, ready for a sentence: "exited with status 1: no such model".
pub(crate) async fn exit_reason(child: Child, grace: Duration) -> String {
    // Its stderr is complete when it is gone, not before.
    let gone = tokio::time::timeout(grace, child.wait()).await.is_ok();
    let stderr = child.stderr_tail();
    let exit: Exit = if gone { child.wait().await } else { child.end(grace).await };
    match stderr.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        Some(last) => format!("{exit}: {last}"),
        None => exit.to_string(),
    }
}
