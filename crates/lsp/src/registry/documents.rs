//! JSON and YAML.

use serde_json::json;

use super::{BuiltIn, Command, Quirks, When};

const QUIRKS: Quirks = Quirks::NONE;

pub(super) const SERVERS: &[BuiltIn] = &[
    BuiltIn {
        id: "json",
        language: "JSON",
        files: &[(".json", "json"), (".jsonc", "jsonc"), ("tsconfig.json", "jsonc")],
        markers: &["package.json"],
        when: When::Always,
        commands: &[Command { program: "vscode-json-language-server", args: &["--stdio"] }],
        install: "npm install --global vscode-langservers-extracted",
        quirks: QUIRKS,
        // Schemas would be downloaded; syntax needs none.
        settings: |_| json!({ "json": { "validate": { "enable": true }, "schemaDownload": { "enable": false } } }),
        initialization_options: |_| json!({ "handledSchemaProtocols": ["file"] }),
    },
    BuiltIn {
        id: "yaml",
        language: "YAML",
        files: &[(".yaml", "yaml"), (".yml", "yaml")],
        markers: &[],
        when: When::Always,
        commands: &[Command { program: "yaml-language-server", args: &["--stdio"] }],
        install: "npm install --global yaml-language-server",
        quirks: QUIRKS,
        settings: |_| json!({ "yaml": { "validate": true, "schemaStore": { "enable": false } } }),
        initialization_options: super::nothing,
    },
];
