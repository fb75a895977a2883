//! uv, rye and poetry: the project of which a project is a member, or that depends on it by its path.

use std::path::{Path, PathBuf};

use super::manifest::{Place, lead, words};
use super::members;

const MANIFEST: &str = "pyproject.toml";
/// pyright reads this one at its root alone, so that a project which has it stands for itself.
const OWN_CONFIG: &str = "pyrightconfig.json";

/// The folder of the workspace; nothing for a project that stands alone.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    if place.has(place.folder, OWN_CONFIG) {
        return None;
    }
    let own = place.upwards().find(|folder| place.has(folder, MANIFEST))?;
    let own = Place { root: place.root, folder: own };
    own.upwards().find(|above| takes(&own, above)).map(Path::to_path_buf)
}

fn takes(own: &Place<'_>, above: &Path) -> bool {
    let Some(manifest) = own.toml(above, MANIFEST) else { return false };
    let Some(tool) = manifest.get("tool") else { return false };
    let workspaces = ["uv", "rye"].into_iter().filter_map(|name| tool.get(name)?.get("workspace"));
    for workspace in workspaces {
        let named = |list: &str| members::include(&words(workspace.get(list)), above, own.folder);
        if above == own.folder || (named("members") && !named("exclude")) {
            return true;
        }
    }
    tool.get("poetry").is_some_and(|poetry| depends_by_path(poetry, above, own.folder))
}

/// Poetry has no workspaces: a project that installs others by their path is what people have instead.
fn depends_by_path(poetry: &toml::Value, above: &Path, project: &Path) -> bool {
    let groups =
        poetry.get("group").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    let tables =
        std::iter::once(poetry).chain(groups).filter_map(|table| table.get("dependencies")?.as_table());
    let mut paths =
        tables.flat_map(toml::Table::values).filter_map(|dependency| dependency.get("path")?.as_str());
    paths.any(|path| lead(above, path).is_some_and(|path| path == project))
}
