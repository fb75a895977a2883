//! Working out a change: what is read, what is written instead, and what the caller is told. Nothing is written here.

use std::path::Path;

use chartroom_protocol::lsp::{CheckScope, FileText, ProposedChange};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{self, Inside};
use serde::Deserialize;

use super::proposed;
use crate::EditError;
use crate::disk::{Before, Write};
use crate::feedback::Changed;
use crate::patch::{self, Change};
use crate::replace::replace;
use crate::text::Text;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EditParams {
    file_path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WriteParams {
    file_path: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchParams {
    pub(super) patch: String,
}

/// What a tool was asked for.
#[derive(Debug)]
pub(super) enum Request {
    Edit(EditParams),
    Write(WriteParams),
    Patch {
        changes: Vec<Change>,
        /// As it came.
        text: String,
    },
    /// A change that a language server worked out.
    Proposed(ProposedChange),
}

/// A change that was worked out on what the disk had.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) writes: Vec<Write>,
    pub(super) changed: Changed,
    /// What the caller is told once it is made.
    pub(super) success: String,
}

/// A file inside the workspace.
pub(super) struct Target {
    pub(super) file: Inside,
    /// Its path as people say it.
    pub(super) shown: String,
}

impl Request {
    /// Which files are worth a look afterwards.
    pub(super) fn scope(&self) -> CheckScope {
        match self {
            Request::Edit(_) | Request::Patch { .. } => CheckScope::Files,
            Request::Write(_) => CheckScope::Project,
            Request::Proposed(change) => change.scope,
        }
    }

    /// Returns every file that the change reads or writes.
    pub(super) fn files(&self, root: &CanonicalRoot) -> Result<Vec<Inside>, EditError> {
        self.paths().into_iter().map(|path| Ok(target(root, path)?.file)).collect()
    }

    /// Returns their paths, as the caller named them.
    pub(super) fn paths(&self) -> Vec<&str> {
        match self {
            Request::Edit(params) => vec![&params.file_path],
            Request::Write(params) => vec![&params.file_path],
            Request::Patch { changes, .. } => changes.iter().flat_map(paths).collect(),
            Request::Proposed(change) => proposed::paths(change),
        }
    }

    /// Returns the change as a person reads it, all of it.
    pub(super) fn text(&self) -> String {
        match self {
            Request::Edit(EditParams { old_text, new_text, replace_all, .. }) => {
                let which = if *replace_all { "Every" } else { "The one" };
                format!("{which} occurrence of\n\n{old_text}\n\nbecomes\n\n{new_text}")
            }
            Request::Write(params) => params.content.clone(),
            Request::Patch { text, .. } => text.clone(),
            Request::Proposed(change) => proposed::text(change),
        }
    }

    /// Reads the files and works out the change.
    pub(super) fn plan(&self, root: &CanonicalRoot) -> Result<Plan, EditError> {
        match self {
            Request::Edit(params) => edit(root, params),
            Request::Write(params) => write(root, params),
            Request::Patch { changes, .. } => patch(root, changes),
            Request::Proposed(change) => proposed::plan(root, change),
        }
    }
}

fn paths(change: &Change) -> impl Iterator<Item = &str> {
    let (path, other) = match change {
        Change::Add { path, .. } | Change::Delete { path } => (path, None),
        Change::Update { path, move_to, .. } => (path, move_to.as_deref()),
    };
    std::iter::once(path.as_str()).chain(other)
}

fn edit(root: &CanonicalRoot, params: &EditParams) -> Result<Plan, EditError> {
    let target = target(root, &params.file_path)?;
    let old = Text::read(&target.file, &target.shown)?;
    let mut text = old.clone();
    let count = replace(&mut text, &target.shown, &params.old_text, &params.new_text, params.replace_all)?;
    let plural = if count == 1 { "replacement" } else { "replacements" };
    Ok(Plan {
        success: format!("Edited {} ({count} {plural}).", target.shown),
        changed: Changed { written: vec![written(&target.file)], removed: Vec::new() },
        writes: vec![put(target, &text, Before::Bytes(old.to_bytes()), None)],
    })
}

fn write(root: &CanonicalRoot, params: &WriteParams) -> Result<Plan, EditError> {
    let target = target(root, &params.file_path)?;
    if target.file.is_dir() {
        return Err(EditError::NotEditable { path: target.shown, reason: "is a folder".to_owned() });
    }
    let exists = target.file.exists();
    let mut text = Text::of(params.content.clone());
    // What is there decides about endings and mark; a binary file may be replaced by text.
    if exists && let Ok(old) = Text::read(&target.file, &target.shown) {
        text.content = old.adapt(&text.content);
        text.has_bom |= old.has_bom;
    }
    let n_lines = text.content.lines().count();
    let plural = if n_lines == 1 { "line" } else { "lines" };
    let verb = if exists { "Wrote" } else { "Created" };
    Ok(Plan {
        success: format!("{verb} {} ({n_lines} {plural}).", target.shown),
        changed: Changed { written: vec![written(&target.file)], removed: Vec::new() },
        // A file that somebody else has made meanwhile was not looked at by whoever asked for this.
        writes: vec![put(target, &text, if exists { Before::Anything } else { Before::Nothing }, None)],
    })
}

fn patch(root: &CanonicalRoot, changes: &[Change]) -> Result<Plan, EditError> {
    let mut plan = Plan::default();
    let mut names = Vec::new();
    let mut touched: Vec<Inside> = Vec::new();
    for change in changes {
        let (planned, name) = part(root, change, &mut plan.changed)?;
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
        plan.writes.extend(planned);
    }
    let plural = if names.len() == 1 { "file" } else { "files" };
    plan.success = format!("Patched {} {plural}: {}.", names.len(), names.join(", "));
    Ok(plan)
}

/// Works out one file's part of a patch, and what it is called.
fn part(
    root: &CanonicalRoot,
    change: &Change,
    changed: &mut Changed,
) -> Result<(Vec<Write>, String), EditError> {
    match change {
        Change::Add { path, content } => {
            let target = target(root, path)?;
            if target.file.exists() {
                let reason = "exists already; update it instead of adding it".to_owned();
                return Err(EditError::NotEditable { path: target.shown, reason });
            }
            changed.written.push(written(&target.file));
            let name = target.shown.clone();
            Ok((vec![put(target, &Text::of(content.clone()), Before::Nothing, None)], name))
        }
        Change::Delete { path } => {
            let target = target(root, path)?;
            if !target.file.is_file() {
                return Err(EditError::Missing { path: target.shown });
            }
            changed.removed.push(path_text(&target.file));
            let before = Before::Anything;
            Ok((vec![Write::Remove { file: target.file, shown: target.shown.clone(), before }], target.shown))
        }
        Change::Update { path, move_to, hunks } => {
            let target = target(root, path)?;
            let old = Text::read(&target.file, &target.shown)?;
            let text = patch::apply(&old, &target.shown, hunks)?;
            let before = Before::Bytes(old.to_bytes());
            let Some(path) = move_to else {
                changed.written.push(written(&target.file));
                let name = target.shown.clone();
                return Ok((vec![put(target, &text, before, None)], name));
            };
            let new = self::target(root, path)?;
            if new.file.exists() {
                let reason = "exists already; nothing is moved over it".to_owned();
                return Err(EditError::NotEditable { path: new.shown, reason });
            }
            // A file that only moves has no new content to look at.
            if !hunks.is_empty() {
                changed.written.push(written(&new.file));
            }
            changed.removed.push(path_text(&target.file));
            let name = new.shown.clone();
            let put = put(new, &text, Before::Nothing, Some(target.file.clone()));
            Ok((vec![put, Write::Remove { file: target.file, shown: target.shown, before }], name))
        }
    }
}

/// Every path of a tool goes through here.
pub(super) fn target(root: &CanonicalRoot, path: &str) -> Result<Target, EditError> {
    if path.is_empty() {
        return Err(EditError::Arguments("the path is empty".to_owned()));
    }
    let file = boundary::inside_source(root, Path::new(path))?;
    let shown = match file.relative().as_os_str().is_empty() {
        true => file.name().to_string_lossy().into_owned(),
        false => file.relative().to_string_lossy().into_owned(),
    };
    Ok(Target { file, shown })
}

fn put(target: Target, text: &Text, before: Before, mode_from: Option<Inside>) -> Write {
    Write::Put { file: target.file, shown: target.shown, bytes: text.to_bytes(), before, mode_from }
}

/// The service reads the text from the disk: another change may be there before this one is looked at, and the
/// older text must not come after the newer.
pub(super) fn written(file: &Inside) -> FileText {
    FileText { file_path: path_text(file), text: None }
}

pub(super) fn path_text(file: &Inside) -> String {
    file.name().to_string_lossy().into_owned()
}
