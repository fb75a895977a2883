//! The one room that changes an index: create, reindex, sync, status, clear, repair.
//!
//! Each action is one function from parameters to an envelope; a build is a job that the caller runs afterwards.

mod answer;
mod build;
mod clear;
mod create;
mod preflight;
mod recovery;
mod repair;
mod status;
mod sync;
mod team;
mod worktree;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::index::{ManageAction, ManageIndexParams, ManageIndexResponse};

use crate::core::Core;
use crate::git::ChangedFiles;
use crate::identity::canonical_root;

pub(crate) use answer::finished;
pub(crate) use build::BuildJob;
#[cfg(test)]
pub(crate) use recovery::recover;
pub(crate) use recovery::settle;
pub(crate) use team::{Next, adopted, before_adopt, before_share, share};

/// An answer, and the work that goes on after it.
pub(crate) struct Managed {
    pub(crate) response: ManageIndexResponse,
    pub(crate) job: Option<BuildJob>,
}

impl From<ManageIndexResponse> for Managed {
    fn from(response: ManageIndexResponse) -> Self {
        Self { response, job: None }
    }
}

/// Whether the answer depends on which files git says have changed.
pub(crate) fn needs_git(params: &ManageIndexParams) -> bool {
    params.action == ManageAction::Reindex
}

/// Does what `manage_index` was asked to.
pub(crate) fn manage(core: &Arc<Core>, params: ManageIndexParams, changed: Option<ChangedFiles>) -> Managed {
    let target = match Target::of(&params) {
        Ok(target) => target,
        Err(message) => return answer::error(&params, &params.path, message).into(),
    };
    // A root that is missing can still be looked at and cleared; nothing else makes sense on it.
    let needs_folder = !matches!(params.action, ManageAction::Status | ManageAction::Clear);
    if needs_folder && let Err(message) = target.check_folder() {
        return answer::error(&params, &target.root, message).into();
    }
    if params.action != ManageAction::Status {
        settle(core);
    }
    let mut managed = match params.action {
        ManageAction::Create => create::create(core, &params, &target, create::Mode::Create),
        ManageAction::Reindex => preflight::reindex(core, &params, &target, changed),
        ManageAction::Sync => sync::sync(core, &params, &target).into(),
        ManageAction::Status => status::status(core, &params, &target).into(),
        ManageAction::Clear => clear::clear(core, &params, &target).into(),
        ManageAction::Repair => repair::repair(core, &params, &target).into(),
    };
    if let Some(note) = &target.note {
        managed.response.human_text = format!("{}\n{note}", managed.response.human_text);
    }
    managed
}

/// The codebase that an action is about.
pub(crate) struct Target {
    /// Canonical.
    pub(crate) root: String,
    /// Told when the input was relative.
    note: Option<String>,
}

impl Target {
    fn of(params: &ManageIndexParams) -> Result<Self, String> {
        let given = Path::new(&params.path);
        if params.path.trim().is_empty() {
            return Err("The path is empty. Give the absolute path of a folder.".into());
        }
        if params.path.contains('\0') {
            return Err("The path holds a NUL character and cannot name a folder.".into());
        }
        let real = canonical_root(given);
        let root = real
            .to_str()
            .ok_or_else(|| format!("Path '{}' is not valid UTF-8 and cannot be indexed.", real.display()))?
            .to_owned();
        let note = given
            .is_relative()
            .then(|| format!("Note: Input path '{}' was resolved to absolute path '{root}'", params.path));
        Ok(Self { root, note })
    }

    fn check_folder(&self) -> Result<(), String> {
        let path = Path::new(&self.root);
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(format!("Path '{}' does not exist.", self.root))
            }
            Err(error) => Err(format!("Path '{}' cannot be opened: {error}.", self.root)),
            Ok(metadata) if !metadata.is_dir() => {
                Err(format!("Path '{}' is not a directory. Give the folder that holds the code.", self.root))
            }
            Ok(_) => match std::fs::read_dir(path) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("Path '{}' cannot be read: {error}.", self.root)),
            },
        }
    }
}
