//! From the user's words about worktrees and tries to what those of a folder get.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chartroom_protocol::worktree::RemoveWorktreeResponse;
use chartroom_repository::worktrees::{self, Preparation, Record};
use chartroom_workspace::CanonicalRoot;

use super::App;
use super::sandbox::expanded;
use crate::config::{TriesConfig, WorktreesConfig};
use crate::projects::ProjectError;
use crate::tries::TriesError;

/// Returns how a new worktree of the repository in a folder is prepared.
pub(crate) fn preparation(config: &WorktreesConfig, folder: &Path) -> Preparation {
    prepared(config, folder, dirs::home_dir().as_deref())
}

/// Returns the command that tests what was tried of the repository in a folder; empty if there is none.
pub(crate) fn test(config: &TriesConfig, folder: &Path) -> Vec<String> {
    let nearest = nearest(&config.projects, folder, dirs::home_dir().as_deref());
    nearest.and_then(|project| project.test.clone()).unwrap_or_else(|| config.test.clone())
}

fn prepared(config: &WorktreesConfig, folder: &Path, home: Option<&Path>) -> Preparation {
    let nearest = nearest(&config.projects, folder, home).cloned().unwrap_or_default();
    let copy = nearest.copy.unwrap_or_else(|| config.copy.clone());
    Preparation {
        copy: copy.iter().map(PathBuf::from).collect(),
        setup: nearest.setup.unwrap_or_else(|| config.setup.clone()),
    }
}

/// Makes projects of the worktrees that have none: a death while one was being made has left it so.
pub(crate) async fn adopt(app: &App) {
    let projects = match app.projects().list().await {
        Ok(projects) => projects,
        Err(error) => return tracing::warn!("worktrees that were left are not listed: {error}"),
    };
    let is_project = |path: &Path| projects.iter().any(|project| Path::new(&project.path) == path);
    for record in worktrees::list(app.gate(), None) {
        if is_project(&record.path) || !is_project(&record.repository) {
            continue;
        }
        let Ok(root) = CanonicalRoot::open(&record.path) else { continue };
        if let Err(error) = app.projects().ensure(&root, false).await {
            tracing::warn!(worktree = record.name, "it is not listed: {error}");
        }
    }
}

/// Removes a worktree. Its agents are ended and its sessions archived: what was said in it stays with its repository. A
/// project of it in which nothing was said goes too.
pub(crate) async fn taken_away(
    app: &App,
    record: &Record,
    force: bool,
) -> Result<RemoveWorktreeResponse, TriesError> {
    let removed = worktrees::remove(app.gate(), record, force).await?;
    if !removed.removed {
        return Ok(removed);
    }
    let projects = app.projects().list().await?;
    for project in projects.iter().filter(|project| record.path.as_os_str() == project.path.as_str()) {
        let sessions = app.sessions().store().sessions_of(&project.project_id).await;
        let sessions = sessions.map_err(ProjectError::from)?;
        for session in &sessions {
            if let Err(error) = app.sessions().kill(&session.session_id).await {
                tracing::warn!(session = %session.session_id, "its agent was not ended: {error}");
            }
            app.sessions().set_archived(&session.session_id, true).await?;
        }
        if sessions.is_empty() {
            app.projects().remove(&project.project_id).await?;
        }
    }
    app.projects().tell_changed();
    Ok(removed)
}

/// What is set for the nearest path at or above a folder.
fn nearest<'a, T>(projects: &'a BTreeMap<String, T>, folder: &Path, home: Option<&Path>) -> Option<&'a T> {
    let named = projects.iter().map(|(path, project)| {
        let path = expanded(path, home);
        (path.canonicalize().unwrap_or(path), project)
    });
    named
        .filter(|(path, _)| folder.starts_with(path))
        .max_by_key(|(path, _)| path.components().count())
        .map(|(_, project)| project)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_project_sets_what_it_names_and_has_the_rest_of_all() {
        let text = "[worktrees]\ncopy = [\".env\"]\nsetup = [\"npm\", \"ci\"]\n\
                    [worktrees.projects.\"~/x\"]\nsetup = []\n\
                    [worktrees.projects.\"~/x/y\"]\ncopy = [\"a\", \"b\"]\n";
        let config: Config = toml::from_str(text).unwrap();
        let of = |folder: &str| {
            let prepared = prepared(&config.worktrees, Path::new(folder), Some(Path::new("/home/u")));
            (prepared.copy, prepared.setup.join(" "))
        };
        assert_eq!(of("/srv"), (vec![".env".into()], "npm ci".to_owned()));
        assert_eq!(of("/home/u/x/z"), (vec![".env".into()], String::new()));
        assert_eq!(of("/home/u/x/y"), (vec!["a".into(), "b".into()], "npm ci".to_owned()));
    }
    #[test]
    fn a_project_has_a_test_of_its_own_or_none() {
        let text = "[tries]\ntest = [\"npm\", \"test\"]\n[tries.projects.\"/x\"]\ntest = []\n[tries.projects.\"/x/y\"]\ntest = [\"make\"]\n";
        let config: Config = toml::from_str(text).unwrap();
        let of = |folder: &str| test(&config.tries, Path::new(folder)).join(" ");
        assert_eq!([of("/srv"), of("/x/z"), of("/x/y/z")], ["npm test", "", "make"]);
    }
}
