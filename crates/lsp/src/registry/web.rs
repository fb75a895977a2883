//! Style sheets and pages.

use std::path::Path;

use serde_json::{Value, json};

use super::{BuiltIn, Command, Quirks, When};

const QUIRKS: Quirks = Quirks::NONE;
const INSTALL: &str = "npm install --global vscode-langservers-extracted";

pub(super) const SERVERS: &[BuiltIn] = &[
    BuiltIn {
        id: "css",
        language: "CSS",
        files: &[(".css", "css"), (".scss", "scss"), (".less", "less")],
        markers: &["package.json"],
        when: When::Always,
        commands: &[Command { program: "vscode-css-language-server", args: &["--stdio"] }],
        install: INSTALL,
        quirks: QUIRKS,
        settings: style_sheets,
        initialization_options: super::nothing,
    },
    BuiltIn {
        id: "html",
        language: "HTML",
        files: &[(".html", "html"), (".htm", "html")],
        markers: &["package.json"],
        when: When::Always,
        commands: &[Command { program: "vscode-html-language-server", args: &["--stdio"] }],
        install: INSTALL,
        quirks: QUIRKS,
        settings: |_| json!({ "html": { "validate": { "scripts": true, "styles": true } }, "css": {}, "javascript": {} }),
        initialization_options: super::nothing,
    },
];

fn style_sheets(_root: &Path) -> Value {
    json!({ "css": { "validate": true }, "scss": { "validate": true }, "less": { "validate": true } })
}
