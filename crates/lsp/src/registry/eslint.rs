//! ESLint, where the project has a config for it.

use std::path::Path;

use serde_json::{Value, json};

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "eslint",
    language: "ESLint",
    files: &[
        (".ts", "typescript"),
        (".mts", "typescript"),
        (".cts", "typescript"),
        (".tsx", "typescriptreact"),
        (".js", "javascript"),
        (".mjs", "javascript"),
        (".cjs", "javascript"),
        (".jsx", "javascriptreact"),
        (".vue", "vue"),
        (".svelte", "svelte"),
    ],
    markers: &[
        "eslint.config.js",
        "eslint.config.mjs",
        "eslint.config.cjs",
        "eslint.config.ts",
        "eslint.config.mts",
        "eslint.config.cts",
        ".eslintrc.js",
        ".eslintrc.cjs",
        ".eslintrc.json",
        ".eslintrc.yaml",
        ".eslintrc.yml",
        ".eslintrc",
    ],
    when: When::InMarkedProject,
    commands: &[Command { program: "vscode-eslint-language-server", args: &["--stdio"] }],
    install: "npm install --save-dev eslint vscode-langservers-extracted",
    quirks: Quirks::NONE,
    settings,
    initialization_options: super::nothing,
}];

/// It asks for its settings without a section; null or an empty object gives no diagnostics at all.
fn settings(root: &Path) -> Value {
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
