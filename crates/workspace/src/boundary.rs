//! The boundary of a workspace: the one function that every path from outside goes through before it is opened.
//!
//! A path is normalised, its symbolic links are resolved as far as it exists, and what comes out is compared
//! with the root segment by segment, so that `/workspace2` is not inside `/workspace`. A link that is swapped
//! between the check and the opening is caught by [`open_file`], which looks at what was really opened.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

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
    "vendor",
];

/// Why a path is not let through.
#[derive(Debug, thiserror::Error)]
pub enum BoundaryError {
    #[error("{} is outside of the workspace {root}", path.display())]
    Outside { path: PathBuf, root: CanonicalRoot },
    #[error("{} belongs to a dependency, not to the workspace {root}", path.display())]
    Dependency { path: PathBuf, root: CanonicalRoot },
    /// The path cannot be followed to its end: a loop, a link to nowhere, a folder we may not read.
    #[error("{} cannot be resolved: {error}", path.display())]
    Unresolvable { path: PathBuf, error: io::Error },
    #[error("{} is not a regular file", path.display())]
    NotAFile { path: PathBuf },
}

/// Returns the real, absolute path of `path`, which is inside the root.
///
/// A relative path is taken from the root. The path need not exist: then its existing part decides.
pub fn resolve(root: &CanonicalRoot, path: &Path) -> Result<PathBuf, BoundaryError> {
    let normal = normalise(root.as_path(), path);
    let unresolvable = |error| BoundaryError::Unresolvable { path: path.to_path_buf(), error };
    let real = resolve_links(&normal).map_err(unresolvable)?;
    if is_inside(root, &real) {
        Ok(real)
    } else {
        Err(BoundaryError::Outside { path: path.to_path_buf(), root: root.clone() })
    }
}

/// Like [`resolve`], and refuses dependencies as if they were outside.
pub fn resolve_source(root: &CanonicalRoot, path: &Path) -> Result<PathBuf, BoundaryError> {
    let real = resolve(root, path)?;
    // A link may lead into a dependency, and a dependency's folder may be a link: both ways count.
    if is_dependency(root, &real) || is_dependency(root, &normalise(root.as_path(), path)) {
        return Err(BoundaryError::Dependency { path: path.to_path_buf(), root: root.clone() });
    }
    Ok(real)
}

/// Opens a regular file inside the root for reading. Returns it with its real path.
///
/// What was opened is looked at again by its descriptor, so that swapping a link in between gains nothing.
pub fn open_file(root: &CanonicalRoot, path: &Path) -> Result<(File, PathBuf), BoundaryError> {
    let real = resolve(root, path)?;
    open_resolved(root, &real)
}

/// Opens what [`resolve`] has returned, some time ago.
pub fn open_resolved(root: &CanonicalRoot, real: &Path) -> Result<(File, PathBuf), BoundaryError> {
    let unresolvable = |error: io::Error| BoundaryError::Unresolvable { path: real.to_path_buf(), error };
    // NOFOLLOW: the path was free of links a moment ago. NONBLOCK: a pipe with no writer must not hold us.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(real, flags, Mode::empty()).map_err(|error| unresolvable(error.into()))?;
    let opened = path_of(&file).map_err(unresolvable)?;
    if !is_inside(root, &opened) {
        return Err(BoundaryError::Outside { path: real.to_path_buf(), root: root.clone() });
    }
    let file = File::from(file);
    if !file.metadata().map_err(unresolvable)?.is_file() {
        return Err(BoundaryError::NotAFile { path: real.to_path_buf() });
    }
    Ok((file, opened))
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
    below.components().any(|component| match component {
        Component::Normal(name) => DEPENDENCY_FOLDERS.iter().any(|folder| name == *folder),
        _ => false,
    })
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

/// The path that a descriptor really refers to.
#[cfg(target_os = "linux")]
fn path_of(file: &impl AsFd) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// The path that a descriptor really refers to.
#[cfg(target_os = "macos")]
fn path_of(file: &impl AsFd) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let path = rustix::fs::getpath(file)?;
    Ok(std::ffi::OsString::from_vec(path.into_bytes()).into())
}
