//! The three mutation tools: `edit_file`, `write_file`, `apply_patch`.

use std::path::Path;
use std::sync::LazyLock;

use chartroom_protocol::lsp::{CheckScope, FileText};
use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{self, Inside};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::EditError;
use crate::disk::{self, Write};
use crate::feedback::{Changed, Checker, baseline, feedback};
use crate::patch::{self, Change};
use crate::replace::replace;
use crate::text::Text;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EditParams {
    file_path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WriteParams {
    file_path: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PatchParams {
    patch: String,
}

/// Returns the tools, by name. Their schemas are made once.
pub fn all() -> &'static [ToolSpec] {
    static ALL: LazyLock<Vec<ToolSpec>> = LazyLock::new(specs);
    &ALL
}

fn specs() -> Vec<ToolSpec> {
    let path = json!({ "type": "string", "description": "Path of the file, absolute or relative to the workspace root." });
    vec![
        ToolSpec::changing(
            "apply_patch",
            "Change several files at once with a unified diff or the `*** Begin Patch` form (Add, Update, Delete, Move). All or nothing. Errors that the change brings are listed after it.",
            schema(json!({ "patch": { "type": "string" } }), &["patch"]),
        ),
        ToolSpec::changing(
            "edit_file",
            "Replace a text in a file. The text must occur exactly once unless replaceAll is set. Errors that the change brings are listed after it.",
            schema(
                json!({
                    "filePath": path,
                    "oldText": { "type": "string", "description": "The text to replace, exactly as it stands in the file." },
                    "newText": { "type": "string" },
                    "replaceAll": { "type": "boolean", "default": false },
                }),
                &["filePath", "oldText", "newText"],
            ),
        ),
        ToolSpec::changing(
            "write_file",
            "Write a whole file, making its folders. Errors in it and in files that depend on it are listed after it.",
            schema(json!({ "filePath": path, "content": { "type": "string" } }), &["filePath", "content"]),
        ),
    ]
}

fn schema(properties: Value, required: &[&str]) -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// The tools of one workspace.
#[derive(Debug, Clone)]
pub struct Edits<C> {
    root: CanonicalRoot,
    checker: C,
}

/// A file inside the workspace.
struct Target {
    file: Inside,
    /// Its path as people say it.
    shown: String,
}

impl<C: Checker> Edits<C> {
    /// Returns the tools for one workspace.
    pub fn new(root: CanonicalRoot, checker: C) -> Self {
        Self { root, checker }
    }

    /// Calls a tool by name; nothing when there is no such tool.
    pub async fn call(&self, name: &str, arguments: Value) -> Option<ToolAnswer> {
        let result = match name {
            "edit_file" => self.edit_file(arguments).await,
            "write_file" => self.write_file(arguments).await,
            "apply_patch" => self.apply_patch(arguments).await,
            _ => return None,
        };
        Some(match result {
            Ok(text) => ToolAnswer::ok(text),
            Err(error) => ToolAnswer::error(error.to_string()),
        })
    }

    async fn edit_file(&self, arguments: Value) -> Result<String, EditError> {
        let params: EditParams = read(arguments)?;
        let target = self.target(&params.file_path)?;
        let mut text = Text::read(&target.file, &target.shown)?;
        let count =
            replace(&mut text, &target.shown, &params.old_text, &params.new_text, params.replace_all)?;
        let before = baseline(&self.checker, &[path_text(&target.file)]).await;
        self.put(&target, &text)?;
        let plural = if count == 1 { "replacement" } else { "replacements" };
        let success = format!("Edited {} ({count} {plural}).", target.shown);
        let changed = Changed { written: vec![written(&target.file, &text)], removed: Vec::new() };
        let more = feedback(&self.checker, changed, CheckScope::Files, before).await;
        Ok(success + &more)
    }

    async fn write_file(&self, arguments: Value) -> Result<String, EditError> {
        let params: WriteParams = read(arguments)?;
        let target = self.target(&params.file_path)?;
        if target.file.is_dir() {
            return Err(EditError::NotEditable { path: target.shown, reason: "is a folder".to_owned() });
        }
        let exists = target.file.exists();
        let mut text = Text::of(params.content);
        // What is there decides about endings and mark; a binary file may be replaced by text.
        if exists && let Ok(old) = Text::read(&target.file, &target.shown) {
            text.content = old.adapt(&text.content);
            text.has_bom |= old.has_bom;
        }
        let before = if exists {
            baseline(&self.checker, &[path_text(&target.file)]).await
        } else {
            crate::feedback::Baseline::default()
        };
        self.put(&target, &text)?;
        let verb = if exists { "Wrote" } else { "Created" };
        let n_lines = text.content.lines().count();
        let plural = if n_lines == 1 { "line" } else { "lines" };
        let success = format!("{verb} {} ({n_lines} {plural}).", target.shown);
        let changed = Changed { written: vec![written(&target.file, &text)], removed: Vec::new() };
        let more = feedback(&self.checker, changed, CheckScope::Project, before).await;
        Ok(success + &more)
    }

    async fn apply_patch(&self, arguments: Value) -> Result<String, EditError> {
        let params: PatchParams = read(arguments)?;
        let mut writes = Vec::new();
        let mut changed = Changed::default();
        let mut names = Vec::new();
        let mut touched: Vec<Inside> = Vec::new();
        for change in patch::parse(&params.patch)? {
            let (planned, name) = self.plan(change, &mut changed)?;
            for write in &planned {
                let (Write::Put { file, .. } | Write::Remove { file, .. }) = write;
                if touched.contains(file) {
                    return Err(EditError::Patch(format!(
                        "{name} is changed twice; put all changes of a file into one part"
                    )));
                }
                touched.push(file.clone());
            }
            names.push(name);
            writes.extend(planned);
        }
        let files: Vec<String> = changed.written.iter().map(|file| file.file_path.clone()).collect();
        let before = baseline(&self.checker, &files).await;
        disk::commit(writes)?;
        let plural = if names.len() == 1 { "file" } else { "files" };
        let success = format!("Patched {} {plural}: {}.", names.len(), names.join(", "));
        let more = feedback(&self.checker, changed, CheckScope::Files, before).await;
        Ok(success + &more)
    }

    /// Works out one file's part of a patch without touching the disk.
    fn plan(&self, change: Change, changed: &mut Changed) -> Result<(Vec<Write>, String), EditError> {
        match change {
            Change::Add { path, content } => {
                let target = self.target(&path)?;
                if target.file.exists() {
                    let reason = "exists already; update it instead of adding it".to_owned();
                    return Err(EditError::NotEditable { path: target.shown, reason });
                }
                let text = Text::of(content);
                changed.written.push(written(&target.file, &text));
                let name = target.shown.clone();
                Ok((vec![put(target, &text, None)], name))
            }
            Change::Delete { path } => {
                let target = self.target(&path)?;
                if !target.file.is_file() {
                    return Err(EditError::Missing { path: target.shown });
                }
                changed.removed.push(path_text(&target.file));
                Ok((vec![Write::Remove { file: target.file, shown: target.shown.clone() }], target.shown))
            }
            Change::Update { path, move_to, hunks } => {
                let target = self.target(&path)?;
                let old = Text::read(&target.file, &target.shown)?;
                let text = patch::apply(&old, &target.shown, &hunks)?;
                match move_to {
                    None => {
                        changed.written.push(written(&target.file, &text));
                        let name = target.shown.clone();
                        Ok((vec![put(target, &text, None)], name))
                    }
                    Some(path) => {
                        let new = self.target(&path)?;
                        if new.file.exists() {
                            let reason = "exists already; nothing is moved over it".to_owned();
                            return Err(EditError::NotEditable { path: new.shown, reason });
                        }
                        // A file that only moves has no new content to look at.
                        if !hunks.is_empty() {
                            changed.written.push(written(&new.file, &text));
                        }
                        changed.removed.push(path_text(&target.file));
                        let name = new.shown.clone();
                        let put = put(new, &text, Some(target.file.clone()));
                        Ok((vec![put, Write::Remove { file: target.file, shown: target.shown }], name))
                    }
                }
            }
        }
    }

    /// Every path of a tool goes through here.
    fn target(&self, path: &str) -> Result<Target, EditError> {
        if path.is_empty() {
            return Err(EditError::Arguments("the path is empty".to_owned()));
        }
        let file = boundary::inside_source(&self.root, Path::new(path))?;
        let shown = match file.relative().as_os_str().is_empty() {
            true => file.name().to_string_lossy().into_owned(),
            false => file.relative().to_string_lossy().into_owned(),
        };
        Ok(Target { file, shown })
    }

    fn put(&self, target: &Target, text: &Text) -> Result<(), EditError> {
        let target = Target { file: target.file.clone(), shown: target.shown.clone() };
        disk::commit(vec![put(target, text, None)])
    }
}

fn put(target: Target, text: &Text, mode_from: Option<Inside>) -> Write {
    Write::Put { file: target.file, shown: target.shown, bytes: text.to_bytes(), mode_from }
}

fn written(file: &Inside, text: &Text) -> FileText {
    FileText { file_path: path_text(file), text: Some(text.content.clone()) }
}

fn path_text(file: &Inside) -> String {
    file.name().to_string_lossy().into_owned()
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, EditError> {
    serde_json::from_value(arguments)
        .map_err(|error| EditError::Arguments(format!("the arguments are wrong: {error}")))
}

#[cfg(test)]
mod tests;
