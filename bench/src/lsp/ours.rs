//! Through Chartroom: a file on the disk, then `lsp_check` of `chartroom mcp` on stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Client, Subject};

pub(super) struct Ours {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    file: PathBuf,
    path: &'static str,
    next_id: u64,
}

impl Ours {
    pub(super) fn start(subject: &Subject, root: &Path, home: &Path) -> anyhow::Result<Self> {
        Self::start_in(subject, root, home, "")
    }

    /// With lines of the config about the sandbox.
    pub(super) fn start_in(
        subject: &Subject,
        root: &Path,
        home: &Path,
        sandbox: &str,
    ) -> anyhow::Result<Self> {
        let config = Self::trust(root, home, sandbox)?;
        Self::start_trusted(subject, root, home, &config)
    }

    /// Writes the config and has the project trusted; returns the config's path.
    pub(super) fn trust(root: &Path, home: &Path, sandbox: &str) -> anyhow::Result<PathBuf> {
        // A compiler may take longer than an edit would wait for it.
        let config = home.join("config.toml");
        let times = "[lsp]\ndiagnosticTimeout = 60000\nfirstTouchTimeout = 120000\n";
        std::fs::write(&config, format!("{times}{sandbox}")).context("writing the config")?;
        let mut trust = command(&["trust", "."], root, home, &config)?;
        let trusted = trust.output().context("trusting the project")?;
        anyhow::ensure!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
        Ok(config)
    }

    /// Starts on a project that is trusted.
    pub(super) fn start_trusted(
        subject: &Subject,
        root: &Path,
        home: &Path,
        config: &Path,
    ) -> anyhow::Result<Self> {
        let mut child = command(&["mcp", "--only", "lsp"], root, home, config)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting chartroom mcp")?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let file = root.join(subject.file);
        let mut ours = Self { child, input, output, file, path: subject.file, next_id: 0 };
        let client = json!({ "name": "bench", "version": "0" });
        ours.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        )?;
        ours.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(ours)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        writeln!(self.input, "{message}").context("writing to chartroom mcp")
    }

    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "chartroom mcp ended");
            let message: Value = serde_json::from_str(&line).context("reading chartroom mcp")?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Ok(message.get("result").cloned().unwrap_or_default());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the benchmark runs the finished program")]
fn command(args: &[&str], root: &Path, home: &Path, config: &Path) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("finding this program")?.with_file_name("chartroom");
    let mut command = Command::new(&program);
    command.args(args).current_dir(root).env("CHARTROOM_HOME", home).env("CHARTROOM_CONFIG", config);
    Ok(command)
}

impl Client for Ours {
    fn check(&mut self, text: &str) -> anyhow::Result<bool> {
        std::fs::write(&self.file, text).context("writing the file")?;
        let arguments = json!({ "filePath": self.path });
        let answer = self.ask("tools/call", json!({ "name": "lsp_check", "arguments": arguments }))?;
        let text = answer.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        Ok(text.contains("ERROR ["))
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
