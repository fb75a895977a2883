//! The messages of JSON-RPC 2.0, read leniently and written strictly.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The error codes this crate answers with, and those that callers look for.
pub mod codes {
    /// The message is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The peer does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not have the method's shape.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The peer failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// Too many requests are being worked on.
    pub const BUSY: i64 = -32000;
    /// The asker has cancelled (LSP's own code).
    pub const REQUEST_CANCELLED: i64 = -32800;
}

/// An error that answers a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct ResponseError {
    /// One of [`codes`], or the peer's own.
    pub code: i64,
    /// A sentence for people.
    pub message: String,
    /// More, in the peer's own form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ResponseError {
    /// An error with a code of the caller's own.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        ResponseError { code, message: message.into(), data: None }
    }

    /// The answer to a method that nobody handles.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(codes::METHOD_NOT_FOUND, format!("unknown method {method}"))
    }

    /// The answer to parameters of the wrong shape.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(codes::INVALID_PARAMS, message)
    }

    /// The answer when we failed, not the caller.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(codes::INTERNAL_ERROR, message)
    }

    /// Reads the `error` member of a response, whatever its shape.
    fn read(error: Value) -> Self {
        match serde_json::from_value(error.clone()) {
            Ok(error) => error,
            Err(_) => {
                let message =
                    error.get("message").and_then(Value::as_str).unwrap_or("an error of no known shape");
                ResponseError { code: codes::INTERNAL_ERROR, message: message.to_owned(), data: Some(error) }
            }
        }
    }
}

/// The id of a request, as something that can be compared: the JSON text of a number or a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RequestKey(String);

impl RequestKey {
    pub(super) fn of(id: &Value) -> Self {
        // Some peers answer to 1 with 1.0.
        match id.as_f64() {
            Some(number) if id.as_u64().is_none() && number.fract() == 0.0 && number.abs() < 1e15 => {
                RequestKey(format!("{number:.0}"))
            }
            _ => RequestKey(id.to_string()),
        }
    }
}

/// A message of the other side, told apart.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Result<Value, ResponseError>,
    },
    /// JSON, but none of the above; says what it lacks.
    Unusable(&'static str),
}

impl Message {
    /// Tells a message apart. A missing `jsonrpc` member is forgiven: several agents leave it out.
    pub(super) fn read(value: Value) -> Message {
        let Value::Object(mut object) = value else { return Message::Unusable("it is not an object") };
        let id = object.remove("id").filter(|id| !id.is_null());
        if let Some(id) = &id
            && !id.is_number()
            && !id.is_string()
        {
            return Message::Unusable("its id is neither a number nor a string");
        }
        match object.remove("method") {
            Some(Value::String(method)) => {
                let params = object.remove("params").unwrap_or(Value::Null);
                match id {
                    Some(id) => Message::Request { id, method, params },
                    None => Message::Notification { method, params },
                }
            }
            Some(_) => Message::Unusable("its method is not a string"),
            None => Self::read_response(id, object),
        }
    }

    fn read_response(id: Option<Value>, mut object: Map<String, Value>) -> Message {
        let error = object.remove("error").filter(|error| !error.is_null());
        match (id, error) {
            (Some(id), Some(error)) => Message::Response { id, result: Err(ResponseError::read(error)) },
            // A result of `undefined` is left out by JavaScript peers.
            (Some(id), None) => {
                Message::Response { id, result: Ok(object.remove("result").unwrap_or(Value::Null)) }
            }
            (None, Some(_)) => Message::Unusable(
                "it is an error without an id: the other side could not read a message of ours",
            ),
            (None, None) => Message::Unusable("it has neither a method nor an id"),
        }
    }
}

pub(super) fn request(id: u64, method: &str, params: Value) -> Value {
    with_params(json!({"jsonrpc": "2.0", "id": id, "method": method}), params)
}

pub(super) fn notification(method: &str, params: Value) -> Value {
    with_params(json!({"jsonrpc": "2.0", "method": method}), params)
}

pub(super) fn response(id: Value, result: Result<Value, ResponseError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// `params` may be an object or an array; null means that there are none, and is left out.
fn with_params(mut message: Value, params: Value) -> Value {
    if !params.is_null() {
        message["params"] = params;
    }
    message
}
