//! Content codings: what a client takes, and answers that are made smaller on their way out.
//!
//! The page's files are compressed when the page is built; this compresses what is made while we run: API answers,
//! pages of history. Only whole answers that are worth it, never a stream. Gzip alone, at the quickest level: the way is
//! short, and brotli that is quick enough for it saves no more.
//!
//! A compressed answer tells by its length what it repeats (BREACH). Nobody else can make a browser ask here: the guard
//! refuses other origins, and the cookie is `SameSite=Strict`; and the one answer with a secret in it, a launch code,
//! repeats nothing of its request and is far below the limit.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use chartroom_web_ui::Coding;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::ApiError;

/// A smaller answer fits into one packet as it is.
const WORTH_BYTES: u64 = 1024;

/// What a client takes, by its `Accept-Encoding`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Accepted {
    brotli: Weight,
    gzip: Weight,
    identity: Weight,
}

/// A `q` in thousandths; zero is a refusal.
type Weight = u16;

impl Accepted {
    /// Reads the header. Without one we send what everybody can read.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let entries = || {
            let values = headers.get_all(header::ACCEPT_ENCODING).into_iter();
            values
                .filter_map(|value| value.to_str().ok())
                .flat_map(|value| value.split(','))
                .filter_map(entry)
        };
        let named = |name: &str| {
            let by_name = entries().find(|(entry, _)| entry.eq_ignore_ascii_case(name));
            by_name.or_else(|| entries().find(|(entry, _)| *entry == "*")).map(|(_, weight)| weight)
        };
        Self {
            brotli: named("br").unwrap_or(0),
            gzip: named("gzip").or_else(|| named("x-gzip")).unwrap_or(0),
            // What is not mentioned is taken, after all that is.
            identity: named("identity").unwrap_or(1),
        }
    }

    /// Returns the place of the best of these; of two that are equally good the first. `None` when all are refused.
    pub(super) fn best(self, offered: impl IntoIterator<Item = Coding>) -> Option<usize> {
        let weights = offered.into_iter().map(|coding| match coding {
            Coding::Brotli => self.brotli,
            Coding::Gzip => self.gzip,
            Coding::Identity => self.identity,
        });
        let best = weights.enumerate().filter(|(_, weight)| *weight > 0);
        best.min_by_key(|(_, weight)| std::cmp::Reverse(*weight)).map(|(place, _)| place)
    }
}

/// Reads one entry, `name;q=0.5`; one that makes no sense is passed over.
fn entry(text: &str) -> Option<(&str, Weight)> {
    let (name, parameters) = text.split_once(';').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let weight = match parameters {
        None => 1.0,
        Some(parameters) => {
            let (key, value) = parameters.split_once('=')?;
            key.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse::<f32>().ok())??
        }
    };
    let name = name.trim();
    (!name.is_empty() && (0.0..=1.0).contains(&weight)).then_some((name, (weight * 1000.0).round() as Weight))
}

/// Makes an answer smaller, if it is worth it and the client takes it.
pub(super) async fn compress(accepted: Accepted, answer: Response) -> Response {
    if !is_worth_it(&answer) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let offered = [Coding::Gzip, Coding::Identity];
    if accepted.best(offered).is_none_or(|place| offered[place] == Coding::Identity) {
        return Response::from_parts(parts, body);
    }
    // It is whole already, so that this waits for nothing.
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let bytes = match gzip(&bytes) {
        Ok(smaller) => {
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Coding::Gzip.name()));
            parts.headers.remove(header::CONTENT_LENGTH);
            smaller.into()
        }
        Err(error) => {
            tracing::warn!(%error, "an answer could not be compressed");
            bytes
        }
    };
    Response::from_parts(parts, Body::from(bytes))
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn is_worth_it(answer: &Response) -> bool {
    let headers = answer.headers();
    let is_text = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/json") || value.starts_with("text/"));
    let is_page = headers.contains_key(header::ETAG) || headers.contains_key(header::CONTENT_ENCODING);
    // A stream has no exact size, and waits for its end.
    is_text && !is_page && answer.body().size_hint().exact().is_some_and(|size| size > WORTH_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept_encoding: &str, expected: &str) {
        let mut headers = HeaderMap::new();
        for value in accept_encoding.split('\n').filter(|value| !value.is_empty()) {
            headers.append(header::ACCEPT_ENCODING, value.parse().unwrap());
        }
        let best = Accepted::read(&headers).best(Coding::ALL);
        let name = best.map_or("nothing", |place| Coding::ALL[place].name());
        assert_eq!(name, expected, "{accept_encoding:?}");
    }

    #[test]
    fn the_smallest_that_is_taken_is_sent() {
        check("gzip, deflate, br, zstd", "br");
        check("gzip, deflate", "gzip");
        check("GZIP", "gzip");
        check("x-gzip", "gzip");
        check("br\ngzip", "br");
        check("deflate", "identity");
        check("", "identity");
    }

    #[test]
    fn weights_decide_before_our_own_preference() {
        check("br;q=0.5, gzip;q=0.8", "gzip");
        check("gzip;q=0.001", "gzip");
        check("identity, br;q=0.9", "identity");
        check("br;q=0.9, identity;q=0.9", "br");
        check("br ; Q=0 , gzip", "gzip");
    }

    #[test]
    fn a_weight_of_zero_refuses_and_a_star_stands_for_the_rest() {
        check("br;q=0, gzip;q=0", "identity");
        check("*", "br");
        check("br;q=0, *;q=0.5", "gzip");
        check("gzip, *;q=0", "gzip");
        check("identity;q=0", "nothing");
        check("*;q=0", "nothing");
    }

    #[test]
    fn an_entry_that_makes_no_sense_is_passed_over() {
        check("br;q=many, gzip", "gzip");
        check("br;q=7, ;;, ,=, gzip;level=9, br;q=-1", "identity");
        check("br;q=NaN", "identity");
    }
}
