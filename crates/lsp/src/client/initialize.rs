//! The handshake: what we say we can do, and what the server says it can.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::position::Encoding;
use crate::uri;

/// What a server can be asked about code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    Definition,
    References,
    Hover,
    DocumentSymbols,
    WorkspaceSymbols,
    TypeDefinition,
    Implementation,
    Calls,
    Rename,
    CodeActions,
}

impl Question {
    const ALL: [Self; 10] = [
        Self::Definition,
        Self::References,
        Self::Hover,
        Self::DocumentSymbols,
        Self::WorkspaceSymbols,
        Self::TypeDefinition,
        Self::Implementation,
        Self::Calls,
        Self::Rename,
        Self::CodeActions,
    ];

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::References => "textDocument/references",
            Self::Hover => "textDocument/hover",
            Self::DocumentSymbols => "textDocument/documentSymbol",
            Self::WorkspaceSymbols => "workspace/symbol",
            Self::TypeDefinition => "textDocument/typeDefinition",
            Self::Implementation => "textDocument/implementation",
            Self::Calls => "textDocument/prepareCallHierarchy",
            Self::Rename => "textDocument/rename",
            Self::CodeActions => "textDocument/codeAction",
        }
    }

    pub(super) fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.method() == method)
    }

    /// The name of the capability.
    fn provider(self) -> &'static str {
        match self {
            Self::Definition => "definitionProvider",
            Self::References => "referencesProvider",
            Self::Hover => "hoverProvider",
            Self::DocumentSymbols => "documentSymbolProvider",
            Self::WorkspaceSymbols => "workspaceSymbolProvider",
            Self::TypeDefinition => "typeDefinitionProvider",
            Self::Implementation => "implementationProvider",
            Self::Calls => "callHierarchyProvider",
            Self::Rename => "renameProvider",
            Self::CodeActions => "codeActionProvider",
        }
    }
}

/// What the server told us in its answer to `initialize`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Capabilities {
    pub(crate) encoding: Encoding,
    /// Diagnostics by pull, said at once; the identifier goes with every request.
    pub(crate) pull: Option<Option<String>>,
    /// What it answers, said at once; more may be registered later.
    pub(crate) questions: BTreeSet<Question>,
    /// What the server calls itself.
    pub(crate) name: Option<String>,
}

impl Capabilities {
    /// Reads the answer leniently: what is missing or odd counts as "cannot".
    pub(crate) fn read(answer: &Value) -> Self {
        let capabilities = answer.get("capabilities").unwrap_or(&Value::Null);
        let can = |name: &str| match capabilities.get(name) {
            Some(Value::Bool(can)) => *can,
            Some(Value::Object(_)) => true,
            _ => false,
        };
        Self {
            encoding: capabilities
                .get("positionEncoding")
                .and_then(Value::as_str)
                .map(Encoding::named)
                .unwrap_or_default(),
            pull: capabilities
                .get("diagnosticProvider")
                .filter(|provider| provider.is_object())
                .map(|provider| provider.get("identifier").and_then(Value::as_str).map(str::to_owned)),
            questions: Question::ALL.into_iter().filter(|question| can(question.provider())).collect(),
            name: answer.pointer("/serverInfo/name").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

/// Returns the parameters of `initialize`.
pub(crate) fn params(root: &Path, options: Value) -> Value {
    let uri = uri::of_path(root);
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    json!({
        "processId": std::process::id(),
        "clientInfo": { "name": "chartroom", "version": env!("CARGO_PKG_VERSION") },
        "locale": "en",
        "rootPath": root,
        "rootUri": uri,
        "workspaceFolders": [{ "uri": uri, "name": name }],
        "initializationOptions": options,
        "capabilities": capabilities(),
        "trace": "off",
    })
}

fn capabilities() -> Value {
    let symbol_kinds: Vec<u32> = (1..=26).collect();
    json!({
        "general": {
            // UTF-32 counts the characters that we count.
            "positionEncodings": ["utf-32", "utf-16", "utf-8"],
            "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] },
        },
        "workspace": {
            // Servers propose, and the edit tools write: what a server does by itself is refused.
            "applyEdit": false,
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "transactional",
                "changeAnnotationSupport": {},
            },
            "configuration": true,
            "workspaceFolders": true,
            "didChangeConfiguration": { "dynamicRegistration": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "symbol": { "dynamicRegistration": true, "symbolKind": { "valueSet": symbol_kinds } },
            "diagnostics": { "refreshSupport": true },
        },
        "textDocument": {
            "synchronization": { "dynamicRegistration": true, "didSave": true },
            "publishDiagnostics": {
                "relatedInformation": false,
                "versionSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
                "codeDescriptionSupport": false,
                "dataSupport": false,
            },
            "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": true },
            "definition": { "dynamicRegistration": true, "linkSupport": true },
            "references": { "dynamicRegistration": true },
            "typeDefinition": { "dynamicRegistration": true, "linkSupport": true },
            "implementation": { "dynamicRegistration": true, "linkSupport": true },
            "callHierarchy": { "dynamicRegistration": true },
            "rename": { "dynamicRegistration": true, "honorsChangeAnnotations": true },
            "codeAction": {
                "dynamicRegistration": true,
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix", "refactor", "source"] } },
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "resolveSupport": { "properties": ["edit"] },
                "honorsChangeAnnotations": true,
            },
            "hover": { "dynamicRegistration": true, "contentFormat": ["plaintext", "markdown"] },
            "documentSymbol": {
                "dynamicRegistration": true,
                "symbolKind": { "valueSet": symbol_kinds },
                "hierarchicalDocumentSymbolSupport": true,
            },
        },
        "window": { "workDoneProgress": true, "showMessage": {}, "showDocument": { "support": false } },
        // rust-analyzer tells with this when it has loaded the project.
        "experimental": { "serverStatusNotification": true },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // BR-77, REQ-EXCL-020
    #[test]
    fn no_server_is_offered_that_it_applies_edits_or_runs_commands_by_itself() {
        let capabilities = &params(Path::new("/w"), Value::Null)["capabilities"];
        assert_eq!(capabilities["workspace"]["applyEdit"], false);
        assert_eq!(capabilities["workspace"].get("executeCommand"), None);
        let kinds = capabilities["textDocument"].as_object().unwrap();
        for kind in ["completion", "formatting", "rangeFormatting", "onTypeFormatting"] {
            assert!(!kinds.contains_key(kind), "{kind}");
        }
    }

    #[test]
    fn what_a_server_can_is_read_from_booleans_and_objects() {
        let answer = json!({ "capabilities": {
            "positionEncoding": "utf-8", "definitionProvider": true, "hoverProvider": {}, "referencesProvider": false,
            "diagnosticProvider": { "identifier": "ts" } }, "serverInfo": { "name": "x" } });
        assert_eq!(
            Capabilities::read(&answer),
            Capabilities {
                encoding: Encoding::Utf8,
                pull: Some(Some("ts".into())),
                questions: [Question::Definition, Question::Hover].into(),
                name: Some("x".into()),
            }
        );
        assert_eq!(Capabilities::read(&Value::Null), Capabilities::default());
    }
}
