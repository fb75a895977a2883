//! Two machines and a real server, and everything that can be wrong between them.

use std::path::PathBuf;
use std::time::Duration;

use chartroom_testkit::milvus::{Guard, Lite};
use chartroom_testkit::proxy::{Proxy, Weather};
use tempfile::TempDir;

use super::line::{IMPATIENT, Line, PATIENT};
use crate::grpc::Address;
use crate::testing::machine::Machine;
use crate::testing::machines::two;

/// The tokens of the two machines.
const FIRST: &str = "first:writes";
const SECOND: &str = "second:too";

/// What keeps the second machine from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outage {
    /// The server is killed; nobody listens.
    Killed,
    /// It is stopped and holds its connections.
    Stopped,
    /// It does not let this token in.
    RefusedToken,
    /// Something between us and it.
    Weather(Weather),
}

/// Later than anybody waits.
pub(super) const LATE: Weather = Weather::Late(Duration::from_secs(600));

pub(super) const OUTAGES: [Outage; 9] = [
    Outage::Killed,
    Outage::Stopped,
    Outage::RefusedToken,
    Outage::Weather(LATE),
    Outage::Weather(Weather::GarbageBytes),
    Outage::Weather(Weather::GarbageMessages),
    Outage::Weather(Weather::EmptyMessages),
    Outage::Weather(Weather::Cut),
    Outage::Weather(Weather::HangUp),
];

pub(super) struct World {
    dir: TempDir,
    lite: Lite,
    /// Between the second machine and the server.
    proxy: Proxy,
    line: Line,
    outage: Option<Outage>,
    /// Shares, and reaches the server without a proxy.
    pub(super) first: Machine,
    /// Has adopted.
    pub(super) second: Machine,
    first_line: Line,
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tokens = dir.path().join("tokens");
        write_tokens(&tokens, true);
        let lite = Lite::guarded(&dir.path().join("milvus"), Guard { tokens, tls: None });
        let proxy = Proxy::before(lite.port());
        let line = |uri: String, token: &str| {
            Line::to(Address { uri, token: Some(token.into()), database: None, ca_file: None })
        };
        let first_line = line(lite.address(), FIRST);
        let line = line(proxy.address(), SECOND);
        let (first, second) = two(first_line.clone(), line.clone());
        Self { dir, lite, proxy, line, outage: None, first, second, first_line }
    }

    /// The server as the first machine sees it.
    pub(super) fn server(&self) -> &Line {
        &self.first_line
    }

    /// The server as the second machine sees it.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Begins; the second machine's client, and those to come, do not wait long.
    pub(super) fn begin(&mut self, outage: Outage) {
        self.end();
        self.line.renew(IMPATIENT);
        self.break_for_the_same_client(outage);
    }

    /// Begins while the second machine's client is in the middle of its work.
    pub(super) fn break_for_the_same_client(&mut self, outage: Outage) {
        self.outage = Some(outage);
        match outage {
            Outage::Killed => self.lite.kill(),
            Outage::Stopped => self.lite.pause(),
            Outage::RefusedToken => write_tokens(&self.tokens(), false),
            Outage::Weather(weather) => self.proxy.weather(weather),
        }
    }

    /// Ends what was begun, and gives the second machine a patient client.
    pub(super) fn end(&mut self) {
        self.end_for_the_same_client();
        self.line.renew(PATIENT);
    }

    pub(super) fn end_for_the_same_client(&mut self) {
        match self.outage.take() {
            Some(Outage::Killed) => self.lite.restart(),
            Some(Outage::Stopped) => self.lite.resume(),
            Some(Outage::RefusedToken) => write_tokens(&self.tokens(), true),
            Some(Outage::Weather(_)) => self.proxy.weather(Weather::Fair),
            None => {}
        }
    }

    fn tokens(&self) -> PathBuf {
        self.dir.path().join("tokens")
    }

    /// Copies what the server holds now, for [`World::restore`].
    pub(super) fn keep(&mut self) {
        self.lite.kill();
        let (data, kept) = self.folders();
        super::copy(&data, &kept);
        self.start();
    }

    /// The server starts again with what it held when it was copied.
    pub(super) fn restore(&mut self) {
        self.empty_folder();
        let (data, kept) = self.folders();
        super::copy(&kept, &data);
        self.start();
    }

    /// The server starts again with nothing.
    pub(super) fn empty(&mut self) {
        self.empty_folder();
        self.start();
    }

    fn empty_folder(&mut self) {
        self.end();
        self.lite.kill();
        std::fs::remove_dir_all(self.folders().0).unwrap();
    }

    fn start(&mut self) {
        self.lite.restart();
        self.first_line.renew(PATIENT);
        self.line.renew(PATIENT);
    }

    fn folders(&self) -> (PathBuf, PathBuf) {
        (self.dir.path().join("milvus"), self.dir.path().join("kept"))
    }
}

fn write_tokens(file: &std::path::Path, second: bool) {
    let mut tokens = serde_json::json!({FIRST: "all"});
    if second {
        tokens[SECOND] = "all".into();
    }
    // At once: the server reads it at every call.
    let new = file.with_extension("new");
    std::fs::write(&new, tokens.to_string()).unwrap();
    std::fs::rename(new, file).unwrap();
}
