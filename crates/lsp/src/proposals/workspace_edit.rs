//! A server's `WorkspaceEdit`, read strictly: what cannot be made exactly as it was meant is refused as a whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::lsp::{ProposedEdit, ProposedStep, fingerprint};
use chartroom_workspace::boundary;
use serde_json::Value;

use crate::client::{Client, wire};
use crate::content;
use crate::orchestrator::Orchestrator;
use crate::position::{Range, to_offset};
use crate::uri;

/// More files than this are no edit of anybody's symbol.
const MAX_STEPS: usize = 2_000;

/// The steps, and what the server wants a person to look at first.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) steps: Vec<ProposedStep>,
    pub(super) confirm: Vec<String>,
}

/// Reads an edit of this server. The error says in one sentence why it is not made.
pub(super) fn read(orchestrator: &Orchestrator, client: &Client, edit: &Value) -> Result<Read, String> {
    let mut reader = Reader { orchestrator, client, edit, texts: BTreeMap::new(), read: Read::default() };
    if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
        for change in changes {
            reader.change(change)?;
        }
    } else if let Some(changes) = edit.get("changes").and_then(Value::as_object) {
        // By path: the order of a JSON object means nothing.
        let changes: BTreeMap<&String, &Value> = changes.iter().collect();
        for (uri, edits) in changes {
            reader.edits(uri, None, edits)?;
        }
    }
    Ok(reader.read)
}

/// Returns the files that an edit would change the text of.
pub(super) fn files(edit: &Value) -> Vec<PathBuf> {
    let changes = edit.get("documentChanges").and_then(Value::as_array).into_iter().flatten();
    let in_order = changes.filter_map(|change| change.pointer("/textDocument/uri").and_then(Value::as_str));
    let by_uri =
        edit.get("changes").and_then(Value::as_object).into_iter().flat_map(|changes| changes.keys());
    let mut files: Vec<PathBuf> =
        in_order.chain(by_uri.map(String::as_str)).filter_map(uri::to_path).collect();
    files.sort();
    files.dedup();
    files
}

struct Reader<'a> {
    orchestrator: &'a Orchestrator,
    client: &'a Client,
    edit: &'a Value,
    /// What files have after the steps so far; nothing for one that is gone.
    texts: BTreeMap<PathBuf, Option<Arc<str>>>,
    read: Read,
}

