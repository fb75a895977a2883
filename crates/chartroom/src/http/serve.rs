//! Lets connections in, with bounds, until the shutdown signal; then ends everything.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::peer::Connection;
use super::places::{Bounds, Place, Places};
use super::{Door, limits};
use crate::app::{App, adopt};

/// Serves `app` on `listener` until `shutdown`, then ends every connection and every child.
pub async fn run(listener: TcpListener, app: App, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    serve(listener, app, shutdown, Bounds::default()).await
}

async fn serve(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()>,
    bounds: Bounds,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("asking the listener for its address")?;
    let door = Arc::new(Door::new(address, app.clone()));
    let (places, entrance) = Places::new(bounds);
    tracing::info!(%address, "listening");
    let left = app.clone();
    // Ends by itself, and with the runtime; nobody waits for what an earlier run left.
    drop(tokio::spawn(async move {
        adopt(&left).await;
        left.sessions().go_on().await;
    }));

    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, most likely; there is no signal for "there are some again".
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("a socket will wait for full packets: {error}");
        }
        let connection = Connection::new(peer, stream.local_addr().unwrap_or(address));
        let (door, closing) = (door.clone(), app.closing().clone());
        tokio::spawn(serve_connection(stream, door, closing, (connection, entrance.take(peer.ip()))));
    }

    drop((listener, entrance));
    tracing::info!("stopping");
    // Sockets and sessions end first: a connection that waits for one of them can then finish too.
    app.close().await;
    if tokio::time::timeout(limits::DRAIN, places.all_gone()).await.is_err() {
        tracing::info!("some connections were still busy and were cut");
    }
    Ok(())
}

/// Answers one connection's requests until it ends, until its place is wanted, or until the server closes and the current
/// one is answered.
async fn serve_connection<S>(
    stream: S,
    door: Arc<Door>,
    closing: CancellationToken,
    (connection, place): (Connection, Place),
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let of_requests = place.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (door, place, connection) = (door.clone(), of_requests.clone(), connection.clone());
        async move {
            let _answering = place.answer();
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(place);
            request.extensions_mut().insert(connection);
            Ok::<_, Infallible>(door.answer(request).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD)
        .max_header_size(limits::HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.turned_away() => return tracing::debug!("a connection without a key was cut"),
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended early: {error}");
    }
}

#[cfg(test)]
mod tests;
