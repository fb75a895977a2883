//! `/ws`: the page's one socket. Frames go out as the sessions say them, commands come in and are answered.

mod commands;
mod connection;
mod events;
mod feeds;
pub(crate) mod overview;
mod wanted;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Utf8Bytes, WebSocketUpgrade};
use axum::response::Response;
use bytes::Bytes;
use chartroom_sessions::Frame;
use utoipa_axum::routes;

use super::guard::Caller;
use super::places::Place;
use super::routes::{Kind, Route};
use super::{SOCKET_PROTOCOL, limits};
use crate::app::App;
use connection::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Socket, routes!(socket))]
}

/// Opens the WebSocket: JSON text frames, `ServerFrame` out and `ClientFrame` in.
#[utoipa::path(get, path = "/ws", tag = "sessions", responses((status = 101, description = "Switching protocols")))]
pub(super) async fn socket(
    State(app): State<App>,
    place: Option<Extension<Place>>,
    caller: Option<Extension<Caller>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let device = match caller {
        Some(Extension(Caller::Browser(device))) => Some(device),
        Some(Extension(Caller::Script | Caller::Cookie(_))) | None => None,
    };
    upgrade
        .protocols([SOCKET_PROTOCOL])
        .max_message_size(limits::SOCKET_MESSAGE)
        .max_frame_size(limits::SOCKET_MESSAGE)
        .read_buffer_size(limits::SOCKET_READ)
        .on_upgrade(move |socket| async move {
            Connection::new(app, socket, device).run().await;
            drop(place);
        })
}

/// A frame's text, which all its readers share; `None` is never seen: we wrote it.
fn text(frame: Frame) -> Option<Utf8Bytes> {
    struct Text(std::sync::Arc<str>);
    impl AsRef<[u8]> for Text {
        fn as_ref(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }
    match Utf8Bytes::try_from(Bytes::from_owner(Text(frame.json))) {
        Ok(text) => Some(text),
        Err(error) => {
            tracing::error!("a frame is no text: {error}");
            None
        }
    }
}
