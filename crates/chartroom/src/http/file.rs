//! `/api/project/{id}/file?path=&line=`: the lines around a place, for a person who clicks on it.

use axum::Json;
use axum::extract::{Path, Query, State};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::project::FileLinesResponse;
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary;
use chartroom_workspace::limits::READ_FILE;
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::routes::{Kind, Route};
use crate::app::App;

/// Lines before and after the one that is looked at.
const AROUND: usize = 20;
/// A longer line is cut: somebody's minified code is nothing to look at.
const MAX_LINE_CHARS: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(file))]
}

#[derive(Debug, Deserialize)]
pub(super) struct FileQuery {
    path: String,
    #[serde(default)]
    line: usize,
}

/// Returns the lines around a place in a file of the project.
#[utoipa::path(get, path = "/api/project/{project_id}/file", tag = "projects",
    params(("project_id" = String, Path), ("path" = String, Query), ("line" = Option<u32>, Query)), responses(
    (status = 200, body = FileLinesResponse),
    (status = 400, description = "INVALID_PATH: outside the project, missing or no text", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn file(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<FileQuery>,
) -> Result<Json<FileLinesResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let lines =
        tokio::task::spawn_blocking(move || lines(&root, &query)).await.map_err(ApiError::internal)?;
    lines.map(Json).map_err(|reason| ApiError::bad_request(ErrorCode::InvalidPath, reason))
}

fn lines(root: &CanonicalRoot, query: &FileQuery) -> Result<FileLinesResponse, String> {
    let place =
        boundary::inside(root, std::path::Path::new(&query.path)).map_err(|error| error.to_string())?;
    let (bytes, _) = place.read(READ_FILE).map_err(|error| format!("{}: {error}", query.path))?;
    if bytes.contains(&0) {
        return Err(format!("{} is a binary file", query.path));
    }
    let text = String::from_utf8_lossy(&bytes);
    let first = query.line.saturating_sub(AROUND).max(1);
    let shown = text.lines().skip(first - 1).take(2 * AROUND + 1);
    Ok(FileLinesResponse {
        path: place.relative().to_string_lossy().into_owned(),
        first_line: first,
        lines: shown.map(|line| line.chars().take(MAX_LINE_CHARS).collect()).collect(),
        total_lines: text.lines().count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_around_a_place_are_read_and_nothing_outside_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        std::fs::write(project.join("a.ts"), text).unwrap();
        std::fs::write(project.join("binary"), b"a\0b").unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", project.join("link")).unwrap();
        let root = CanonicalRoot::open(&project).unwrap();
        let ask = |path: &str, line: usize| lines(&root, &FileQuery { path: path.to_owned(), line });
        let around = ask("a.ts", 50).unwrap();
        assert_eq!((around.first_line, around.lines.len(), around.total_lines), (30, 41, 100));
        assert_eq!((around.lines[20].as_str(), around.path.as_str()), ("line 50", "a.ts"));
        assert_eq!(ask("a.ts", 0).unwrap().first_line, 1);
        assert_eq!(ask("a.ts", 900).unwrap().lines, Vec::<String>::new());
        for path in ["../secret", "link", "/etc/passwd", "binary", "none.ts", ""] {
            assert!(ask(path, 1).is_err(), "{path}");
        }
    }
}
