//! Shell scripts.

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "bash-language-server",
    language: "Shell",
    files: &[(".sh", "shellscript"), (".bash", "shellscript")],
    markers: &[],
    when: When::Always,
    commands: &[Command { program: "bash-language-server", args: &["start"] }],
    install: "npm install --global bash-language-server",
    quirks: Quirks::NONE,
    settings: super::nothing,
    initialization_options: super::nothing,
}];
