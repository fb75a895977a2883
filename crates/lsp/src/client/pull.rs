//! Diagnostics by asking: `textDocument/diagnostic`, or tsserver's own requests.

use std::path::Path;

use chartroom_protocol::lsp::{Code, Severity};
use chartroom_transport::RpcError;
use serde_json::{Value, json};

use super::wire::{self, Finding};
use super::{ANSWER_LIMIT, Client};
use crate::position::{Position, Range};
use crate::uri;

/// The server has newer content, or was interrupted: asking again is right.
const CONTENT_MODIFIED: i64 = -32801;
const SERVER_CANCELLED: i64 = -32802;

/// Whether a refusal says only that the question came at a bad moment.
pub(crate) fn is_overtaken(error: &RpcError) -> bool {
    matches!(error, RpcError::Response(error) if [CONTENT_MODIFIED, SERVER_CANCELLED].contains(&error.code))
}

/// How a client's server is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    Protocol { identifier: Option<String> },
    Tsserver,
}

/// What asking brought.
#[derive(Debug)]
pub(crate) enum Pull {
    Findings(Vec<Finding>),
    /// Ask again.
    Again,
    Failed(RpcError),
}

impl Client {
    /// Returns how this server can be asked for diagnostics, if it can.
    pub(crate) fn way(&self) -> Option<Way> {
        if self.quirks.tsserver_requests {
            return Some(Way::Tsserver);
        }
        if let Some(identifier) = &self.capabilities.pull {
            return Some(Way::Protocol { identifier: identifier.clone() });
        }
        if self.quirks.answers_pull {
            return Some(Way::Protocol { identifier: None });
        }
        let state = self.state();
        // Repeated registrations mean the same; one answer is enough.
        let identifier = state.pull_registrations.values().next()?.clone();
        Some(Way::Protocol { identifier })
    }

    /// Asks once.
    pub(crate) async fn pull(&self, file: &Path, way: &Way) -> Pull {
        let answer = match way {
            Way::Protocol { identifier } => self.pull_protocol(file, identifier.as_deref()).await,
            Way::Tsserver => self.pull_tsserver(file).await,
        };
        match answer {
            Ok(findings) => Pull::Findings(findings),
            Err(error) if is_overtaken(&error) => Pull::Again,
            Err(error) => Pull::Failed(error),
        }
    }

    async fn pull_protocol(&self, file: &Path, identifier: Option<&str>) -> Result<Vec<Finding>, RpcError> {
        let mut params = json!({ "textDocument": { "uri": uri::of_path(file) } });
        if let Some(identifier) = identifier {
            params["identifier"] = json!(identifier);
        }
        // No previousResultId: the answer is then always full, and an "unchanged" cannot be about another text.
        let answer = self.peer.request_timeout("textDocument/diagnostic", params, ANSWER_LIMIT).await?;
        for (uri, report) in answer.get("relatedDocuments").and_then(Value::as_object).into_iter().flatten() {
            if let (Some(file), Some(items)) = (uri::to_path(uri), report.get("items")) {
                self.pulled(file, None, wire::findings(items)).await;
            }
        }
        Ok(wire::findings(answer.get("items").unwrap_or(&Value::Null)))
    }

    /// typescript-language-server pushes syntax errors together with semantic errors of the text before; what
    /// tsserver itself answers is for the text it was given.
    async fn pull_tsserver(&self, file: &Path) -> Result<Vec<Finding>, RpcError> {
        let mut findings = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let params = json!({
                "command": "typescript.tsserverRequest",
                "arguments": [command, { "file": uri::of_path(file), "includeLinePosition": true }],
            });
            let answer = self.peer.request_timeout("workspace/executeCommand", params, ANSWER_LIMIT).await?;
            let body = answer.get("body").unwrap_or(&answer);
            findings
                .extend(wire::bounded(body.as_array().into_iter().flatten().filter_map(tsserver_finding)));
        }
        Ok(wire::bounded(findings.into_iter()))
    }
}

/// Reads one of tsserver's diagnostics: places from 1, in UTF-16 units.
fn tsserver_finding(value: &Value) -> Option<Finding> {
    let position = |name: &str| {
        let place = value.get(name)?;
        let number = |key: &str| {
            let number = place.get(key)?.as_u64()?.saturating_sub(1);
            u32::try_from(number).ok()
        };
        Some(Position { line: number("line")?, character: number("offset")? })
    };
    let start = position("startLocation")?;
    Some(Finding {
        range: Range { start, end: position("endLocation").unwrap_or(start) },
        severity: match value.get("category").and_then(Value::as_str) {
            Some("warning") => Severity::Warning,
            Some("suggestion") => Severity::Hint,
            Some("message") => Severity::Info,
            _ => Severity::Error,
        },
        message: wire::shorten(value.get("message").or_else(|| value.get("text"))?.as_str()?),
        code: value.get("code").and_then(Value::as_i64).map(Code::Number),
        source: Some("typescript".to_owned()),
    })
}
