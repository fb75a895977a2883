//! The settings of ESLint, which name the project.

use std::path::Path;

use serde_json::{Value, json};

/// It asks for its settings without a section; null or an empty object gives no diagnostics at all.
pub(super) fn settings(root: &Path) -> Value {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    json!({
        "validate": "on",
        "run": "onType",
        "rulesCustomizations": [],
        "problems": { "shortenToSingleLine": false },
        "nodePath": null,
        "experimental": {},
        "workingDirectory": { "mode": "location" },
        "workspaceFolder": { "uri": crate::uri::of_path(root), "name": name },
        "useESLintClass": true,
        "onIgnoredFiles": "off",
        "quiet": false,
        "options": {},
        "codeActionOnSave": { "enable": false, "mode": "all" },
        "format": false,
        "codeAction": {
            "disableRuleComment": { "enable": false, "location": "separateLine" },
            "showDocumentation": { "enable": false }
        }
    })
}
