//! The real Milvus of the tests: the lite server as a process of its own, to be used, stopped, killed and started again.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::tools;

/// A server on loopback. Ends with this handle.
pub struct Lite {
    child: Option<Child>,
    data: PathBuf,
    port: u16,
    guard: Option<Guard>,
}

/// Who is let in, and by which certificate the server is known. The lite server itself lets everybody in.
pub struct Guard {
    /// A JSON file, token to `all` or `read`; read at every call.
    pub tokens: PathBuf,
    /// A certificate and its key, PEM: the server then speaks TLS alone.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Lite {
    /// Starts a server that keeps its data in this folder, and waits until it listens.
    #[track_caller]
    pub fn start(data: &Path) -> Self {
        Self::start_with(data, None)
    }

    /// The same engine behind a guard.
    #[track_caller]
    pub fn guarded(data: &Path, guard: Guard) -> Self {
        Self::start_with(data, Some(guard))
    }

    #[track_caller]
    fn start_with(data: &Path, guard: Option<Guard>) -> Self {
        let mut server = Self { child: None, data: data.to_owned(), port: free_port(), guard };
        server.restart();
        server
    }

    /// Where it is.
    pub fn address(&self) -> String {
        let tls = self.guard.as_ref().is_some_and(|guard| guard.tls.is_some());
        format!("{}://127.0.0.1:{}", if tls { "https" } else { "http" }, self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again at the same address, after [`Lite::kill`].
    #[track_caller]
    pub fn restart(&mut self) {
        self.kill();
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("milvus-lite starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("it has an output");
        BufReader::new(output).read_line(&mut line).expect("it can be read");
        assert!(line.contains("listening"), "milvus-lite said: {line:?}");
        self.child = Some(child);
    }

    fn command(&self) -> Command {
        #[allow(clippy::disallowed_methods, reason = "a tool of the tests; nothing of a project is run")]
        let program = |path: PathBuf| Command::new(path);
        let port = self.port.to_string();
        let mut command = match &self.guard {
            None => {
                let mut command = program(tools::milvus_lite());
                command.arg("server").arg("--data-dir").arg(&self.data);
                command.args(["--host", "127.0.0.1", "--port", &port]);
                command
            }
            Some(guard) => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/milvus/guarded.py");
                let mut command = program(tools::milvus_lite().with_file_name("python"));
                command.arg(script).arg(&self.data).arg(&port).arg(&guard.tokens);
                command.args(guard.tls.iter().flat_map(|(certificate, key)| [certificate, key]));
                command
            }
        };
        command.env("PYTHONUNBUFFERED", "1");
        command
    }

    /// Ends it as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it is ours");
            child.wait().expect("it ends");
        }
    }

    /// Stops it: it holds its connections and answers nothing.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("it is ours");
    }
}

impl Drop for Lite {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    listener.local_addr().expect("it is bound").port()
}
