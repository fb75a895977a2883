//! The boundary of a workspace: the one function that every path from outside goes through before it is opened.
//!
//! A path is normalised, its symbolic links are resolved as far as it exists, and what comes out is compared
//! with the root segment by segment, so that `/workspace2` is not inside `/workspace`. The answer is an [`Inside`],
//! which opens by descriptor below the root and without following any link, so that one that is swapped in between
//! the check and the opening gains nothing.

use std::io;
use std::path::{Component, Path, PathBuf};

mod beneath;
mod folder;
mod inside;
mod write;

pub use folder::Folder;
pub use inside::{Inside, ReadError};
pub use write::{Staged, is_temporary, sweep_beside};

use crate::CanonicalRoot;

/// Folders that hold other people's code, which is read as part of a dependency and never checked or edited.
const DEPENDENCY_FOLDERS: &[&str] = &[
    "node_modules",
    "bower_components",
    "jspm_packages",
    ".venv",
    "venv",
    ".tox",
    "site-packages",
    "dist-packages",
    "__pypackages__",
];

/// A folder of this name is a dependency's only with the file that a package manager leaves in it: Go, Composer. People
/// have folders of that name for things of their own.
const VENDOR: (&str, &[&str]) = ("vendor", &["modules.txt", "autoload.php"]);

/// Why a path is not let through.
#[derive(Debug, thiserror::Error)]
pub enum BoundaryError {
    /// The real path is not below the root.
    #[error("{} is outside of the workspace {root}", path.display())]
    Outside {
        /// As it was given.
        path: PathBuf,
        /// The workspace.
        root: CanonicalRoot,
    },
    /// The file belongs to a dependency, which is nobody's to edit or to check.
    #[error("{} belongs to a dependency, not to the workspace {root}", path.display())]
    Dependency {
        /// As it was given.
        path: PathBuf,
        /// The workspace.
        root: CanonicalRoot,
    },
    /// The path cannot be followed to its end: a loop, a link to nowhere, a folder we may not read.
    #[error("{} cannot be resolved: {error}", path.display())]
    Unresolvable {
        /// As it was given.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Returns the place that a path means, which is inside the root.
///
/// A relative path is taken from the root. It need not exist: then its existing part decides.
pub fn inside(root: &CanonicalRoot, path: &Path) -> Result<Inside, BoundaryError> {
    let real = resolve(root, path)?;
    let below = root.relative(&real).unwrap_or(Path::new("")).to_path_buf();
    Ok(Inside::new(root, below))
}

/// Like [`inside()`], and refuses dependencies as if they were outside.
pub fn inside_source(root: &CanonicalRoot, path: &Path) -> Result<Inside, BoundaryError> {
    let place = inside(root, path)?;
    // A link may lead into a dependency, and a dependency's folder may be a link: both ways count.
    if is_dependency(root, place.relative()) || is_dependency(root, &normalise(root.as_path(), path)) {
        return Err(BoundaryError::Dependency { path: path.to_path_buf(), root: root.clone() });
    }
    Ok(place)
}

/// Whether a resolved path is the root or below it. Compares whole segments.
pub fn is_inside(root: &CanonicalRoot, real: &Path) -> bool {
    real.starts_with(root.as_path())
}

/// Whether a path inside the root belongs to a dependency.
///
/// Only the part below the root counts: a root that was itself opened inside `node_modules` is a workspace.
pub fn is_dependency(root: &CanonicalRoot, path: &Path) -> bool {
    let below = path.strip_prefix(root.as_path()).unwrap_or(path);
    let mut folder = root.as_path().to_path_buf();
    below.components().any(|component| {
        folder.push(component);
        let Component::Normal(name) = component else { return false };
        let (vendor, left_by_managers) = VENDOR;
        DEPENDENCY_FOLDERS.iter().any(|dependencies| name == *dependencies)
            || (name == vendor && left_by_managers.iter().any(|file| folder.join(file).is_file()))
    })
}

/// Returns the real, absolute path of `path`, which is inside the root.
fn resolve(root: &CanonicalRoot, path: &Path) -> Result<PathBuf, BoundaryError> {
    let normal = normalise(root.as_path(), path);
    let unresolvable = |error| BoundaryError::Unresolvable { path: path.to_path_buf(), error };
    let real = resolve_links(&normal).map_err(unresolvable)?;
    if is_inside(root, &real) {
        Ok(real)
    } else {
        Err(BoundaryError::Outside { path: path.to_path_buf(), root: root.clone() })
    }
}

/// Makes a path absolute and takes `.` and `..` out of it, by its text alone.
pub fn normalise(base: &Path, path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            // At `/` there is nothing above.
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(component),
        }
    }
    normal
}

/// Resolves the links of the longest existing part of a normalised path, and appends the rest.
fn resolve_links(normal: &Path) -> io::Result<PathBuf> {
    let mut existing = normal;
    let mut rest = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(mut real) => {
                real.extend(rest.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nowhere is there, although it cannot be followed. Writing through it would create
                // its target, wherever that is.
                if existing.symlink_metadata().is_ok() {
                    return Err(error);
                }
                match (existing.parent(), existing.file_name()) {
                    (Some(parent), Some(name)) => {
                        rest.push(name);
                        existing = parent;
                    }
                    _ => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
}
