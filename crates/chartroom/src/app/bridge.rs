//! The tools of a session for an agent that starts its MCP servers itself.
//!
//! Our own program is started by the agent, while it starts itself: it only connects to a socket and hands lines to and
//! fro; the tools run here, where everything is open already. In a sandbox it is also all that it could do, since our data
//! is out of reach there. Who connects shows a key that the agent was given for this session, because the folder of the
//! sockets is one for all of them.

mod person;

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::codec::{Codec, Framing, Received, parse};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::codec::FramedRead;

use self::person::Person;
use super::agent_tools::Answers;
use crate::http::Secret;

/// The variable in which our program finds the key.
pub(crate) const KEY: &str = "CHARTROOM_BRIDGE_KEY";
/// The longest message of an agent.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;
/// How many calls of one agent are answered at a time.
const MAX_CALLS: usize = 16;
/// How many more may wait for that; the next ones are refused. What the agent's person answers must be read meanwhile.
const MAX_WAITING: usize = 64;
/// JSON-RPC's code for a server that has too much to do.
const TOO_MANY: i64 = -32000;
/// How many programs of one agent are connected at a time.
const MAX_CONNECTIONS: usize = 8;
/// How long somebody may take to show the key.
const PATIENCE: Duration = Duration::from_secs(10);

/// One session's socket. Dropping it ends what is connected and removes it.
#[derive(Debug)]
pub(super) struct Bridge {
    path: PathBuf,
    key: Secret,
    task: JoinHandle<()>,
}

impl Bridge {
    /// Opens a socket in the folder of them. Must be called within a tokio runtime.
    pub(super) fn open(folder: &Path, answers: Arc<Answers>) -> anyhow::Result<Self> {
        let (name, key) = (Secret::random()?, Secret::random()?);
        // Short: the path of a socket has room for about a hundred bytes.
        let path = folder.join(&name.expose()[..12]);
        let listener = UnixListener::bind(&path)?;
        let task = tokio::spawn(serve(listener, key.clone(), answers));
        Ok(Bridge { path, key, task })
    }

    /// Returns how an agent starts our program so that it comes here.
    pub(super) fn server(&self, name: &str, program: &Path) -> Value {
        json!({
            "name": name,
            "command": program,
            "args": ["mcp", "--bridge", self.path],
            "env": [{ "name": KEY, "value": self.key.expose() }],
        })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "the socket of a session was gone already");
        }
    }
}

/// Makes the folder of the sockets of agents that may see our data, or empties the one that an earlier run has left. Only
/// the server itself may call it, of which there is one on a data folder.
pub(super) fn folder_within(data_dir: &Path) -> io::Result<PathBuf> {
    ours(data_dir.join("bridges"))
}

/// The same for agents in a sandbox, outside of the data folder, which they cannot see.
pub(super) fn folder_beside(data_dir: &Path) -> io::Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    data_dir.hash(&mut hasher);
    let uid = rustix::process::geteuid().as_raw();
    ours(std::env::temp_dir().canonicalize()?.join(format!("chartroom-{uid}-{:012x}", hasher.finish() >> 16)))
}

/// Makes a folder that is the user's alone and empty.
fn ours(folder: PathBuf) -> io::Result<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // Its name can be guessed: it must be ours and nobody else's, and no link.
    let found = std::fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != uid || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} is not a folder of yours alone", folder.display())));
    }
    for left in std::fs::read_dir(&folder)?.flatten() {
        if let Err(error) = std::fs::remove_file(left.path()) {
            tracing::debug!(path = %left.path().display(), %error, "a socket of an earlier run cannot be removed");
        }
    }
    Ok(folder)
}

/// Lets programs in until the session ends; they end with it.
async fn serve(listener: UnixListener, key: Secret, answers: Arc<Answers>) {
    let mut connected = tokio::task::JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                while connected.try_join_next().is_some() {}
                if connected.len() < MAX_CONNECTIONS {
                    connected.spawn(speak(stream, key.clone(), answers.clone()));
                }
            }
            Err(error) => {
                // Out of descriptors, most likely; there is no signal for "there are some again".
                tracing::warn!("an agent's tools could not be connected: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn speak(stream: UnixStream, key: Secret, answers: Arc<Answers>) {
    let (read, write) = stream.into_split();
    let mut messages = FramedRead::new(read, Codec::new(Framing::Lines, MAX_MESSAGE));
    let shown = tokio::time::timeout(PATIENCE, next(&mut messages)).await;
    let is_key = |shown: &Value| shown.as_str().is_some_and(|shown| key.matches(shown));
    if !matches!(&shown, Ok(Some(shown)) if is_key(shown)) {
        return tracing::debug!("somebody without the key of a session asked for its tools");
    }
    let write = Arc::new(Mutex::new(write));
    let person = Arc::new(Person::behind(write.clone()));
    let places = Arc::new(Semaphore::new(MAX_CALLS));
    let mut calls = tokio::task::JoinSet::new();
    while let Some(message) = next(&mut messages).await {
        while calls.try_join_next().is_some() {}
        if person.hears(&message) {
            continue;
        }
        let (answers, write, person) = (answers.clone(), write.clone(), person.clone());
        let place = places.clone();
        let is_refused = calls.len() >= MAX_CALLS + MAX_WAITING;
        calls.spawn(async move {
            let answer = match message.get("id") {
                Some(id) if is_refused => Some(too_many(id)),
                Some(_) => {
                    let Ok(_place) = place.acquire_owned().await else { return };
                    answers.answer(message, &*person).await
                }
                // It may be the end of a call that has its place.
                None => answers.answer(message, &*person).await,
            };
            if let Some(answer) = answer
                && let Err(error) = say(&write, &answer).await
            {
                tracing::debug!("an agent did not wait for its tool: {error}");
            }
        });
    }
}

fn too_many(id: &Value) -> Value {
    let error = json!({ "code": TOO_MANY, "message": "too many calls at once; wait for their answers" });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// The next JSON message; what is none is passed over, as on every pipe.
async fn next(messages: &mut FramedRead<OwnedReadHalf, Codec>) -> Option<Value> {
    while let Some(Ok(frame)) = messages.next().await {
        if let Received::Message(message) = parse(frame) {
            return Some(message);
        }
    }
    None
}

async fn say(write: &Mutex<OwnedWriteHalf>, answer: &Value) -> io::Result<()> {
    let mut line = answer.to_string();
    line.push('\n');
    write.lock().await.write_all(line.as_bytes()).await
}

/// The other end, a child of the agent's: stdin to the socket, the socket to stdout, until either is done.
///
/// Without a runtime: an agent starts it while it starts itself, and what this takes the agent has to do without.
pub(crate) fn cross(socket: &Path, key: &str) -> io::Result<()> {
    let mut read = std::os::unix::net::UnixStream::connect(socket)?;
    let mut shown = json!(key).to_string();
    shown.push('\n');
    read.write_all(shown.as_bytes())?;
    let write = read.try_clone()?;
    std::thread::Builder::new().spawn(move || {
        if let Err(error) = hand_on(&mut io::stdin().lock(), &mut &write) {
            tracing::debug!("what the agent says is not handed on any more: {error}");
        }
        // Its end is the end of both, whatever the other side does then.
        write.shutdown(std::net::Shutdown::Both).ok();
    })?;
    hand_on(&mut read, &mut io::stdout().lock())
}

/// Standard output keeps what it is given until it is told to write.
fn hand_on(from: &mut impl io::Read, to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = from.read(&mut buffer)?;
        if n_read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..n_read])?;
        to.flush()?;
    }
}
