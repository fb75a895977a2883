//! `/api/folders?path=`: folders of this machine for whoever adds a project by its path. Names of folders, nothing in them.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::Query;
use chartroom_protocol::project::FolderListResponse;
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::routes::{Kind, Route};

/// What a menu shows.
const MOST_ANSWERS: usize = 50;
/// A folder with more entries than this is not read to its end.
const MOST_ENTRIES: usize = 20_000;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(folders))]
}

#[derive(Debug, Deserialize)]
pub(super) struct FoldersQuery {
    #[serde(default)]
    path: String,
}

/// Lists the folders whose path begins as it was typed; `~` is the home folder.
#[utoipa::path(get, path = "/api/folders", tag = "projects",
    params(("path" = Option<String>, Query)), responses((status = 200, body = FolderListResponse)))]
pub(super) async fn folders(Query(query): Query<FoldersQuery>) -> Result<Json<FolderListResponse>, ApiError> {
    let home = dirs::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let found = tokio::task::spawn_blocking(move || find(&home, &query.path))
        .await
        .map_err(|error| ApiError::internal(format!("the folder was not read: {error}")))?;
    Ok(Json(found))
}

fn find(home: &Path, typed: &str) -> FolderListResponse {
    let typed = match typed.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", home.display()),
        _ if typed.is_empty() => format!("{}/", home.display()),
        _ => typed.to_owned(),
    };
    let (folder, begins) = typed.rsplit_once('/').unwrap_or_default();
    let folder = if folder.is_empty() { "/" } else { folder };
    let mut folders: Vec<String> =
        if typed.starts_with('/') { below(Path::new(folder), begins) } else { Vec::new() };
    folders.sort();
    let truncated = folders.len() > MOST_ANSWERS;
    folders.truncate(MOST_ANSWERS);
    FolderListResponse { home: home.display().to_string(), folders, truncated }
}

/// A hidden folder is listed when its dot was typed. What cannot be read has no folders.
fn below(folder: &Path, begins: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let wanted = name.to_lowercase().starts_with(&begins.to_lowercase())
            && (begins.starts_with('.') || !name.starts_with('.'));
        (wanted && entry.path().is_dir()).then(|| folder.join(name).display().to_string())
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_begin_as_typed_are_listed_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().display().to_string();
        for folder in ["code/api", "code/app", "code/.hidden", "docs"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        std::fs::write(home.path().join("code/a file"), "").unwrap();
        let list = |typed: &str| find(home.path(), typed).folders;
        let paths = |names: &[&str]| names.iter().map(|name| format!("{root}/{name}")).collect::<Vec<_>>();
        assert_eq!(list("~/code/"), paths(&["code/api", "code/app"]));
        assert_eq!(list("~/code/AP"), paths(&["code/api", "code/app"]));
        assert_eq!(list(&format!("{root}/code/app")), paths(&["code/app"]));
        assert_eq!(list("~/code/."), paths(&["code/.hidden"]));
        assert_eq!(list(""), paths(&["code", "docs"]));
        for nothing in ["code/", "~nobody/", "~/none/", "~/code/a file/"] {
            assert_eq!(list(nothing), [""; 0], "{nothing}");
        }
    }
}
