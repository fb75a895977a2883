//! Everything that a socket waits for beside its feeds and its own commands, as one stream.
//!
//! Each source is polled only when it has been woken: with a `select!` over all of them every frame that goes out would
//! take its place in the waiting lists of all the others anew, and those lists are shared by all sockets.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{self, BoxStream, SelectAll, SplitStream, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::overview::{Gathered, Overview};

pub(super) type Events = SelectAll<BoxStream<'static, Event>>;

pub(super) enum Event {
    /// What the browser said; `None` when it says nothing more.
    Incoming(Option<Result<Message, axum::Error>>),
    Overview(Gathered),
    ProjectsChanged,
    Revoked,
    Ping,
    Closing,
}

pub(super) struct Sources {
    pub(super) incoming: SplitStream<WebSocket>,
    pub(super) overview: Overview,
    pub(super) projects: watch::Receiver<()>,
    pub(super) revocations: watch::Receiver<()>,
    pub(super) ping_every: Duration,
    pub(super) closing: CancellationToken,
}

/// Returns the stream of all that.
pub(super) fn events(sources: Sources) -> Events {
    let Sources { incoming, overview, projects, revocations, ping_every, closing } = sources;
    let incoming =
        incoming.map(Some).chain(stream::once(std::future::ready(None))).map(Event::Incoming).boxed();
    let overview = stream::unfold(overview, |mut overview| async move {
        let news = overview.next().await?;
        Some((Event::Overview(news), overview))
    });
    let mut ping = tokio::time::interval_at(Instant::now() + ping_every, ping_every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ping = stream::unfold(ping, |mut ping| async move {
        ping.tick().await;
        Some((Event::Ping, ping))
    });
    let closing = stream::once(closing.cancelled_owned()).map(|()| Event::Closing);
    stream::select_all([
        incoming,
        // Without sessions there is no server any more.
        overview.chain(stream::once(std::future::ready(Event::Closing))).boxed(),
        changes(projects, || Event::ProjectsChanged),
        changes(revocations, || Event::Revoked),
        ping.boxed(),
        closing.boxed(),
    ])
}

fn changes(of: watch::Receiver<()>, event: fn() -> Event) -> BoxStream<'static, Event> {
    stream::unfold(of, move |mut of| async move {
        of.changed().await.ok()?;
        Some((event(), of))
    })
    .boxed()
}
