//! What servers send, read leniently: one malformed diagnostic must not cost the others.

use chartroom_protocol::lsp::{Code, Severity};
use serde::Deserialize;
use serde_json::Value;

use crate::position::{Position, Range};
use crate::render::one_line;

/// More than this of one file is noise, and memory that a broken server could take.
const MAX_PER_FILE: usize = 2_000;
/// Neither are more findings of one file kept than these bytes hold.
pub(crate) const MAX_FILE_BYTES: usize = 256 * 1024;
/// A longer message is cut.
const MAX_MESSAGE: usize = 4_000;
/// Of what a server says about itself no more is told.
const MAX_WORDS: usize = 500;
/// A longer code or source of a finding is cut.
const MAX_NAME: usize = 200;

/// One finding of one server, in that server's own units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) range: Range,
    pub(crate) severity: Severity,
    /// One line, not escaped.
    pub(crate) message: String,
    pub(crate) code: Option<Code>,
    pub(crate) source: Option<String>,
}

/// Reads a list of diagnostics; what is not one is left out.
pub(crate) fn findings(list: &Value) -> Vec<Finding> {
    bounded(list.as_array().into_iter().flatten().filter_map(finding))
}

/// Takes as many findings as are kept of one file.
pub(crate) fn bounded(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut n_bytes = 0;
    let mut fits = |finding: &Finding| {
        n_bytes += bytes(finding);
        n_bytes <= MAX_FILE_BYTES
    };
    findings.take(MAX_PER_FILE).take_while(|finding| fits(finding)).collect()
}

/// What a finding takes.
pub(crate) fn bytes(finding: &Finding) -> usize {
    let code = match &finding.code {
        Some(Code::Text(text)) => text.len(),
        Some(Code::Number(_)) | None => 0,
    };
    size_of::<Finding>() + finding.message.len() + code + finding.source.as_ref().map_or(0, String::len)
}

fn finding(value: &Value) -> Option<Finding> {
    let range: Range = serde_json::from_value(value.get("range")?.clone()).ok()?;
    let message = match value.get("message")? {
        Value::String(message) => message.as_str(),
        // LSP 3.18 allows marked-up content.
        message => message.get("value")?.as_str()?,
    };
    let severity = match value.get("severity").and_then(Value::as_u64) {
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        Some(4) => Severity::Hint,
        // A server that leaves it out lets the client decide; the worst is the safe reading.
        _ => Severity::Error,
    };
    Some(Finding {
        range,
        severity,
        message: shorten(message),
        code: value.get("code").and_then(code),
        source: value.get("source").and_then(Value::as_str).map(|source| cut(source, MAX_NAME)),
    })
}

/// Flattens a message to one line and cuts it where it is unreasonable.
pub(crate) fn shorten(message: &str) -> String {
    cut(message, MAX_MESSAGE)
}

/// Flattens what a server says about itself to one short line.
pub(crate) fn words(text: &str) -> String {
    cut(text.trim(), MAX_WORDS)
}

/// One line of at most `limit` bytes, and a mark where something is missing.
fn cut(text: &str, limit: usize) -> String {
    // A line is no longer than its text, but for a few marks; what is far behind the limit need not be looked at.
    let start = text.floor_char_boundary(limit.saturating_mul(4));
    let mut line = one_line(&text[..start]);
    if line.len() > limit || start < text.len() {
        line.truncate(line.floor_char_boundary(limit));
        line.push('…');
    }
    line.shrink_to_fit();
    line
}

fn code(value: &Value) -> Option<Code> {
    match value {
        Value::Number(number) => number.as_i64().map(Code::Number),
        Value::String(text) if !text.is_empty() => Some(Code::Text(cut(text, MAX_NAME))),
        // Old drafts had `{value, target}`.
        Value::Object(object) => object.get("value").and_then(code),
        _ => None,
    }
}

/// `textDocument/publishDiagnostics`.
#[derive(Debug, Deserialize)]
pub(crate) struct Publish {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i32>,
    #[serde(default)]
    pub(crate) diagnostics: Value,
}

/// A place in a file, from any of the three shapes of a definition's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) uri: String,
    pub(crate) position: Position,
}

/// Reads `Location`, `Location[]` or `LocationLink[]`.
pub(crate) fn locations(answer: &Value) -> Vec<Location> {
    match answer {
        Value::Array(list) => list.iter().filter_map(location).collect(),
        one => location(one).into_iter().collect(),
    }
}

fn location(value: &Value) -> Option<Location> {
    let (uri, range) = match value.get("targetUri") {
        Some(uri) => (uri, value.get("targetSelectionRange").or_else(|| value.get("targetRange"))?),
        None => (value.get("uri")?, value.get("range")?),
    };
    let range: Range = serde_json::from_value(range.clone()).ok()?;
    Some(Location { uri: uri.as_str()?.to_owned(), position: range.start })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn range() -> Value {
        json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 1, "character": 3 } })
    }

    #[test]
    fn a_malformed_diagnostic_does_not_cost_the_others() {
        let list = json!([
            { "range": range(), "message": "a\nb", "severity": 2, "code": 7, "source": "x" },
            { "message": "no range" },
            "nonsense",
            { "range": { "start": -1 }, "message": "bad range" },
            { "range": range(), "message": { "kind": "markdown", "value": "marked" }, "code": { "value": "E1" } },
        ]);
        let found: Vec<_> = findings(&list)
            .into_iter()
            .map(|finding| (finding.severity, finding.message, finding.code, finding.source))
            .collect();
        assert_eq!(
            found,
            [
                (Severity::Warning, "a b".into(), Some(Code::Number(7)), Some("x".into())),
                (Severity::Error, "marked".into(), Some(Code::Text("E1".into())), None),
            ]
        );
        assert_eq!(findings(&json!(null)), []);
    }

    #[test]
    fn an_endless_message_is_cut() {
        let long = "ä".repeat(5_000);
        assert!(shorten(&long).len() < 4_100);
    }

    #[test]
    fn a_definition_comes_in_three_shapes() {
        let expected =
            vec![Location { uri: "file:///a".into(), position: Position { line: 1, character: 2 } }];
        assert_eq!(locations(&json!({ "uri": "file:///a", "range": range() })), expected);
        assert_eq!(locations(&json!([{ "uri": "file:///a", "range": range() }])), expected);
        assert_eq!(locations(&json!([{ "targetUri": "file:///a", "targetRange": range() }])), expected);
        assert_eq!(locations(&Value::Null), []);
    }
}
