//! One socket of a terminal, from its opening to its end.
//!
//! Nothing waits here: what is printed lies in the terminal's own bounded scrollback until the browser has drawn what
//! it was sent before, and what is typed goes to the terminal's task, which bounds it.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use chartroom_protocol::terminal::{TerminalCommand, TerminalFrame};
use chartroom_terminals::{Attachment, Event};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::size;
use crate::app::App;
use crate::http::access::DeviceId;

/// A browser answers pings by itself, so silence means that it is gone.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(65);
/// A browser that takes nothing for so long is cut; it comes back and is given the scrollback.
const WRITE: Duration = Duration::from_secs(60);

pub(super) struct Connection {
    app: App,
    attachment: Attachment,
    /// The browser that looks; a script has none.
    device: Option<DeviceId>,
}

/// Why a socket ends.
enum End {
    /// The other side went, or cannot be written to.
    Gone,
    Close(u16, &'static str),
}

impl Connection {
    pub(super) fn new(app: App, attachment: Attachment, device: Option<DeviceId>) -> Self {
        Self { app, attachment, device }
    }

    pub(super) async fn run(mut self, mut socket: WebSocket) {
        let end = match self.run_until_end(&mut socket).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        if let End::Close(code, reason) = end {
            let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
            if timeout(Duration::from_secs(1), socket.send(close)).await.is_err() {
                tracing::debug!("a terminal's socket did not take its close frame");
            }
        }
    }

    async fn run_until_end(&mut self, socket: &mut WebSocket) -> Result<std::convert::Infallible, End> {
        let mut revocations = self.app.access().revocations();
        let closing = self.app.closing().clone();
        let mut ping = interval_at(Instant::now() + PING, PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_received = Instant::now();
        send(socket, &TerminalFrame::Attached { replayed: self.attachment.replayed() }).await?;
        loop {
            tokio::select! {
                biased;
                () = closing.cancelled() => return Err(End::Close(close_code::AWAY, "the server is stopping")),
                revoked = revocations.changed() => match revoked {
                    Ok(()) => self.check_device()?,
                    Err(_) => return Err(End::Gone),
                },
                _ = ping.tick() => {
                    if last_received.elapsed() > SILENCE {
                        return Err(End::Gone);
                    }
                    // Its time may be over too.
                    self.check_device()?;
                    write(socket, Message::Ping(Vec::new().into())).await?;
                }
                message = socket.recv() => {
                    last_received = Instant::now();
                    self.handle(message).await?;
                }
                event = self.attachment.next() => tell(socket, event).await?,
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

    async fn handle(&self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        match message {
            Some(Ok(Message::Binary(typed))) => self.attachment.type_in(typed.to_vec()).await,
            Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                Ok(TerminalCommand::Read { bytes }) => self.attachment.has_read(bytes),
                Ok(TerminalCommand::Resize { columns, rows }) => {
                    self.attachment.resize(size(columns, rows)).await;
                }
                Err(error) => {
                    tracing::debug!("a terminal's frame is no command: {error}");
                    return Err(End::Close(close_code::PROTOCOL, "the frame is no command"));
                }
            },
            // The library answers pings.
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_))) | None => return Err(End::Gone),
            Some(Err(error)) => {
                tracing::debug!("a terminal's socket ended early: {error}");
                return Err(End::Close(close_code::PROTOCOL, "the frame could not be read"));
            }
        }
        Ok(())
    }
}

async fn tell(socket: &mut WebSocket, event: Event) -> Result<(), End> {
    match event {
        Event::Printed(bytes) => write(socket, Message::Binary(bytes.into())).await,
        Event::Skipped => send(socket, &TerminalFrame::Skipped).await,
        Event::Refused(bytes) => send(socket, &TerminalFrame::Refused { bytes }).await,
        Event::Exited(exit) => {
            let (how, success) = (exit.to_string(), exit.is_success());
            send(socket, &TerminalFrame::Ended { how, success }).await
        }
        Event::Gone => Err(End::Close(close_code::NORMAL, "the terminal was closed")),
    }
}

async fn send(socket: &mut WebSocket, frame: &TerminalFrame) -> Result<(), End> {
    let text = serde_json::to_string(frame).expect("our wire types have string keys only");
    write(socket, Message::text(text)).await
}

async fn write(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    match timeout(WRITE, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::debug!("a terminal's socket cannot be written: {error}");
            Err(End::Gone)
        }
        Err(_elapsed) => {
            tracing::info!("a browser took nothing for {} s and was cut", WRITE.as_secs());
            Err(End::Gone)
        }
    }
}
