//! The three mutation tools: `edit_file`, `write_file`, `apply_patch`.

use std::sync::{Arc, LazyLock};

use chartroom_lsp::mcp::Consent;
use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::feedback::{Baseline, Checker, baseline, feedback};
use crate::locks::{FileLocks, LockError, Turn};
use crate::{EditError, disk, patch};

mod guarded;
mod plan;
mod proposed;
mod symbols;

pub use symbols::{Proposer, SymbolEdits};

use guarded::{guarded_files, question, still_agreed};
use plan::{PatchParams, Plan, Request};

/// How often a change is worked out anew when a program that knows nothing of our locks changed a file in its middle.
const TRIES: usize = 5;

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
    locks: FileLocks,
}

impl<C: Checker> Edits<C> {
    /// Returns the tools for one workspace. `locks` are the same for all processes that may edit it.
    pub fn new(root: CanonicalRoot, checker: C, locks: FileLocks) -> Self {
        Self { root, checker, locks }
    }

    /// Calls a tool by name; nothing when there is no such tool. `consent` is asked before a file is changed that programs
    /// run by themselves.
    pub async fn call(&self, name: &str, arguments: Value, consent: &dyn Consent) -> Option<ToolAnswer> {
        let result = match name {
            "edit_file" => self.edit_file(arguments, consent).await,
            "write_file" => self.write_file(arguments, consent).await,
            "apply_patch" => self.apply_patch(arguments, consent).await,
            _ => return None,
        };
        Some(match result {
            Ok(text) => ToolAnswer::ok(text),
            Err(error) => ToolAnswer::error(error.to_string()),
        })
    }

    async fn edit_file(&self, arguments: Value, consent: &dyn Consent) -> Result<String, EditError> {
        self.change(Request::Edit(read(arguments)?), consent).await
    }

    async fn write_file(&self, arguments: Value, consent: &dyn Consent) -> Result<String, EditError> {
        self.change(Request::Write(read(arguments)?), consent).await
    }

    async fn apply_patch(&self, arguments: Value, consent: &dyn Consent) -> Result<String, EditError> {
        let PatchParams { patch: text } = read(arguments)?;
        self.change(Request::Patch { changes: patch::parse(&text)?, text }, consent).await
    }

    /// Makes a change and returns its success message with the diagnostics.
    async fn change(&self, request: Request, consent: &dyn Consent) -> Result<String, EditError> {
        let request = Arc::new(request);
        let agreed = self.agreed(&request, consent).await?;
        let before = self.before(&request).await?;
        let files = self.on_disk(&request, Request::files).await?;
        let turn = self.locks.turn(&files).await;
        let plan = self.on_disk(&request, move |request, root| make(request, root, turn, &agreed)).await?;
        let more = feedback(&self.checker, plan.changed, request.scope(), before).await;
        Ok(plan.success + &more)
    }

    /// Asks for what needs consent, and returns the files that a person has agreed to.
    async fn agreed(&self, request: &Arc<Request>, consent: &dyn Consent) -> Result<Vec<Inside>, EditError> {
        let guarded = self.on_disk(request, guarded_files).await?;
        let Some(first) = guarded.first() else { return Ok(Vec::new()) };
        let answer = match question(&self.root, &guarded, &request.text()) {
            Some(question) => consent.ask(&question).await,
            None => Err("the change is too long to be shown to them".to_owned()),
        };
        match answer {
            Ok(()) => Ok(guarded.into_iter().map(|guarded| guarded.file).collect()),
            Err(reason) => Err(first.refused(reason)),
        }
    }

    /// What was known of the files before, if the user wants to know what is new. It may take a while, so that a change
    /// that cannot be made is told first, and nothing is held meanwhile.
    async fn before(&self, request: &Arc<Request>) -> Result<Baseline, EditError> {
        if !self.checker.config().is_some_and(|config| config.mark_new) {
            return Ok(Baseline::default());
        }
        let plan = self.on_disk(request, Request::plan).await?;
        let files: Vec<String> = plan.changed.written.into_iter().map(|file| file.file_path).collect();
        Ok(baseline(&self.checker, &files).await)
    }

    /// Works with the disk on a thread that may block. It goes on to its end when nobody waits any more.
    async fn on_disk<T: Send + 'static>(
        &self,
        request: &Arc<Request>,
        work: impl FnOnce(&Request, &CanonicalRoot) -> Result<T, EditError> + Send + 'static,
    ) -> Result<T, EditError> {
        let (request, root) = (request.clone(), self.root.clone());
        let worked = tokio::task::spawn_blocking(move || work(&request, &root)).await;
        worked.unwrap_or_else(|error| Err(EditError::Stopped(error.to_string())))
    }
}

/// Reads, works out and writes while the locks are held.
fn make(request: &Request, root: &CanonicalRoot, turn: Turn, agreed: &[Inside]) -> Result<Plan, EditError> {
    let _locked = match turn.lock() {
        Ok(locked) => Some(locked),
        Err(LockError::Held) => return Err(EditError::Locked),
        // A data folder that cannot be written must not keep people from their own files. What was read is still
        // compared with what is replaced.
        Err(LockError::Io(error)) => {
            tracing::warn!(%error, "files are edited without a lock");
            None
        }
    };
    let mut tries = 1;
    loop {
        let mut plan = request.plan(root)?;
        still_agreed(&plan, agreed)?;
        match disk::commit(std::mem::take(&mut plan.writes)) {
            Err(EditError::ChangedMeanwhile { .. }) if tries < TRIES => tries += 1,
            result => return result.map(|()| plan),
        }
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, EditError> {
    serde_json::from_value(arguments)
        .map_err(|error| EditError::Arguments(format!("the arguments are wrong: {error}")))
}

#[cfg(test)]
mod tests;
