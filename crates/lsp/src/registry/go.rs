//! Go.

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "gopls",
    language: "Go",
    files: &[(".go", "go"), ("go.mod", "go.mod"), ("go.sum", "go.sum")],
    markers: &["go.work", "go.mod"],
    when: When::Always,
    commands: &[Command { program: "gopls", args: &[] }],
    install: "go install golang.org/x/tools/gopls@latest",
    // It compares with what it sent last and publishes only what differs.
    quirks: Quirks { silent_when_unchanged: true, ..Quirks::NONE },
    settings: super::nothing,
    initialization_options: super::nothing,
}];
