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
}

impl Lite {
    /// Starts a server that keeps its data in this folder, and waits until it listens.
    #[track_caller]
    pub fn start(data: &Path) -> Self {
        let port = free_port();
        let mut server = Self { child: None, data: data.to_owned(), port };
        server.restart();
        server
    }

    /// Where it is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again at the same address, after [`Lite::kill`].
    #[track_caller]
    pub fn restart(&mut self) {
        self.kill();
        #[allow(clippy::disallowed_methods, reason = "a tool of the tests; nothing of a project is run")]
        let mut command = Command::new(tools::milvus_lite());
        command.arg("server").arg("--data-dir").arg(&self.data).args(["--host", "127.0.0.1", "--port"]);
        command.arg(self.port.to_string()).env("PYTHONUNBUFFERED", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("milvus-lite starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("it has an output");
        BufReader::new(output).read_line(&mut line).expect("it can be read");
        assert!(line.contains("listening"), "milvus-lite said: {line:?}");
        self.child = Some(child);
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
