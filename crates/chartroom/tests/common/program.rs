//! The real binary, with a home folder and an environment of its own.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]
#![allow(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A home folder for one test.
pub struct Home {
    pub folder: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chartroom"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path())
            // Agents and servers that are killed leave their scratch files: here they go with the home.
            .env("TMPDIR", self.path())
            .env("CHARTROOM_HOME", self.data())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end and returns its exit code, stdout and stderr.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        finish(self.command(args).output().unwrap())
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Starts a server on a free port and waits for its ready line.
    pub fn serve(&self, args: &[&str]) -> Server {
        let mut command = self.command(&["serve", "--port", "0"]);
        command.args(args);
        Server::start(command)
    }
}

pub fn finish(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A server that is ready.
pub struct Server {
    pub child: Child,
    pub ready_line: String,
    stdout: BufReader<std::process::ChildStdout>,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut ready_line = String::new();
        stdout.read_line(&mut ready_line).unwrap();
        if ready_line.is_empty() {
            let mut why = String::new();
            child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
            panic!("the server did not start: {why}");
        }
        Self { child, ready_line, stdout }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        self.link().strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned()
    }

    pub fn link(&self) -> String {
        self.ready_line.trim_end().strip_prefix("Chartroom is ready: ").unwrap().to_owned()
    }

    pub fn code(&self) -> String {
        self.link().split_once("?token=").unwrap().1.to_owned()
    }

    /// Sends one request over a connection of its own and returns the whole answer as text.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.host());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Lets a browser in by the link of the ready line, and returns the headers of its page.
    pub fn let_in(&self) -> [(&'static str, String); 3] {
        let entered =
            self.request("GET", &format!("/?token={}", self.code()), &[("user-agent", "Fox/1")], "");
        let value = |name: &str| entered.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let cookie = value("set-cookie: ").split(';').next().unwrap().to_owned();
        let origin = format!("http://{}", self.host());
        let headers =
            [("cookie", cookie.as_str()), ("origin", &origin), ("content-type", "application/json")];
        let code = value("location: /#enter=");
        let answer = self.request("POST", "/api/enter", &headers, &format!("{{\"code\":\"{code}\"}}"));
        let key = answer.split("\"key\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        [("cookie", cookie), ("origin", origin), ("x-chartroom-key", key)]
    }

    /// The status of a request with the headers of a browser's page.
    pub fn status(&self, browser: &[(&'static str, String); 3]) -> String {
        let headers = browser.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.request("GET", "/api/health", &headers, "")[9..12].to_owned()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Sends SIGTERM and returns the exit code, the rest of stdout, and stderr.
    pub fn stop(mut self) -> (i32, String, String) {
        self.signal(Signal::TERM);
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), stdout, stderr)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whatever a failed test left running; an error means that it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn text_of_files(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        text.push_str(&String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()));
    }
    text
}

/// The processes whose environment names this home folder: a test's own server, agents and their children.
pub fn processes_of(home: &Path) -> Vec<u32> {
    let marker = home.as_os_str().as_encoded_bytes();
    let names = |path: PathBuf| {
        std::fs::read(path).is_ok_and(|bytes| bytes.windows(marker.len()).any(|window| window == marker))
    };
    let mut pids: Vec<u32> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid| names(format!("/proc/{pid}/environ").into()))
        .collect();
    pids.sort_unstable();
    pids
}

/// Waits until something is true, for up to a minute; the system has no signal for "a stranger's process ended".
#[track_caller]
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !is_true() {
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "{what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
