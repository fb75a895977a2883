//! The tools of a session for an agent in a sandbox that starts its MCP servers itself.
//!
//! Our own program would be inside of that sandbox, where our data is out of reach. There it only connects to a socket
//! and hands lines to and fro; the tools run here, with what the sandbox allows of them. Who connects shows a key that
//! the agent was given for this session, because the folder of the sockets is one for all of them.

use std::io;
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

use super::agent_tools::Answers;
use crate::http::Secret;

/// The variable in which our program finds the key.
pub(crate) const KEY: &str = "CHARTROOM_BRIDGE_KEY";
/// The longest message of an agent.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;
/// How many calls of one agent are answered at a time; the next ones wait in its pipe.
const MAX_CALLS: usize = 16;
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

/// Makes the folder of a server's sockets, or empties the one that an earlier run has left. Only the server itself may call
/// it, of which there is one on a data folder.
pub(super) fn folder(data_dir: &Path) -> io::Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    data_dir.hash(&mut hasher);
    let uid = rustix::process::geteuid().as_raw();
    let folder =
        std::env::temp_dir().canonicalize()?.join(format!("chartroom-{uid}-{:012x}", hasher.finish() >> 16));
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
    let places = Arc::new(Semaphore::new(MAX_CALLS));
    let mut calls = tokio::task::JoinSet::new();
    while let Some(message) = next(&mut messages).await {
        while calls.try_join_next().is_some() {}
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let (answers, write) = (answers.clone(), write.clone());
        calls.spawn(async move {
            let _place = place;
            if let Some(answer) = answers.answer(message).await
                && let Err(error) = say(&write, &answer).await
            {
                tracing::debug!("an agent did not wait for its tool: {error}");
            }
        });
    }
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

/// The other end, inside of the sandbox: stdin to the socket, the socket to stdout, until either is done.
pub(crate) async fn cross(socket: &Path, key: &str) -> io::Result<()> {
    let stream = UnixStream::connect(socket).await?;
    let (mut read, mut write) = stream.into_split();
    let mut shown = json!(key).to_string();
    shown.push('\n');
    write.write_all(shown.as_bytes()).await?;
    let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    tokio::select! {
        sent = tokio::io::copy(&mut stdin, &mut write) => sent.map(drop),
        heard = flushing(&mut read, &mut stdout) => heard,
    }
}

/// Standard output keeps what it is given until it is told to write.
async fn flushing(read: &mut OwnedReadHalf, stdout: &mut tokio::io::Stdout) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = tokio::io::AsyncReadExt::read(read, &mut buffer).await?;
        if n_read == 0 {
            return Ok(());
        }
        stdout.write_all(&buffer[..n_read]).await?;
        stdout.flush().await?;
    }
}
