//! What the SDK's errors mean to us.

use milvus::v2::error::Error;

use crate::trouble::{Trouble, TroubleKind};

/// Milvus' own numbers: a collection or an alias that is not there. A database that is not there says nothing about them.
const MISSING: [i32; 2] = [100, 1600];
/// Who is not known, and who has no right.
const AUTH: [i32; 3] = [1400, 1401, 1402];
/// A collection that is not loaded.
const NOT_LOADED: i32 = 101;
/// The same in the numbers of before.
const OLD_MISSING: i32 = 4;
const OLD_AUTH: i32 = 3;

const BROKEN: &str = "error reading a body from connection";

pub(super) fn trouble_of(error: &Error) -> Trouble {
    let (kind, text) = match error {
        Error::Grpc(status) => {
            // Named by their numbers in the protocol: the SDK does not give its codes out.
            let kind = match status.code() as i32 {
                7 | 16 => TroubleKind::Auth,
                1 | 4 => TroubleKind::Timeout,
                14 => TroubleKind::Transport,
                // tonic's words for a connection that broke under a call.
                2 if status.message() == "transport error" || status.message().ends_with(BROKEN) => {
                    TroubleKind::Transport
                }
                8 => TroubleKind::Unavailable,
                _ => TroubleKind::Parse,
            };
            (kind, format!("{:?}: {}", status.code(), status.message()))
        }
        Error::Server(error) => {
            let reason = error.reason();
            let kind = match (error.code(), error.legacy_code()) {
                (code, _) if MISSING.contains(&code) => TroubleKind::Missing,
                (code, _) if AUTH.contains(&code) => TroubleKind::Auth,
                (NOT_LOADED, _) | (0, NOT_LOADED) => TroubleKind::NotLoaded,
                (0, OLD_MISSING) => TroubleKind::Missing,
                (0, OLD_AUTH) => TroubleKind::Auth,
                _ if reason.contains("auth check failure") || reason.contains("permission deny") => {
                    TroubleKind::Auth
                }
                _ => TroubleKind::Refused,
            };
            (kind, format!("the server refuses: {reason} ({})", error.code()))
        }
        Error::Timeout(text) => (TroubleKind::Timeout, format!("no answer in time: {text}")),
        Error::RetryExhausted { source, .. } => return trouble_of(source),
        Error::MalformedResponse(text) => (TroubleKind::Parse, format!("an answer cannot be read: {text}")),
        Error::Conversion(error) => (TroubleKind::Parse, format!("an answer cannot be read: {error}")),
        other => (TroubleKind::Refused, other.to_string()),
    };
    Trouble::new(kind, text)
}
