//! The environment of a Python project, which its servers have to be told.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

use super::python_environment;

/// What pyright is told beyond its settings. The interpreter is looked for and never run by us.
pub(super) fn pyright(root: &Path) -> Option<Value> {
    let environment = environment(root)?;
    Some(json!({ "python": { "pythonPath": python_environment::interpreter(&environment) } }))
}

/// What ty is told by a variable, where pyright is told by a setting.
pub(super) fn variables(id: &str, root: &Path) -> Option<(String, String)> {
    let environment = (id == "ty").then(|| environment(root)).flatten()?;
    Some(("VIRTUAL_ENV".to_owned(), environment.to_str()?.to_owned()))
}

fn environment(root: &Path) -> Option<PathBuf> {
    python_environment::find(root, |name| std::env::var_os(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pyright_and_ty_are_told_the_environment_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join(".venv");
        std::fs::create_dir_all(environment.join("bin")).unwrap();
        std::fs::write(environment.join("bin/python"), "").unwrap();
        let told = json!({ "python": { "pythonPath": environment.join("bin/python") } });
        assert_eq!(pyright(folder.path()), Some(told));
        let variable = ("VIRTUAL_ENV".to_owned(), environment.to_str().unwrap().to_owned());
        assert_eq!(variables("ty", folder.path()), Some(variable));
        assert_eq!(variables("ruff", folder.path()), None);
    }
}
