//! `/api/project/{id}/file/…`: a file as the page shows it, where its names lead, and who wrote its lines.
//!
//! Nothing is written, and every path goes through the boundary of the project's folder, or of a session's, which may be
//! a worktree.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::file::{
    BlameResponse, BlameRun, FileKind, FilePlace, FilePlacesResponse, WholeFileResponse,
};
use chartroom_protocol::ids::{ProjectId, SessionId};
use chartroom_workspace::boundary::{self, Inside};
use chartroom_workspace::git::{self, GitError};
use chartroom_workspace::{CanonicalRoot, GateError};
use serde::Deserialize;
use serde_json::json;
use std::io::Read as _;
use utoipa_axum::routes;

use super::error::ApiError;
use super::routes::{Kind, Route};
use super::terminal::folder_of;
use crate::app::App;

/// What is shown of a file; the rest is told. Longer ones are no reading matter.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// How much of the line of a place is shown.
const MOST_CHARS: usize = 200;
/// A file with so many places in it is read once; more files than this are not read at all.
const MOST_FILES: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(whole)),
        Route::new(Kind::Api, routes!(places)),
        Route::new(Kind::Api, routes!(blame)),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileQuery {
    path: String,
    session_id: Option<String>,
}

/// Returns a file of the project: its text, or what it is instead.
#[utoipa::path(get, path = "/api/project/{project_id}/file/whole", tag = "files",
    params(("project_id" = String, Path), ("path" = String, Query), ("sessionId" = Option<String>, Query)), responses(
    (status = 200, body = WholeFileResponse),
    (status = 400, description = "INVALID_PATH: outside the project or missing", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND, SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn whole(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<FileQuery>,
) -> Result<Json<WholeFileResponse>, ApiError> {
    let root = root_of(&app, project_id, query.session_id).await?;
    let reading = tokio::task::spawn_blocking(move || read_whole(&root, &query.path));
    reading.await.map_err(ApiError::internal)?.map(Json)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlacesQuery {
    path: String,
    session_id: Option<String>,
    line: u32,
    column: u32,
    #[serde(default)]
    of: Of,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Definition,
    References,
}

/// Says where the name at a place is defined, or used, as the file's language server knows it.
#[utoipa::path(get, path = "/api/project/{project_id}/file/places", tag = "files",
    params(("project_id" = String, Path), ("path" = String, Query), ("sessionId" = Option<String>, Query),
        ("line" = u32, Query, description = "from 1"), ("column" = u32, Query, description = "in characters, from 1"),
        ("of" = Option<String>, Query, description = "definition or references")), responses(
    (status = 200, body = FilePlacesResponse),
    (status = 400, description = "INVALID_PATH", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND, SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn places(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<PlacesQuery>,
) -> Result<Json<FilePlacesResponse>, ApiError> {
    let root = root_of(&app, project_id, query.session_id).await?;
    let file = place(&root, &query.path)?;
    let tool = match query.of {
        Of::Definition => "lsp_goto_definition",
        Of::References => "lsp_find_references",
    };
    let asked = json!({ "filePath": file.relative(), "line": query.line, "character": query.column });
    let answer = app.language_service(&root).call_tool(tool, asked).await;
    if answer.is_error {
        return Ok(Json(FilePlacesResponse { places: Vec::new(), note: Some(answer.text) }));
    }
    let reading = tokio::task::spawn_blocking(move || told_places(&root, &answer.text));
    Ok(Json(reading.await.map_err(ApiError::internal)?))
}

/// Says which commit each line of a file came with. Only in a folder that is trusted: git runs its filters.
#[utoipa::path(get, path = "/api/project/{project_id}/file/blame", tag = "files",
    params(("project_id" = String, Path), ("path" = String, Query), ("sessionId" = Option<String>, Query)), responses(
    (status = 200, body = BlameResponse),
    (status = 400, description = "INVALID_PATH", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND: no repository, or git does not know the file", body = ErrorResponse),
))]
pub(super) async fn blame(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<FileQuery>,
) -> Result<Json<BlameResponse>, ApiError> {
    let root = root_of(&app, project_id, query.session_id).await?;
    let file = place(&root, &query.path)?;
    let runs = git::blame(app.gate(), &root, &file).await.map_err(|error| match error {
        GitError::Gate(GateError::Untrusted { .. }) => {
            ApiError::new(StatusCode::FORBIDDEN, ErrorCode::WorkspaceUntrusted, error.to_string())
        }
        other => ApiError::not_found(ErrorCode::NotFound, other.to_string()),
    })?;
    let runs = runs.into_iter().map(|run| BlameRun {
        line: run.line,
        lines: run.n_lines,
        commit: run.commit,
        author: run.author,
        at: run.at,
        summary: run.summary,
    });
    Ok(Json(BlameResponse { runs: runs.collect() }))
}

async fn root_of(
    app: &App,
    project_id: String,
    session_id: Option<String>,
) -> Result<CanonicalRoot, ApiError> {
    folder_of(app, &ProjectId::new(project_id), session_id.map(SessionId::new).as_ref()).await
}

fn place(root: &CanonicalRoot, path: &str) -> Result<Inside, ApiError> {
    boundary::inside(root, std::path::Path::new(path))
        .map_err(|error| ApiError::bad_request(ErrorCode::InvalidPath, error.to_string()))
}

fn read_whole(root: &CanonicalRoot, path: &str) -> Result<WholeFileResponse, ApiError> {
    let refused = |error: &dyn std::fmt::Display| {
        ApiError::bad_request(ErrorCode::InvalidPath, format!("{path}: {error}"))
    };
    let place = place(root, path)?;
    let file = place.open().map_err(|error| refused(&error))?;
    let n_bytes = file.metadata().map_err(|error| refused(&error))?.len();
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    let kind = kind_of(&bytes);
    let cut = n_bytes > bytes.len() as u64;
    if cut {
        // Whole lines, so that no character is cut either.
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        bytes.truncate(end);
    }
    let text = (kind == FileKind::Text).then(|| String::from_utf8_lossy(&bytes).into_owned());
    let path = place.relative().to_string_lossy().into_owned();
    Ok(WholeFileResponse { path, kind, bytes: n_bytes, cut: cut && text.is_some(), text })
}

fn kind_of(bytes: &[u8]) -> FileKind {
    let begins: [&[u8]; 5] = [b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"\0\0\x01\0"];
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let has_zero = bytes.contains(&0);
    match () {
        () if is_webp || (has_zero && begins.iter().any(|begin| bytes.starts_with(begin))) => FileKind::Image,
        () if has_zero => FileKind::Binary,
        () => FileKind::Text,
    }
}

/// Reads the tool's lines, `path:line:column`, and adds what stands there.
fn told_places(root: &CanonicalRoot, told: &str) -> FilePlacesResponse {
    let mut places = Vec::new();
    let mut notes = Vec::new();
    for line in told.lines() {
        let mut parts = line.rsplitn(3, ':');
        let (column, at, path) = (parts.next(), parts.next(), parts.next());
        match (path, at.map(str::parse), column.map(str::parse)) {
            (Some(path), Some(Ok(line)), Some(Ok(column))) => {
                places.push(FilePlace { path: path.to_owned(), line, column, text: None });
            }
            _ => notes.push(line),
        }
    }
    let (mut read, mut n_files) = (None::<(String, Option<String>)>, 0);
    for place in &mut places {
        if read.as_ref().is_none_or(|(path, _)| *path != place.path) {
            n_files += 1;
            let text = (n_files <= MOST_FILES).then(|| text_of(root, &place.path)).flatten();
            read = Some((place.path.clone(), text));
        }
        let text = read.as_ref().and_then(|(_, text)| text.as_deref());
        let line = text.and_then(|text| text.lines().nth(place.line.saturating_sub(1) as usize));
        place.text = line.map(|line| line.trim().chars().take(MOST_CHARS).collect());
    }
    let note = (!notes.is_empty()).then(|| notes.join("\n"));
    FilePlacesResponse { places, note }
}

fn text_of(root: &CanonicalRoot, path: &str) -> Option<String> {
    let (bytes, _) = boundary::inside(root, std::path::Path::new(path)).ok()?.read(MOST_BYTES).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, CanonicalRoot) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let root = CanonicalRoot::open(folder.path().join("project")).unwrap();
        (folder, root)
    }

    #[test]
    fn a_file_is_shown_by_what_it_is_and_nothing_outside_of_the_project() {
        let (folder, root) = project();
        let write = |name: &str, bytes: &[u8]| std::fs::write(root.as_path().join(name), bytes).unwrap();
        write("a.rs", b"fn main() {}\n");
        write("odd.txt", b"caf\xe9\n");
        write("p.png", b"\x89PNG\r\n\x1a\n\0\0");
        write("bm.txt", b"BM is no picture without a zero\n");
        write("x.bin", b"a\0b");
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", root.as_path().join("link")).unwrap();
        let shown = |path: &str| read_whole(&root, path).map(|file| (file.kind, file.text, file.bytes));
        assert_eq!(shown("a.rs").unwrap(), (FileKind::Text, Some("fn main() {}\n".to_owned()), 13));
        assert_eq!(shown("odd.txt").unwrap().1.as_deref(), Some("caf\u{fffd}\n"));
        assert_eq!(shown("p.png").unwrap(), (FileKind::Image, None, 10));
        assert_eq!(shown("bm.txt").unwrap().0, FileKind::Text);
        assert_eq!(shown("x.bin").unwrap(), (FileKind::Binary, None, 3));
        for path in ["../secret", "link", "/etc/passwd", "none", "", "."] {
            let refused = shown(path).unwrap_err();
            assert_eq!(refused.code, ErrorCode::InvalidPath, "{path}");
        }
    }

    #[test]
    fn a_file_over_the_limit_is_cut_after_a_whole_line() {
        let (_folder, root) = project();
        let line = "0123456789\n";
        let n_lines = usize::try_from(MOST_BYTES).unwrap() / line.len() + 10;
        std::fs::write(root.as_path().join("long.log"), line.repeat(n_lines)).unwrap();
        let shown = read_whole(&root, "long.log").unwrap();
        let text = shown.text.unwrap();
        assert!(shown.cut && text.ends_with('\n') && text.len() as u64 <= MOST_BYTES);
        assert_eq!(shown.bytes, (n_lines * line.len()) as u64);
    }

    #[test]
    fn places_come_with_their_lines_and_what_is_no_place_is_a_note() {
        let (_folder, root) = project();
        std::fs::write(root.as_path().join("a:b.rs"), "one\n  two()\n").unwrap();
        let told = told_places(&root, "a:b.rs:2:3\n/etc/passwd:1:1\n... and 4 more");
        let place = |path: &str, line, column, text: Option<&str>| FilePlace {
            path: path.to_owned(),
            line,
            column,
            text: text.map(str::to_owned),
        };
        assert_eq!(
            told.places,
            [place("a:b.rs", 2, 3, Some("two()")), place("/etc/passwd", 1, 1, None)],
            "a file outside is named and not read"
        );
        assert_eq!(told.note.as_deref(), Some("... and 4 more"));
        assert_eq!(told_places(&root, "No definition found").places, []);
    }
}
