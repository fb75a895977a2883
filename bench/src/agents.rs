//! The real agents against a scripted model: through the server beside the agent driven directly, in the same run.
//!
//! The model answers the first message of a session with more words in one delta than the first step of the
//! processor's gradient, so that the first token is shown when it comes and not when a timer ends.
//!
//! `CHARTROOM_BENCH_ROUNDS` makes it shorter for a try.

mod claude;
mod codex;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::tools;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::measurement::Measurement;
use crate::server::{Server, Socket, program_command};

/// The pool starts a process 3 s after the last was taken, and it is warm a second later; nothing tells when.
const WARMING: Duration = Duration::from_secs(8);
/// The first message of a session: its answer crosses the first step of the gradient at once.
const FIRST: &str = "[[burst:12]]";

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let n_rounds: usize = match std::env::var("CHARTROOM_BENCH_ROUNDS") {
        Ok(text) => text.parse().context("CHARTROOM_BENCH_ROUNDS is no number")?,
        Err(_unset) => 7,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let place = runtime.block_on(Place::new())?;
    let mut measurements = claude::run(&runtime, &place, n_rounds)?;
    measurements.extend(codex::run(&runtime, &place, n_rounds)?);
    Ok(measurements)
}

/// What both ways share: the model, and a home folder that sends the agents to it.
struct Place {
    api: ModelApi,
    home: tempfile::TempDir,
}

impl Place {
    async fn new() -> anyhow::Result<Self> {
        let place =
            Self { api: ModelApi::start().await, home: tempfile::tempdir().context("making a home")? };
        std::fs::create_dir(place.home.path().join(".codex")).context("making a folder")?;
        let config = format!(
            "model = \"gpt-5.4\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{}\"\nenv_key = \"MOCK_API_KEY\"\n\
             wire_api = \"responses\"\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n",
            place.api.openai_url()
        );
        std::fs::write(place.home.path().join(".codex/config.toml"), config).context("writing a config")?;
        Ok(place)
    }

    /// The variables that send an agent to the scripted model and nowhere else.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let home = self.home.path();
        vec![
            ("HOME", home.display().to_string()),
            // What an agent leaves there when it is killed goes with the home.
            ("TMPDIR", home.display().to_string()),
            ("CLAUDE_CONFIG_DIR", home.join(".claude").display().to_string()),
            ("ANTHROPIC_BASE_URL", self.api.anthropic_url()),
            ("ANTHROPIC_API_KEY", "sk-ant-dummy".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CODEX_HOME", home.join(".codex").display().to_string()),
            ("MOCK_API_KEY", "dummy".to_owned()),
        ]
    }

    fn server(&self, n_warm: usize, codex: &Path) -> anyhow::Result<Server> {
        let mut config = String::new();
        for (agent, program) in [("claude-code", tools::claude()), ("codex", codex.to_path_buf())] {
            config.push_str(&format!("[agents.{agent}]\ncommand = {:?}\n", program.display().to_string()));
            config.push_str(&format!("warmProcesses = {n_warm}\n"));
            config.push_str(&format!("[agents.{agent}.env]\n"));
            for (name, value) in self.environment() {
                config.push_str(&format!("{name} = {value:?}\n"));
            }
        }
        Server::start(&config)
    }

    /// Starts an agent as a shell would, in a folder of its own.
    fn direct(&self, program: &Path, args: &[&str]) -> anyhow::Result<Direct> {
        let folder = tempfile::tempdir().context("making a folder")?;
        let mut child = program_command(program)
            .args(args)
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(self.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let input = child.stdin.take().context("stdin is piped")?;
        let output = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let cwd = folder.path().canonicalize().context("resolving the folder")?;
        Ok(Direct { child, ended: false, input, output, cwd, _folder: folder })
    }
}

/// An agent on plain pipes.
struct Direct {
    child: Child,
    ended: bool,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    cwd: PathBuf,
    _folder: tempfile::TempDir,
}

impl Direct {
    fn write(&mut self, line: &Value) -> anyhow::Result<()> {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).context("writing to the agent")
    }

    /// Reads lines until one fits.
    fn until(&mut self, fits: impl Fn(&str) -> bool) -> anyhow::Result<String> {
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "the agent ended");
            if fits(&line) {
                return Ok(line);
            }
        }
    }
}

impl Direct {
    /// Ends the agent, also one that npm's script has started; its folder stays.
    fn end(&mut self) {
        // Once: the number may be another's afterwards. All of it may have ended by itself.
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process_group(group, Signal::KILL).ok();
        }
        self.child.wait().ok();
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads frames until the agent says something, or its turn has ended.
async fn until_frame(socket: &mut Socket, fits: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    loop {
        let frame =
            tokio::time::timeout(Duration::from_secs(60), socket.next()).await.context("no frame")??;
        anyhow::ensure!(!frame.contains("\"turn_error\""), "a turn failed: {frame}");
        if fits(&frame) {
            return Ok(());
        }
    }
}

fn is_said(frame: &str) -> bool {
    frame.contains("\"session:upsert\"") && frame.contains("\"origin\":\"agent\"")
}

fn is_ended(frame: &str) -> bool {
    frame.contains("\"turn_complete\"")
}
