//! Words of a language file that stand for something of the project: `${root}`, and `${tsdk}` for its TypeScript.

use std::path::{Path, PathBuf};

use serde_json::Value;

const ROOT: &str = "${root}";
const TSDK: &str = "${tsdk}";

/// Fills in an argument of a command.
pub(crate) fn fill_argument(argument: &str, root: &Path) -> String {
    argument.replace(ROOT, &root.to_string_lossy())
}

/// Fills in every text of a value. What the project does not have is left out.
pub(super) fn fill(value: &mut Value, root: &Path, program: &Path) {
    match value {
        Value::String(text) if text == TSDK => {
            *value = tsdk(root, program).map_or(Value::Null, |folder| folder.to_string_lossy().into());
        }
        Value::String(text) => *text = fill_argument(text, root),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, root, program)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| fill(field, root, program));
            fields.retain(|_, field| !field.is_null());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The library of the project's TypeScript, or of the one that was installed with the server. TypeScript 7 has none: it is
/// a program.
fn tsdk(root: &Path, program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok();
    let beside = real.iter().flat_map(|program| program.ancestors().skip(1));
    let mut libraries =
        root.ancestors().chain(beside).map(|folder| folder.join("node_modules/typescript/lib"));
    libraries.find(|library| library.join("typescript.js").is_file())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_without_typescript_gets_that_of_the_server_and_with_none_the_key_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (root, program) = (folder.join("project"), folder.join("tools/node_modules/.bin/vue"));
        let filled = || {
            let mut options = json!({ "typescript": { "tsdk": "${tsdk}" }, "at": ["${root}/x"] });
            fill(&mut options, &root, &program);
            options
        };
        let library = |below: &str| {
            let library = folder.join(below).join("node_modules/typescript/lib");
            std::fs::create_dir_all(&library).unwrap();
            std::fs::write(library.join("typescript.js"), "").unwrap();
            library
        };
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "").unwrap();
        let at = json!([root.join("x")]);
        assert_eq!(filled(), json!({ "typescript": {}, "at": at }));
        let of_server = library("tools");
        assert_eq!(filled(), json!({ "typescript": { "tsdk": of_server }, "at": at }));
        let of_project = library("project");
        assert_eq!(filled(), json!({ "typescript": { "tsdk": of_project }, "at": at }));
    }
}
