//! Lua.

use serde_json::json;

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "lua-language-server",
    language: "Lua",
    files: &[(".lua", "lua")],
    markers: &[".luarc.json", ".luarc.jsonc", ".luacheckrc", "stylua.toml"],
    when: When::Always,
    commands: &[Command { program: "lua-language-server", args: &[] }],
    install: "see https://luals.github.io/#install",
    quirks: Quirks::NONE,
    settings: |_| json!({ "Lua": { "telemetry": { "enable": false } } }),
    initialization_options: super::nothing,
}];
