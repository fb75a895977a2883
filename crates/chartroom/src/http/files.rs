//! `/api/project/{id}/files?query=`: files for the composer's `@` completion.

use axum::Json;
use axum::extract::{Path, Query, State};
use chartroom_protocol::error::ErrorResponse;
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::project::FileListResponse;
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::walk::{self, WalkEvent, WalkOptions};
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::routes::{Kind, Route};
use crate::app::App;

/// What a menu shows.
const MOST_ANSWERS: usize = 50;
/// A walk that met this many files is enough for a menu; the rest is found by typing more of its name.
const MOST_FILES: usize = 200_000;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(files))]
}

#[derive(Debug, Deserialize)]
pub(super) struct FilesQuery {
    #[serde(default)]
    query: String,
}

/// Lists the project's files that match, best first.
#[utoipa::path(get, path = "/api/project/{project_id}/files", tag = "projects",
    params(("project_id" = String, Path), ("query" = Option<String>, Query)), responses(
    (status = 200, body = FileListResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn files(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<FilesQuery>,
) -> Result<Json<FileListResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let found = tokio::task::spawn_blocking(move || find(&root, &query.query))
        .await
        .map_err(|error| ApiError::internal(format!("the walk did not end: {error}")))?;
    Ok(Json(found))
}

fn find(root: &CanonicalRoot, query: &str) -> FileListResponse {
    let query = query.to_lowercase();
    let options = WalkOptions { max_file_size: None, ..WalkOptions::default() };
    let mut matches: Vec<(Rank, String)> = walk::files(root, &options)
        .filter_map(|event| match event {
            WalkEvent::File(file) => Some(file.relative),
            // What cannot be read or named cannot be offered; the index reports it.
            WalkEvent::TooLarge { .. }
            | WalkEvent::Unreadable { .. }
            | WalkEvent::NotUtf8 { .. }
            | WalkEvent::BadPattern { .. }
            | WalkEvent::IgnoreFileLeftOut { .. } => None,
        })
        .take(MOST_FILES)
        .filter_map(|path| rank(&path, &query).map(|rank| (rank, path)))
        .collect();
    matches.sort();
    let truncated = matches.len() > MOST_ANSWERS;
    matches.truncate(MOST_ANSWERS);
    FileListResponse { files: matches.into_iter().map(|(_, path)| path).collect(), truncated }
}

/// Smaller is better: how the name matches, then how long the path is.
type Rank = (u8, usize);

fn rank(path: &str, query: &str) -> Option<Rank> {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let class = if name == query {
        0
    } else if name.starts_with(query) {
        1
    } else if name.contains(query) {
        2
    } else if path.contains(query) {
        3
    } else if is_subsequence(&path, query) {
        4
    } else {
        return None;
    };
    Some((class, path.len()))
}

fn is_subsequence(text: &str, letters: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|c| c == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for path in ["src/login.rs", "src/login/retry.rs", "tests/login.rs", "README.md", "target/login.rs"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = CanonicalRoot::open(folder.path()).unwrap();
        assert_eq!(find(&root, query).files, expected, "{query}");
    }

    #[test]
    fn names_come_before_folders_and_ignored_files_not_at_all() {
        check("login", &["src/login.rs", "tests/login.rs", "src/login/retry.rs"]);
        check("LOGIN.rs", &["src/login.rs", "tests/login.rs", "src/login/retry.rs"]);
        check("srlor", &["src/login.rs", "src/login/retry.rs"]);
        check("zzz", &[]);
        check("", &["README.md", "src/login.rs", "tests/login.rs", "src/login/retry.rs"]);
    }
}
