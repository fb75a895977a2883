//! Projects: folders that the user added.

use std::path::{Path, PathBuf};

use chartroom_protocol::ids::ProjectId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Durability, Store, StoreError};

/// A folder that the user added. Whether it is trusted is not kept here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProject {
    /// Names it in every request.
    pub project_id: ProjectId,
    /// Canonical when it was added.
    pub path: PathBuf,
    /// The last segment of the path.
    pub name: String,
}

/// The answer of [`Store::add_project`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedProject {
    /// It is new, or was removed before.
    Added(StoredProject),
    /// The folder is a project already.
    Duplicate(StoredProject),
}

impl AddedProject {
    /// Returns the project, whether it is new or was there.
    pub fn into_project(self) -> StoredProject {
        match self {
            Self::Added(project) | Self::Duplicate(project) => project,
        }
    }
}

impl Store {
    /// Adds a folder by its canonical path. One that was removed comes back under its old id, with its sessions.
    pub async fn add_project(&self, path: &Path) -> Result<AddedProject, StoreError> {
        let path = path.to_owned();
        self.write(Durability::Disk, move |connection| add(connection, &path)).await
    }

    /// Returns the projects by name, then by path.
    pub async fn projects(&self) -> Result<Vec<StoredProject>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT project_id, path, name FROM projects WHERE removed = 0 ORDER BY name, path",
            )?;
            let projects = statement.query_map([], project)?.collect::<Result<_, _>>()?;
            Ok(projects)
        })
        .await
    }

    /// Returns one project, unless it was removed.
    pub async fn project(&self, project_id: &ProjectId) -> Result<Option<StoredProject>, StoreError> {
        let project_id = project_id.clone();
        self.read(move |connection| {
            let found = connection
                .prepare_cached(
                    "SELECT project_id, path, name FROM projects WHERE project_id = ?1 AND removed = 0",
                )?
                .query_row([project_id.as_str()], project)
                .optional()?;
            Ok(found)
        })
        .await
    }

    /// Takes a project off the list and tells whether it was there. Its sessions are kept.
    pub async fn remove_project(&self, project_id: &ProjectId) -> Result<bool, StoreError> {
        let project_id = project_id.clone();
        self.write(Durability::Disk, move |connection| {
            let n_changed = connection.execute(
                "UPDATE projects SET removed = 1 WHERE project_id = ?1 AND removed = 0",
                [project_id.as_str()],
            )?;
            Ok(n_changed == 1)
        })
        .await
    }
}

fn add(connection: &Connection, path: &Path) -> Result<AddedProject, StoreError> {
    let text = path_text(path)?;
    let known = connection
        .query_row("SELECT project_id, path, name, removed FROM projects WHERE path = ?1", [text], |row| {
            Ok((project(row)?, row.get::<_, bool>(3)?))
        })
        .optional()?;
    match known {
        Some((project, false)) => Ok(AddedProject::Duplicate(project)),
        Some((project, true)) => {
            connection.execute(
                "UPDATE projects SET removed = 0 WHERE project_id = ?1",
                [project.project_id.as_str()],
            )?;
            Ok(AddedProject::Added(project))
        }
        None => {
            let project = StoredProject {
                project_id: ProjectId::new(uuid::Uuid::new_v4().to_string()),
                path: path.to_owned(),
                name: path
                    .file_name()
                    .map_or_else(|| text.to_owned(), |name| name.to_string_lossy().into_owned()),
            };
            connection.execute(
                "INSERT INTO projects (project_id, path, name, added_at) VALUES (?1, ?2, ?3, ?4)",
                params![project.project_id.as_str(), text, project.name, jiff::Timestamp::now().to_string()],
            )?;
            Ok(AddedProject::Added(project))
        }
    }
}

/// The wire shows paths as text, so a path that is none cannot be a project.
fn path_text(path: &Path) -> Result<&str, StoreError> {
    path.to_str().ok_or_else(|| StoreError::Unusable {
        path: path.to_owned(),
        reason: "its name is not valid UTF-8; rename the folder".to_owned(),
    })
}

fn project(row: &Row<'_>) -> Result<StoredProject, rusqlite::Error> {
    Ok(StoredProject {
        project_id: ProjectId::new(row.get::<_, String>(0)?),
        path: PathBuf::from(row.get::<_, String>(1)?),
        name: row.get(2)?,
    })
}
