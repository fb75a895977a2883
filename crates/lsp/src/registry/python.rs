//! The interpreter of a Python project, which pyright has to be told.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Folders in which uv, pdm, poetry and people keep a project's own interpreter.
const ENVIRONMENTS: &[&str] = &[".venv", "venv"];

/// What pyright is told beyond its settings. ty finds it by itself, pyright does not. It is looked for and never run by us.
pub(super) fn pyright(root: &Path) -> Option<Value> {
    interpreter(root).map(|interpreter| json!({ "python": { "pythonPath": interpreter } }))
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
        let told = || pyright(folder.path()).map(|told| told["python"]["pythonPath"].clone());
        assert_eq!(told(), None);
        for environment in ["venv", ".venv"] {
            let interpreter = folder.path().join(environment).join("bin/python");
            std::fs::create_dir_all(interpreter.parent().unwrap()).unwrap();
            std::fs::write(&interpreter, "").unwrap();
            assert_eq!(told(), Some(json!(interpreter)), "{environment}");
        }
    }
}
