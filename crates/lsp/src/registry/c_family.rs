//! C, C++, Objective-C.

use super::{BuiltIn, Command, Quirks, When};

pub(super) const SERVERS: &[BuiltIn] = &[BuiltIn {
    id: "clangd",
    language: "C/C++",
    files: &[
        (".c", "c"),
        (".h", "c"),
        (".cc", "cpp"),
        (".cpp", "cpp"),
        (".cxx", "cpp"),
        (".hh", "cpp"),
        (".hpp", "cpp"),
        (".hxx", "cpp"),
        (".m", "objective-c"),
        (".mm", "objective-cpp"),
    ],
    markers: &["compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile"],
    when: When::Always,
    commands: &[Command { program: "clangd", args: &["--background-index=false", "--log=error"] }],
    install: "apt-get install clangd",
    quirks: Quirks::NONE,
    settings: super::nothing,
    initialization_options: super::nothing,
}];
