//! Cargo: the `[workspace]` that a package belongs to, found as cargo finds it.

use std::path::{Path, PathBuf};

use super::manifest::{Place, lead, words};
use super::members;

const MANIFEST: &str = "Cargo.toml";

/// The folder of the `[workspace]`; nothing for a package that stands alone.
pub(super) fn root(place: &Place<'_>) -> Option<PathBuf> {
    let own = place.toml(place.folder, MANIFEST)?;
    if own.contains_key("workspace") {
        return Some(place.folder.to_owned());
    }
    // A package may say itself where its workspace is.
    let named = own.get("package").and_then(|package| package.get("workspace")).and_then(toml::Value::as_str);
    if let Some(named) = named {
        return lead(place.folder, named);
    }
    place.above().find(|above| takes(place, above)).map(Path::to_path_buf)
}

/// Whether the manifest there has a workspace that does not leave the package out. Cargo takes packages below it that no
/// list names for members too: those that another member depends on are.
fn takes(place: &Place<'_>, above: &Path) -> bool {
    let Some(manifest) = place.toml(above, MANIFEST) else { return false };
    let Some(workspace) = manifest.get("workspace") else { return false };
    let named = || members::include(&words(workspace.get("members")), above, place.folder);
    let is_below = |path: &String| place.folder.starts_with(above.join(path));
    let is_excluded = words(workspace.get("exclude")).iter().any(is_below);
    !is_excluded || named()
}
