//! Which project inside a workspace a file belongs to: the nearest folder above it with a marker file, or the folder that
//! the marker's ecosystem means by it.
//!
//! A Cargo.toml may belong to a `[workspace]`, a package.json to the workspaces of another: what is one project to the
//! ecosystem's own tools is one project here, so that its parts see each other. Manifests are read as everything of a
//! workspace is: regular files below the root's own folder, within a limit, and never executed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::CanonicalRoot;
use crate::boundary::{self, Folder};

mod cargo;
mod go;
mod json;
mod jvm;
mod manifest;
mod members;
mod native;
mod node;
mod python;
mod tsconfig;

use manifest::Place;

/// Of a folder with more entries than this the rest is not looked at for an ending.
const MAX_ENTRIES: usize = 5_000;

/// A project inside a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder that the ecosystem's own tools would take: the workspace of which the nearest package is a member.
    pub root: PathBuf,
    /// The nearest folder with a marker, at the root or below it: the package that the file belongs to.
    pub nearest: PathBuf,
}

/// Finds the root that the marker in this folder belongs to; nothing when the folder stands for itself.
type FindRoot = fn(&Place<'_>) -> Option<PathBuf>;

/// Markers of ecosystems that know workspaces. What follows from several of them is the outermost.
const ECOSYSTEMS: &[(&[&str], FindRoot)] = &[
    (&["Cargo.toml"], cargo::root),
    (&["go.mod", "go.work"], go::root),
    (&["package.json"], node::root),
    (&["tsconfig.json"], tsconfig::root),
    (&["pom.xml"], jvm::maven_root),
    (&["settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"], jvm::gradle_root),
    (&["pyproject.toml"], python::root),
    (&["compile_commands.json", "CMakeLists.txt"], native::root),
];

/// Returns the project of a file: that of the nearest folder upwards which holds one of `markers`.
///
/// Where one of `markers` is a manifest of an ecosystem that knows workspaces, the workspace's root is the project's.
pub fn project(root: &CanonicalRoot, file: &Path, markers: &[&str]) -> Option<Project> {
    let nearest = nearest_marker(root, file, markers)?;
    let place = Place { root, folder: &nearest };
    let meant = ECOSYSTEMS
        .iter()
        .filter(|(names, _)| names.iter().any(|name| markers.contains(name)))
        .filter_map(|(_, find)| find(&place))
        .filter(|meant| boundary::is_inside(root, meant) && nearest.starts_with(meant))
        .min_by_key(|meant| meant.components().count());
    Some(Project { root: meant.unwrap_or_else(|| nearest.clone()), nearest })
}

/// Returns the names by which other packages speak of the package in this folder: that of its manifest, and its folder's.
pub fn package_names(root: &CanonicalRoot, folder: &Path) -> BTreeSet<String> {
    let place = Place { root, folder };
    let cargo = place.toml(folder, "Cargo.toml");
    let cargo = cargo.as_ref().and_then(|manifest| manifest.get("package")?.get("name")?.as_str());
    let npm = place.json(folder, "package.json");
    let npm = npm.as_ref().and_then(|manifest| manifest.get("name")?.as_str());
    let names = [
        cargo.map(|name| name.replace('-', "_")),
        npm.map(str::to_owned),
        root.relative(folder).and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()),
    ];
    names.into_iter().flatten().filter(|name| !name.is_empty()).collect()
}

/// Returns the nearest folder from the file upwards that holds one of `markers`, up to the root itself.
///
/// A marker is a name (`Cargo.toml`) or an ending (`*.csproj`). A file outside of the root has none.
pub fn nearest_marker(root: &CanonicalRoot, file: &Path, markers: &[&str]) -> Option<PathBuf> {
    let file = boundary::inside(root, file).ok()?.name();
    let top = Folder::of(root).ok()?;
    file.ancestors()
        .skip(1)
        .take_while(|folder| boundary::is_inside(root, folder))
        .find(|folder| holds_one(root, &top, folder, markers))
        .map(Path::to_path_buf)
}

/// Whether a folder of the workspace holds a marker.
pub fn has_marker(root: &CanonicalRoot, folder: &Path, marker: &str) -> bool {
    Folder::of(root).is_ok_and(|top| holds_one(root, &top, folder, &[marker]))
}

fn holds_one(root: &CanonicalRoot, top: &Folder, folder: &Path, markers: &[&str]) -> bool {
    let Some(below) = root.relative(folder) else { return false };
    let Ok(opened) = top.below(below) else { return false };
    let is_there = |name: &OsStr| match opened.kind(name) {
        Ok(FileType::RegularFile | FileType::Directory) => true,
        // A linked config counts if it is the workspace's own.
        Ok(FileType::Symlink) => {
            boundary::inside(root, &folder.join(name)).is_ok_and(|place| place.is_file() || place.is_dir())
        }
        _ => false,
    };
    markers.iter().any(|marker| match marker.strip_prefix('*') {
        None => is_name(marker) && is_there(OsStr::new(marker)),
        Some(ending) => top
            .names(below, MAX_ENTRIES)
            .into_iter()
            .flatten()
            .any(|name| name.to_str().is_some_and(|text| text.ends_with(ending)) && is_there(&name)),
    })
}

/// Whether a marker is one name: a path could lead anywhere.
fn is_name(marker: &str) -> bool {
    let mut components = Path::new(marker).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests;
