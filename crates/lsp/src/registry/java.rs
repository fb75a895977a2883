//! Java.

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "jdtls",
    language: "Java",
    files: &[(".java", "java")],
    markers: &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    when: When::Always,
    commands: &[Command { program: "jdtls", args: &[] }],
    install: "see https://github.com/eclipse-jdtls/eclipse.jdt.ls#installation",
    quirks: Quirks::NONE,
    settings: super::nothing,
    initialization_options: super::nothing,
}];
