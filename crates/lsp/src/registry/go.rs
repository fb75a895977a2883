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
    // It compares with what it sent last and publishes only what differs. A file that is opened while the project loads
    // is now and then published as clean, once (seen with 0.5 on a busy machine, about one start in thirty).
    quirks: Quirks { silent_when_unchanged: true, doubt_first_clean: true, ..Quirks::NONE },
    settings: super::nothing,
    initialization_options: super::nothing,
}];
