//! Python: pyright by default, ty where it is chosen or alone, ruff beside either.

use serde_json::{Value, json};
use std::path::Path;

use super::{BuiltIn, Command, Quirks, When};

const FILES: &[(&str, &str)] = &[(".py", "python"), (".pyi", "python")];
const MARKERS: &[&str] =
    &["pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"];

pub(super) const SERVERS: &[BuiltIn] = &[
    BuiltIn {
        id: "pyright",
        language: "Python",
        files: FILES,
        markers: MARKERS,
        when: When::Always,
        commands: &[
            Command { program: "pyright-langserver", args: &["--stdio"] },
            Command { program: "basedpyright-langserver", args: &["--stdio"] },
        ],
        install: "npm install --global pyright",
        quirks: QUIRKS,
        settings: pyright,
        initialization_options: super::nothing,
    },
    BuiltIn {
        id: "ty",
        language: "Python",
        files: FILES,
        markers: &["ty.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
        when: When::InsteadOf("pyright"),
        commands: &[Command { program: "ty", args: &["server"] }],
        install: "pip install ty",
        quirks: QUIRKS,
        settings: super::nothing,
        initialization_options: super::nothing,
    },
    BuiltIn {
        id: "ruff",
        language: "Python",
        files: FILES,
        markers: &["ruff.toml", ".ruff.toml", "pyproject.toml"],
        when: When::InMarkedProject,
        commands: &[Command { program: "ruff", args: &["server"] }],
        install: "pip install ruff",
        quirks: QUIRKS,
        settings: super::nothing,
        initialization_options: super::nothing,
    },
];

const QUIRKS: Quirks = Quirks::NONE;

fn pyright(_root: &Path) -> Value {
    let analysis = json!({
        "autoSearchPaths": true,
        "useLibraryCodeForTypes": true,
        "diagnosticMode": "openFilesOnly",
    });
    json!({ "python": { "analysis": analysis }, "pyright": { "disableLanguageServices": false } })
}
