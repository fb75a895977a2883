//! Rust.

use std::path::Path;

use serde_json::{Value, json};

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "rust-analyzer",
    language: "Rust",
    files: &[(".rs", "rust")],
    markers: &["rust-project.json", "Cargo.toml"],
    when: When::Always,
    commands: &[Command { program: "rust-analyzer", args: &[] }],
    install: "rustup component add rust-analyzer",
    // Its own findings come by pull at once; what `cargo check` finds is pushed when that has ended.
    quirks: Quirks { check_on_save: Some("flycheck"), tells_when_loaded: true, ..Quirks::NONE },
    settings: |root| json!({ "rust-analyzer": options(root) }),
    initialization_options: options,
}];

fn options(_root: &Path) -> Value {
    json!({
        "checkOnSave": true,
        "check": { "command": "check" },
        "cachePriming": { "enable": false },
        "files": { "watcher": "client" },
        // Whoever has a target folder open in another tool should not wait for ours.
        "cargo": { "targetDir": true },
    })
}
