//! Projects: folders that the user added, each with its trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::project::{Project, ProjectWorktree};
use chartroom_repository::worktrees;
use chartroom_sessions::store::{AddedProject, Store, StoreError, StoredProject};
use chartroom_workspace::gate::SandboxState;
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, TrustError, TrustStore};
use tokio::sync::watch;

/// What the user asked of a project and cannot have.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The path is not absolute, does not exist or is no folder.
    #[error("{0}; give the absolute path of a folder that exists")]
    InvalidPath(String),
    /// The folder is a project already.
    #[error("{0} is a project already")]
    Duplicate(String),
    /// There is no such project.
    #[error("there is no project {0}; list the projects to see their ids")]
    NotFound(ProjectId),
    /// The person was shown another path than the one that would be trusted.
    #[error("the folder's real path is {real} now, not {shown}; look again before you trust it")]
    Moved {
        /// The project's real path now.
        real: String,
        /// The path that the person was shown.
        shown: String,
    },
    /// The trust store refused or failed.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The session store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The handle that the routes, the command line and the WebSocket share.
#[derive(Clone)]
pub struct Projects {
    store: Store,
    trust: Arc<TrustStore>,
    gate: SpawnGate,
    changes: watch::Sender<()>,
}

impl Projects {
    pub(crate) fn new(store: Store, gate: SpawnGate) -> Self {
        Self { store, trust: gate.trust().clone(), gate, changes: watch::Sender::new(()) }
    }

    /// Adds an existing folder, by its real path.
    pub async fn add(&self, path: &str) -> Result<Project, ProjectError> {
        let root = open_root(path)?;
        match self.store.add_project(root.as_path()).await? {
            AddedProject::Added(project) => {
                self.gate.add_root(&root);
                self.changes.send_replace(());
                Ok(self.with_trust(project))
            }
            AddedProject::Duplicate(project) => {
                Err(ProjectError::Duplicate(project.path.display().to_string()))
            }
        }
    }

    /// Adds a folder that may be there already, and trusts it if asked to: what `serve DIR --trust` does.
    pub async fn ensure(&self, root: &CanonicalRoot, trusted: bool) -> Result<Project, ProjectError> {
        let project = self.store.add_project(root.as_path()).await?.into_project();
        self.gate.add_root(root);
        if trusted {
            self.trust.trust(root)?;
        }
        self.changes.send_replace(());
        Ok(self.with_trust(project))
    }

    /// Returns every project, by name.
    pub async fn list(&self) -> Result<Vec<Project>, ProjectError> {
        let projects = self.store.projects().await?;
        Ok(projects.into_iter().map(|project| self.with_trust(project)).collect())
    }

    /// Takes a project off the list. Its folder, its sessions and its trust stay as they are.
    pub async fn remove(&self, id: &ProjectId) -> Result<(), ProjectError> {
        if !self.store.remove_project(id).await? {
            return Err(ProjectError::NotFound(id.clone()));
        }
        self.changes.send_replace(());
        Ok(())
    }

    /// Trusts a project's folder or takes trust back, if `real_path` is what the person was shown.
    pub async fn set_trust(
        &self,
        id: &ProjectId,
        real_path: &str,
        trusted: bool,
    ) -> Result<Project, ProjectError> {
        let project = self.stored(id).await?;
        if trusted {
            let root = open_root(&project.path.display().to_string())?;
            if root.as_path() != Path::new(real_path) {
                let (real, shown) = (root.to_string(), real_path.to_owned());
                return Err(ProjectError::Moved { real, shown });
            }
            self.trust.trust(&root)?;
        } else {
            self.trust.revoke(&project.path)?;
        }
        self.changes.send_replace(());
        Ok(self.with_trust(project))
    }

    /// Returns a project's folder as it is now.
    pub async fn root(&self, id: &ProjectId) -> Result<CanonicalRoot, ProjectError> {
        let project = self.stored(id).await?;
        open_root(&project.path.display().to_string())
    }

    /// Tells every page that the list has changed without us.
    pub(crate) fn tell_changed(&self) {
        self.changes.send_replace(());
    }

    /// Changes whenever the list or a folder's trust may have changed.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    async fn stored(&self, id: &ProjectId) -> Result<StoredProject, ProjectError> {
        self.store.project(id).await?.ok_or_else(|| ProjectError::NotFound(id.clone()))
    }

    fn with_trust(&self, project: StoredProject) -> Project {
        let root = CanonicalRoot::open(&project.path).ok();
        let is_worktree = worktrees::of_folder(&self.gate, &project.path);
        let removed = is_worktree.is_none();
        let record = is_worktree.or_else(|| worktrees::was_of_folder(&self.gate, &project.path));
        Project {
            worktree: record.map(|record| ProjectWorktree {
                name: record.name,
                branch: record.branch,
                repository: record.repository.display().to_string(),
                removed,
            }),
            project_id: project.project_id,
            path: project.path.display().to_string(),
            name: project.name,
            trusted: root.as_ref().is_some_and(|root| self.trust.is_trusted(root)),
            missing: root.is_none(),
            sandbox: root.and_then(|root| match self.gate.sandbox_state(&root, ChildKind::Agent, "agent") {
                SandboxState::Off => None,
                sandbox => Some(sandbox.to_string()),
            }),
        }
    }
}

impl std::fmt::Debug for Projects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Projects")
    }
}

fn open_root(path: &str) -> Result<CanonicalRoot, ProjectError> {
    let path = match path.strip_prefix("~/") {
        Some(rest) => dirs::home_dir().map(|home| home.join(rest)).unwrap_or_else(|| PathBuf::from(path)),
        None => PathBuf::from(path),
    };
    if !path.is_absolute() {
        return Err(ProjectError::InvalidPath(format!("`{}` is not an absolute path", path.display())));
    }
    CanonicalRoot::open(&path).map_err(|error| ProjectError::InvalidPath(error.to_string()))
}
