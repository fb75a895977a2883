//! One socket from its opening to its end: one task that reads, runs commands and writes.
//!
//! What goes out waits in the feeds' own bounded queues; a browser that does not read blocks only this task, its
//! feeds overflow, and it takes the state again when it reads on.

use std::task::Poll;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use chartroom_protocol::ws::{ClientCommand, ServerFrame};
use chartroom_sessions::Frame;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, SplitSink, StreamExt as _};
use futures_util::{FutureExt as _, SinkExt as _};
use tokio::time::Instant;

use super::commands::{self, Done, Effect};
use super::events::{Event, Events, Sources, events};
use super::feeds::{Feeds, FromFeed};
use super::overview::{News, Overview};
use super::wanted::Wanted;
use crate::app::App;
use crate::http::access::DeviceId;

/// A browser answers pings by itself, so silence means that it is gone.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(65);
/// A browser that takes nothing for so long is cut; it comes back with the last seq it has.
const WRITE: Duration = Duration::from_secs(60);
/// Commands at once; more are refused, so that one socket cannot take the memory of all.
const COMMANDS: usize = 64;
/// Frames that are there at once share a flush.
const AT_ONCE: usize = 64;

pub(super) struct Connection {
    app: App,
    outgoing: SplitSink<WebSocket, Message>,
    /// All that comes from elsewhere.
    events: Events,
    feeds: Feeds,
    wanted: Wanted,
    commands: FuturesUnordered<BoxFuture<'static, Done>>,
    /// The browser that asks; a script has none.
    device: Option<DeviceId>,
}

/// Why a socket ends.
enum End {
    /// The other side went, or cannot be written to.
    Gone,
    Close(u16, &'static str),
}

impl Connection {
    pub(super) fn new(app: App, socket: WebSocket, device: Option<DeviceId>) -> Self {
        let (outgoing, incoming) = socket.split();
        let events = events(Sources {
            incoming,
            overview: Overview::new(app.session_news()),
            projects: app.projects().subscribe(),
            revocations: app.access().revocations(),
            ping_every: PING,
            closing: app.closing().clone(),
        });
        Self {
            device,
            app,
            outgoing,
            events,
            feeds: Feeds::default(),
            wanted: Wanted::default(),
            commands: FuturesUnordered::new(),
        }
    }

    pub(super) async fn run(mut self) {
        let end = match self.run_until_end().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        if let End::Close(code, reason) = end {
            let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
            if tokio::time::timeout(Duration::from_secs(1), self.outgoing.send(close)).await.is_err() {
                tracing::debug!("a socket did not take its close frame");
            }
        }
    }

    async fn run_until_end(&mut self) -> Result<std::convert::Infallible, End> {
        let mut last_received = Instant::now();
        self.send_greeting().await?;
        loop {
            let event = tokio::select! {
                said = self.feeds.next() => {
                    self.send_all(said).await?;
                    continue;
                }
                Some(done) = self.commands.next(), if !self.commands.is_empty() => {
                    self.finish(done).await?;
                    continue;
                }
                event = self.events.next() => event,
            };
            match event {
                Some(Event::Incoming(message)) => {
                    last_received = Instant::now();
                    self.handle_message(message).await?;
                }
                Some(Event::Overview(news)) => self.send_news(&news).await?,
                Some(Event::ProjectsChanged) => self.send_projects().await?,
                Some(Event::Revoked) => self.check_device()?,
                Some(Event::Ping) if last_received.elapsed() > SILENCE => return Err(End::Gone),
                Some(Event::Ping) => {
                    // Its time may be over too.
                    self.check_device()?;
                    self.write(Message::Ping(Vec::new().into())).await?;
                }
                Some(Event::Closing) | None => {
                    return Err(End::Close(close_code::AWAY, "the server is stopping"));
                }
            }
        }
    }

