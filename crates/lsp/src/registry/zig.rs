//! Zig.

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "zls",
    language: "Zig",
    files: &[(".zig", "zig"), (".zon", "zig")],
    markers: &["build.zig"],
    when: When::Always,
    commands: &[Command { program: "zls", args: &[] }],
    install: "see https://zigtools.org/zls/install/",
    quirks: Quirks::NONE,
    settings: super::nothing,
    initialization_options: super::nothing,
}];
