//! Python: pyright by default, ty where it is chosen or alone, ruff beside either.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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

/// Folders in which uv, pdm, poetry and people keep a project's own interpreter.
const ENVIRONMENTS: &[&str] = &[".venv", "venv"];

fn pyright(root: &Path) -> Value {
    let analysis = json!({
        "autoSearchPaths": true,
        "useLibraryCodeForTypes": true,
        "diagnosticMode": "openFilesOnly",
    });
    let mut python = json!({ "analysis": analysis });
    // ty finds it by itself, pyright does not. It is looked for and never run by us.
    if let Some(interpreter) = interpreter(root) {
        python["pythonPath"] = json!(interpreter);
    }
    json!({ "python": python, "pyright": { "disableLanguageServices": false } })
}

/// The interpreter of the project's own environment.
fn interpreter(root: &Path) -> Option<PathBuf> {
    let places = ENVIRONMENTS.iter().map(|environment| root.join(environment).join("bin/python"));
    places.into_iter().find(|interpreter| interpreter.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pyright_is_told_the_interpreter_of_the_projects_own_environment() {
        let folder = tempfile::tempdir().unwrap();
        let told = || pyright(folder.path())["python"]["pythonPath"].clone();
        assert_eq!(told(), Value::Null);
        for environment in ["venv", ".venv"] {
            let interpreter = folder.path().join(environment).join("bin/python");
            std::fs::create_dir_all(interpreter.parent().unwrap()).unwrap();
            std::fs::write(&interpreter, "").unwrap();
            assert_eq!(told(), json!(interpreter), "{environment}");
        }
    }
}
