//! Commands of the socket: the same as the HTTP routes', answered by `ack` or `error`.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::DoneResponse;
use chartroom_protocol::ws::{ClientCommand, ClientFrame, ServerFrame};
use chartroom_sessions::{Feed, ProviderError, SessionService};
use serde::Serialize;
use serde_json::Value;

/// What a command led to.
pub(super) struct Done {
    /// What the asker is told; nothing if it gave no id and all is well.
    pub(super) answer: Option<ServerFrame>,
    pub(super) effect: Effect,
}

pub(super) enum Effect {
    None,
    /// The socket's subscription of that number is ready.
    Follow {
        feed: Box<Feed>,
        number: u64,
    },
    /// The socket's subscription of that number has failed.
    NoFeed {
        session_id: SessionId,
        number: u64,
    },
}

/// Reads a frame of unknown quality. What is wrong with it is an `error` frame, with its id if it has one.
pub(super) fn parse(text: &str) -> Result<ClientFrame, Box<ServerFrame>> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| refusal(None, &format!("the frame is not JSON: {error}")))?;
    let request_id = value.get("requestId").and_then(Value::as_str).map(str::to_owned);
    serde_json::from_value(value)
        .map_err(|error| refusal(request_id, &format!("the frame is not a command: {error}")))
}

/// An `error` frame for a frame that cannot be a command.
pub(super) fn refusal(request_id: Option<String>, message: &str) -> Box<ServerFrame> {
    Box::new(ServerFrame::Error {
        request_id,
        code: Some(ErrorCode::InvalidRequest),
        message: message.to_owned(),
    })
}

/// Does what a frame asks. `Unsubscribe` is the connection's own and does nothing here; `number` is that of the
/// socket's last subscription.
pub(super) async fn run(sessions: SessionService, frame: ClientFrame, number: u64) -> Done {
    let mut effect = Effect::None;
    let result = match frame.command {
        ClientCommand::Subscribe { session_id, after_seq } => {
            match sessions.subscribe(&session_id, after_seq).await {
                Ok(feed) => {
                    effect = Effect::Follow { feed: Box::new(feed), number };
                    json(Ok(DoneResponse {}))
                }
                Err(error) => {
                    effect = Effect::NoFeed { session_id, number };
                    Err(error)
                }
            }
        }
        ClientCommand::Unsubscribe { .. } => json(Ok(DoneResponse {})),
        ClientCommand::Load { session_id } => json(sessions.load(&session_id).await),
        ClientCommand::Send { session_id, params } => json(sessions.send(&session_id, params).await),
        ClientCommand::Cancel { session_id } => json(done(sessions.cancel(&session_id).await)),
        ClientCommand::Kill { session_id } => json(done(sessions.kill(&session_id).await)),
        ClientCommand::Answer { session_id, params } => {
            json(done(sessions.answer(&session_id, params).await))
        }
        ClientCommand::Queue { session_id, change } => json(sessions.change_queue(&session_id, change).await),
        ClientCommand::Model { session_id, params } => {
            json(done(sessions.set_model(&session_id, params.model).await))
        }
        ClientCommand::Mode { session_id, params } => {
            json(done(sessions.set_mode(&session_id, params.mode).await))
        }
    };
    let answer = match (result, frame.request_id) {
        (Ok(result), Some(request_id)) => Some(ServerFrame::Ack { request_id, result }),
        (Ok(_), None) => None,
        (Err(error), request_id) => {
            Some(ServerFrame::Error { request_id, code: Some(error.code), message: error.message })
        }
    };
    Done { answer, effect }
}

fn done(result: Result<(), ProviderError>) -> Result<DoneResponse, ProviderError> {
    result.map(|()| DoneResponse {})
}

fn json<T: Serialize>(result: Result<T, ProviderError>) -> Result<Value, ProviderError> {
    result.and_then(|response| {
        serde_json::to_value(response)
            .map_err(|error| ProviderError::new(ErrorCode::Internal, error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use chartroom_transport::Keeper;

    use super::*;
    use crate::app::App;
    use crate::config::Config;
    use crate::data::DataFolder;

    #[tokio::test]
    async fn a_subscription_that_fails_is_told_to_the_socket_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let keeper = Keeper { program: "/bin/false".into(), args: Vec::new() };
        let app = App::open(Config::default(), DataFolder::open(home.path()).unwrap(), keeper).unwrap();
        let frame = parse(r#"{"type":"subscribe","sessionId":"none","requestId":"r"}"#).unwrap();
        let done = run(app.sessions().clone(), frame, 7).await;
        assert!(matches!(done.answer, Some(ServerFrame::Error { .. })), "{:?}", done.answer);
        match done.effect {
            Effect::NoFeed { session_id, number } => assert_eq!((session_id.as_str(), number), ("none", 7)),
            Effect::None | Effect::Follow { .. } => panic!("the socket would keep the id for ever"),
        }
    }
}