    /// A browser that was put out keeps no open socket.
    fn check_device(&self) -> Result<(), End> {
        match &self.device {
            Some(device) if !self.app.access().is_inside(device) => {
                Err(End::Close(close_code::POLICY, "this browser was signed out"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Tells a new page how things stand.
    async fn send_greeting(&mut self) -> Result<(), End> {
        self.send_projects().await?;
        for agent in self.app.sessions().agents() {
            self.send(&ServerFrame::Agent { cli_type: agent.cli_type, status: agent.status }).await?;
        }
        Ok(())
    }

    async fn send_projects(&mut self) -> Result<(), End> {
        match self.app.projects().list().await {
            Ok(projects) => self.send(&ServerFrame::Projects { projects }).await,
            Err(error) => {
                let message = error.to_string();
                self.send(&ServerFrame::Error { request_id: None, code: None, message }).await
            }
        }
    }

    async fn handle_message(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        match message {
            Some(Ok(Message::Text(text))) => self.command(&text).await,
            Some(Ok(Message::Binary(_))) => {
                self.send(&commands::refusal(None, "frames are JSON text, not binary")).await
            }
            // The library answers pings.
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
            Some(Ok(Message::Close(_))) | None => Err(End::Gone),
            Some(Err(error)) if error.to_string().contains("too long") => {
                Err(End::Close(close_code::SIZE, "the message is too large: 16 MB at most"))
            }
            Some(Err(error)) => {
                tracing::debug!("a socket ended early: {error}");
                Err(End::Close(close_code::PROTOCOL, "the frame could not be read"))
            }
        }
    }

    async fn command(&mut self, text: &str) -> Result<(), End> {
        let frame = match commands::parse(text) {
            Ok(frame) => frame,
            Err(refusal) => return self.send(&refusal).await,
        };
        if self.commands.len() >= COMMANDS {
            let message = "too many commands at once; wait for their answers";
            return self.send(&commands::refusal(frame.request_id, message)).await;
        }
        match &frame.command {
            ClientCommand::Subscribe { session_id, .. } => self.wanted.begin(session_id),
            ClientCommand::Unsubscribe { session_id } => {
                self.wanted.take_back(session_id);
                self.feeds.unfollow(session_id);
            }
            _ => {}
        }
        self.commands.push(commands::run(self.app.sessions().clone(), frame, self.wanted.last()).boxed());
        Ok(())
    }

    async fn finish(&mut self, done: Done) -> Result<(), End> {
        if let Some(answer) = &done.answer {
            self.send(answer).await?;
        }
        match done.effect {
            Effect::None => {}
            Effect::Follow { feed, number } => {
                if self.wanted.end(feed.session_id(), number) {
                    self.feeds.follow(*feed);
                }
            }
            Effect::NoFeed { session_id, number } => {
                self.wanted.end(&session_id, number);
            }
        }
        Ok(())
    }

    /// Writes a frame and whatever else is ready, then flushes once.
    async fn send_all(&mut self, first: FromFeed) -> Result<(), End> {
        let mut said = Some(first);
        let mut n_written = 0;
        while let Some(now) = said {
            match now {
                FromFeed::Frame(frame) => {
                    in_time(self.outgoing.feed(message(frame)?)).await?;
                }
                FromFeed::Ended(_, None) => {}
                FromFeed::Ended(session_id, Some(error)) => {
                    let message = format!("session {session_id} cannot be followed: {error}");
                    self.send(&ServerFrame::Error { request_id: None, code: None, message }).await?;
                }
            }
            n_written += 1;
            said = if n_written < AT_ONCE { self.feeds.next().now_or_never() } else { None };
        }
        in_time(self.outgoing.flush()).await
    }

    /// Writes what lists are told; who follows a session has heard it.
    async fn send_news(&mut self, gathered: &[News]) -> Result<(), End> {
        let unheard = gathered.iter().filter(|news| !self.feeds.follows(&news.session_id));
        let unheard: Vec<_> = unheard.map(|news| Message::Text(news.text.clone())).collect();
        if unheard.is_empty() {
            return Ok(());
        }
        let outgoing = &mut self.outgoing;
        in_time(async {
            for message in unheard {
                outgoing.feed(message).await?;
            }
            outgoing.flush().await
        })
        .await
    }

    async fn send(&mut self, frame: &ServerFrame) -> Result<(), End> {
        let text = serde_json::to_string(frame).expect("our wire types have string keys only");
        self.write(Message::text(text)).await
    }

    async fn write(&mut self, message: Message) -> Result<(), End> {
        in_time(self.outgoing.send(message)).await
    }
}

fn message(frame: Frame) -> Result<Message, End> {
    super::text(frame).map(Message::Text).ok_or(End::Gone)
}

/// Lets a browser be slow for [`WRITE`]. Most writes are done at once and need no clock.
async fn in_time(write: impl Future<Output = Result<(), axum::Error>>) -> Result<(), End> {
    let mut write = std::pin::pin!(write);
    let written = match futures_util::poll!(&mut write) {
        Poll::Ready(written) => Ok(written),
        Poll::Pending => tokio::time::timeout(WRITE, write).await,
    };
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::debug!("a socket cannot be written: {error}");
            Err(End::Gone)
        }
        Err(_elapsed) => {
            tracing::info!("a browser took nothing for {} s and was cut", WRITE.as_secs());
            Err(End::Gone)
        }
    }
}