impl Reader<'_> {
    fn change(&mut self, change: &Value) -> Result<(), String> {
        self.annotation(change);
        let flag = |name: &str| {
            change.pointer(&format!("/options/{name}")).and_then(Value::as_bool).unwrap_or(false)
        };
        let step = match change.get("kind").and_then(Value::as_str) {
            None => {
                let document = change.get("textDocument").unwrap_or(&Value::Null);
                let uri = document.get("uri").and_then(Value::as_str).unwrap_or_default();
                let version = document.get("version").and_then(Value::as_i64);
                return self.edits(uri, version, change.get("edits").unwrap_or(&Value::Null));
            }
            Some("create") => {
                let file = self.file(change.get("uri"))?;
                if !self.has(&file) || flag("overwrite") {
                    self.texts.insert(file.clone(), Some("".into()));
                }
                ProposedStep::Create {
                    file: text(&file),
                    overwrite: flag("overwrite"),
                    ignore_if_exists: flag("ignoreIfExists"),
                }
            }
            Some("rename") => {
                let (from, to) = (self.file(change.get("oldUri"))?, self.file(change.get("newUri"))?);
                if from.is_dir() {
                    let folder = self.orchestrator.display(&from);
                    return Err(format!("it would rename the folder {folder}; rename it yourself first"));
                }
                if !self.has(&to) || flag("overwrite") {
                    let moved = self.text(&from)?;
                    self.texts.insert(from.clone(), None);
                    self.texts.insert(to.clone(), Some(moved));
                }
                ProposedStep::Rename {
                    from: text(&from),
                    to: text(&to),
                    overwrite: flag("overwrite"),
                    ignore_if_exists: flag("ignoreIfExists"),
                }
            }
            Some("delete") => {
                let file = self.file(change.get("uri"))?;
                if file.is_dir() {
                    let folder = self.orchestrator.display(&file);
                    return Err(format!("it would delete the folder {folder}"));
                }
                self.texts.insert(file.clone(), None);
                ProposedStep::Delete { file: text(&file), ignore_if_not_exists: flag("ignoreIfNotExists") }
            }
            Some(kind) => return Err(format!("it has a part of a kind that is not known here: {kind}")),
        };
        self.push(step)
    }

    fn edits(&mut self, uri: &str, version: Option<i64>, edits: &Value) -> Result<(), String> {
        let file = self.file(Some(&Value::from(uri)))?;
        let shown = self.orchestrator.display(&file);
        if let (Some(meant), Some(have)) = (version, self.client.version(&file).map(i64::from))
            && meant != have
        {
            return Err(format!("{shown} has changed since the server looked at it; ask again"));
        }
        let base = self.text(&file)?;
        let mut read = Vec::new();
        for edit in edits.as_array().into_iter().flatten() {
            self.annotation(edit);
            read.push(self.edit(edit, &base).ok_or_else(|| {
                format!("it names a place that {shown} does not have; the file may have changed, ask again")
            })?);
        }
        // What is inserted at one place stays in the server's order.
        read.sort_by_key(|edit| (edit.start, edit.end));
        if read.is_sorted_by(|one, next| one.end <= next.start) {
            let after = applied(&base, &read);
            self.texts.insert(file.clone(), Some(after.into()));
            self.push(ProposedStep::Edit { file: text(&file), base: fingerprint(&base), edits: read })
        } else {
            Err(format!("its edits of {shown} overlap"))
        }
    }

    fn edit(&self, edit: &Value, base: &str) -> Option<ProposedEdit> {
        let range: Range = serde_json::from_value(edit.get("range")?.clone()).ok()?;
        let encoding = self.client.capabilities.encoding;
        let (start, end) = (to_offset(range.start, encoding, base)?, to_offset(range.end, encoding, base)?);
        let new_text = edit.get("newText")?.as_str()?.to_owned();
        (start <= end).then_some(ProposedEdit { start, end, new_text })
    }

    fn push(&mut self, step: ProposedStep) -> Result<(), String> {
        if self.read.steps.len() >= MAX_STEPS {
            return Err(format!("it changes more than {MAX_STEPS} files"));
        }
        self.read.steps.push(step);
        Ok(())
    }

    /// Notes what the server wants to be confirmed.
    fn annotation(&mut self, part: &Value) {
        let id = part.get("annotationId").and_then(Value::as_str);
        let edit = self.edit;
        let annotation = id.and_then(|id| edit.get("changeAnnotations")?.get(id));
        let Some(annotation) = annotation else { return };
        if annotation.get("needsConfirmation").and_then(Value::as_bool) == Some(true) {
            let label = annotation.get("label").and_then(Value::as_str).unwrap_or("no reason is given");
            let label = wire::shorten(label);
            if !self.read.confirm.contains(&label) {
                self.read.confirm.push(label);
            }
        }
    }

    /// Every path of a server goes through here.
    fn file(&self, uri: Option<&Value>) -> Result<PathBuf, String> {
        let uri = uri.and_then(Value::as_str).unwrap_or_default();
        let Some(path) = uri::to_path(uri) else {
            return Err(format!("it would change {}, which is no file", wire::shorten(uri)));
        };
        let inside = boundary::inside_source(self.orchestrator.root(), &path);
        inside
            .map(|file| file.name())
            .map_err(|error| format!("it would change what is not to be changed: {error}"))
    }

    fn has(&self, file: &Path) -> bool {
        self.texts.get(file).map_or_else(|| file.exists(), Option::is_some)
    }

    /// What a file has after the steps so far: as the server has it, else as the disk does.
    fn text(&self, file: &Path) -> Result<Arc<str>, String> {
        let shown = || self.orchestrator.display(file);
        match self.texts.get(file) {
            Some(Some(text)) => Ok(text.clone()),
            Some(None) => Err(format!("it would change {} after removing it", shown())),
            None => match self.client.text(file) {
                Some(text) => Ok(text),
                None => content::read(self.orchestrator.root(), file)
                    .map_err(|reason| format!("it would change {}: {reason}", shown())),
            },
        }
    }
}

/// Returns a text with these edits, which are in order and do not overlap.
fn applied(base: &str, edits: &[ProposedEdit]) -> String {
    let mut after = String::with_capacity(base.len());
    let mut at = 0;
    for edit in edits {
        after.push_str(&base[at..edit.start]);
        after.push_str(&edit.new_text);
        at = edit.end;
    }
    after.push_str(&base[at..]);
    after
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
