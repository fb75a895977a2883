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

/// A database that is not there.
const NO_DATABASE: i32 = 800;

const REFUSED_TOKEN: &str = "the token is refused: look at `tokenEnv` in [index] store: ";
const MISSING_DATABASE: &str = "the database is not there: make it, or name another in [index] store: ";
const NO_RIGHT: &str = "the token has no right to do this (`adopt` reads, `share` reads and writes): ";
const BROKE: &str = "the connection broke; if it always does, what answers there is no Milvus: ";
const NO_MILVUS: &str = "what answers there is no Milvus: ";

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
            let what = match status.code() as i32 {
                7 => NO_RIGHT,
                16 => REFUSED_TOKEN,
                12 => NO_MILVUS,
                // tonic's words for an answer that is no HTTP/2.
                _ if status.message().contains("h2 protocol error") => NO_MILVUS,
                2 if kind == TroubleKind::Transport => BROKE,
                _ => "",
            };
            (kind, format!("{what}{:?}: {}", status.code(), status.message()))
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
            let what = match (error.code(), kind) {
                (NO_DATABASE, _) => MISSING_DATABASE,
                // The lite server has no number for it.
                _ if reason.starts_with("database") && reason.ends_with("does not exist") => MISSING_DATABASE,
                (_, TroubleKind::Auth) if reason.contains("permission deny") => NO_RIGHT,
                (_, TroubleKind::Auth) => REFUSED_TOKEN,
                _ => "",
            };
            (kind, format!("{what}the server refuses: {reason} ({})", error.code()))
        }
        Error::Timeout(text) => (TroubleKind::Timeout, format!("no answer in time: {text}")),
        Error::RetryExhausted { source, .. } => return trouble_of(source),
        Error::MalformedResponse(text) => (TroubleKind::Parse, format!("an answer cannot be read: {text}")),
        Error::Conversion(error) => (TroubleKind::Parse, format!("an answer cannot be read: {error}")),
        other => (TroubleKind::Refused, other.to_string()),
    };
    Trouble::new(kind, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: tonic::Status, kind: TroubleKind, says: &str) {
        let trouble = trouble_of(&Error::Grpc(status));
        assert_eq!(trouble.kind, kind, "{trouble}");
        assert!(trouble.text.contains(says), "{trouble}");
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        check(tonic::Status::unauthenticated("auth check failure"), TroubleKind::Auth, "tokenEnv");
        check(tonic::Status::permission_denied("Insert: deny"), TroubleKind::Auth, "no right to do this");
        check(tonic::Status::unimplemented(""), TroubleKind::Parse, "no Milvus");
        check(tonic::Status::unavailable("x"), TroubleKind::Transport, "x");
        check(tonic::Status::resource_exhausted("quota"), TroubleKind::Unavailable, "quota");
    }
}
