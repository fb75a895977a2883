//! The host of a root's service: other processes of this user come in through a socket and use the same one.

use std::sync::Weak;
use std::time::Duration;

use chartroom_protocol::lsp::{ReadyParams, methods};
use chartroom_transport::{Framing, Handler, PeerOptions, ResponseError, connect};
use serde_json::Value;
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::place::Taken;
use super::{LspHandle, Shared};

/// The open socket. Dropping it sends the guests away and gives the place to the next.
pub(super) struct Host {
    taken: Taken,
    closing: CancellationToken,
}

impl Host {
    /// Lets guests in for as long as `shared` lives.
    pub(super) fn open(taken: Taken, listener: UnixListener, shared: Weak<Shared>) -> Self {
        let closing = CancellationToken::new();
        tokio::spawn(accept_guests(listener, shared, closing.clone()));
        Self { taken, closing }
    }

    /// Sends the guests away, who look for another host then; the place stays taken until the host is dropped.
    pub(super) fn stop_listening(&self) {
        self.taken.stop_listening();
        self.closing.cancel();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

async fn accept_guests(listener: UnixListener, shared: Weak<Shared>, closing: CancellationToken) {
    loop {
        let arrived = tokio::select! {
            arrived = listener.accept() => arrived,
            () = closing.cancelled() => return,
        };
        match arrived {
            Ok((stream, _address)) => {
                tokio::spawn(serve_guest(stream, shared.clone(), closing.clone()));
            }
            Err(error) => {
                tracing::debug!(%error, "a guest could not be let in");
                // Out of file descriptors, most likely: it passes, and must not take a core meanwhile.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve_guest(stream: UnixStream, shared: Weak<Shared>, closing: CancellationToken) {
    let Some(root) = shared.upgrade().map(|shared| shared.root.to_string()) else { return };
    let (read, write) = stream.into_split();
    let options = PeerOptions::new("a guest of the language service", Framing::ContentLength);
    let peer = connect(read, write, options, Guest { shared });
    if let Err(error) = peer.notify(methods::READY, ReadyParams { workspace_root: root }).await {
        tracing::debug!(%error, "a guest left at once");
        return;
    }
    tokio::select! {
        reason = peer.closed() => tracing::debug!(reason, "a guest left"),
        () = closing.cancelled() => peer.close("its host ended"),
    }
}

/// Answers one guest out of the host's own handle, so that both see the same service, dead or alive.
struct Guest {
    shared: Weak<Shared>,
}

impl Handler for Guest {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        let Some(shared) = self.shared.upgrade() else {
            // The host is ending; the guest sees it by its closed connection and asks the next.
            return std::future::pending().await;
        };
        LspHandle { shared }.answer_guest(&method, params).await
    }
}
