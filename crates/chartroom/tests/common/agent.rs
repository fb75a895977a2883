//! A workspace with the fake language server, and MCP clients on it, each a real `chartroom mcp`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{Home, processes_of};

/// A home with a config and a folder `shop`, in which `.foo` files have a language server.
pub struct Scene {
    pub home: Home,
    pub config: PathBuf,
}

impl Scene {
    /// `mode` is how the fake language server behaves.
    pub fn new(mode: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("shop")).unwrap();
        let fake = chartroom_testkit::fakes::lsp();
        let config = format!(
            "[lsp]\nfirstTouchTimeout = 120000\ndiagnosticTimeout = 60000\n\
             [lsp.servers.good]\ncommand = {:?}\nargs = [{mode:?}]\nextensions = [\".foo\"]\n",
            fake.display().to_string()
        );
        let config = home.write("config.toml", &config);
        Self { home, config }
    }

    pub fn trusted(mode: &str) -> Self {
        let scene = Self::new(mode);
        let (code, _, stderr) = scene.run(&["trust", "shop"]);
        assert_eq!(code, 0, "{stderr}");
        scene
    }

    pub fn shop(&self) -> PathBuf {
        self.home.path().join("shop")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("CHARTROOM_CONFIG", &self.config);
        command
    }

    /// Runs a command to its end and returns its exit code, stdout and stderr.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        crate::program::finish(self.command(args).output().unwrap())
    }

    pub fn agent(&self) -> Agent {
        Agent::start(self.command(&["mcp", "--root", "shop", "--only", "lsp,edits"]))
    }

    /// The processes of this scene whose command line holds `word`.
    pub fn processes(&self, word: &str) -> Vec<u32> {
        let holds = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
        };
        let is_keeper = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(b"keeper"))
        };
        processes_of(&self.home.path()).into_iter().filter(|pid| holds(pid) && !is_keeper(pid)).collect()
    }

    /// The language servers that run.
    pub fn servers(&self) -> Vec<u32> {
        self.processes("fake-lsp")
    }

    /// What the shared service has in the data folder: its lock and its socket.
    pub fn traces(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.home.data().join("run")).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.starts_with("lsp-"));
        names.sort();
        names
    }

    /// The process that hosts the service: the one that holds its lock.
    pub fn host(&self) -> Option<u32> {
        processes_of(&self.home.path()).into_iter().find(|pid| {
            let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            open.filter_map(|fd| std::fs::read_link(fd.path()).ok()).any(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("lsp-") && name.contains(".lock")
            })
        })
    }
}

/// An MCP client and its server process.
pub struct Agent {
    pub child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// Messages that answered nothing.
    pub unasked: Vec<Value>,
}

impl Agent {
    pub fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self { child, input, output, next_id: 0, unasked: Vec::new() };
        let client = json!({ "name": "test", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.ask("initialize", hello);
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a call and does not wait.
    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    fn begin_request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the answer of a call; nothing when the server is gone.
    pub fn end_of(&mut self, id: u64) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Some(message["result"].clone());
            }
            self.unasked.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin_request(method, params);
        self.end_of(id).unwrap_or_else(|| panic!("chartroom mcp ended during {method}"))
    }

    /// Calls a tool and returns the whole result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Writes a file with the tool and returns its text.
    pub fn write(&mut self, file: &str, content: &str) -> String {
        let result = self.call("write_file", json!({ "filePath": file, "content": content }));
        text(&result)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Closes stdin as a client does that is done; returns the exit code and stderr.
    pub fn leave(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), stderr)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Whatever a failed test left running; an error means that it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The text of a tool's result.
pub fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}")).to_owned()
}

/// What a write of `ERR message` on the first line answers.
pub fn created(file: &str, message: &str) -> String {
    format!("Created {file} (1 line).\n\n{}", found(file, message))
}

/// The block of a file with one error.
pub fn found(file: &str, message: &str) -> String {
    format!(
        "LSP errors detected in this file, please fix:\n<diagnostics file=\"{file}\">\nERROR [1:1] {message}\n</diagnostics>"
    )
}
