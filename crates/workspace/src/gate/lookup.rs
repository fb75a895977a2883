//! What a program's name means: the user's config, the project's own binaries, PATH.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::GateError;
use crate::{CanonicalRoot, boundary};

/// Where a trusted project keeps its own programs.
const PROJECT_BINARIES: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Which program is wanted.
#[derive(Clone, Debug, Default)]
pub struct ProgramQuery {
    /// What the user's config says: an absolute path, or a bare name that is looked for instead of `names`.
    pub configured: Option<PathBuf>,
    /// The names it goes by, the preferred one first.
    pub names: Vec<String>,
    /// Whether a trusted project's own binaries come before PATH. Agents do not come from the project.
    pub project_binaries: bool,
    /// Where in the workspace to start looking for the project's binaries, upwards; the root if not given.
    pub near: Option<PathBuf>,
}

impl ProgramQuery {
    /// A program that is looked for on PATH only.
    pub fn on_path(name: &str) -> Self {
        ProgramQuery { names: vec![name.to_owned()], ..Self::default() }
    }

    /// A program that a trusted project may bring along.
    pub fn of_project(name: &str) -> Self {
        ProgramQuery { names: vec![name.to_owned()], project_binaries: true, ..Self::default() }
    }

    /// Takes what the user's config says, if it says something.
    pub fn configured(mut self, program: Option<PathBuf>) -> Self {
        self.configured = program;
        self
    }
}

/// Where a program was found, which the status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramSource {
    /// The user's own config file names it.
    Config,
    /// The project's own tools have it.
    Project,
    /// It is on the PATH.
    Path,
}

/// A program that exists and can be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// Absolute. Links are kept: many programs look at the name they were called by.
    pub path: PathBuf,
    /// Where it was found.
    pub source: ProgramSource,
}

pub(super) fn resolve(
    root: &CanonicalRoot,
    query: &ProgramQuery,
    trusted: bool,
    path: &[PathBuf],
) -> Result<ResolvedProgram, GateError> {
    let configured_name = match &query.configured {
        Some(program) if program.is_absolute() => {
            return configured(root, program, trusted);
        }
        Some(program) if program.components().count() != 1 || program.file_name().is_none() => {
            return Err(GateError::RelativeProgram { program: program.clone() });
        }
        Some(program) => Some(program.to_string_lossy().into_owned()),
        None => None,
    };
    let source_of_name = if configured_name.is_some() { ProgramSource::Config } else { ProgramSource::Path };
    let names = match configured_name {
        Some(name) => vec![name],
        None => query.names.clone(),
    };
    if trusted
        && query.project_binaries
        && query.configured.is_none()
        && let Some(path) = in_project(root, query.near.as_deref(), &names)
    {
        return Ok(ResolvedProgram { path, source: ProgramSource::Project });
    }
    let found = names
        .iter()
        .filter(|name| !name.contains('/'))
        .flat_map(|name| path.iter().map(move |folder| folder.join(name)))
        .find(|candidate| usable(root, candidate, trusted));
    match found {
        Some(path) => Ok(ResolvedProgram { path, source: source_of_name }),
        None => {
            let folders: Vec<String> = path.iter().map(|folder| folder.display().to_string()).collect();
            let looked_in = format!("looked in {}", folders.join(", "));
            Err(GateError::NotFound { name: names.join(" or "), looked_in })
        }
    }
}

fn configured(root: &CanonicalRoot, program: &Path, trusted: bool) -> Result<ResolvedProgram, GateError> {
    let real = executable(program)?;
    if !trusted && (boundary::is_inside(root, &real) || boundary::is_inside(root, program)) {
        let what = format!("the configured program {} lies inside it", program.display());
        return Err(GateError::Untrusted { root: root.clone(), what });
    }
    Ok(ResolvedProgram { path: program.to_path_buf(), source: ProgramSource::Config })
}

/// Looks for a project's binaries from `near` upwards, as far as the root.
fn in_project(root: &CanonicalRoot, near: Option<&Path>, names: &[String]) -> Option<PathBuf> {
    let near = boundary::inside(root, near.unwrap_or(root.as_path())).ok()?.name();
    let folders: Vec<&Path> =
        near.ancestors().take_while(|folder| boundary::is_inside(root, folder)).collect();
    folders
        .iter()
        .flat_map(|folder| PROJECT_BINARIES.iter().map(move |binaries| folder.join(binaries)))
        .flat_map(|binaries| names.iter().map(move |name| binaries.join(name)))
        .find(|candidate| executable(candidate).is_ok())
}

/// Whether a file on PATH may be run: a link on PATH can lead into an untrusted root.
fn usable(root: &CanonicalRoot, candidate: &Path, trusted: bool) -> bool {
    executable(candidate).is_ok_and(|real| trusted || !boundary::is_inside(root, &real))
}

/// Returns the real path of a program, which must be an executable regular file.
pub(super) fn executable(program: &Path) -> Result<PathBuf, GateError> {
    if !program.is_absolute() {
        return Err(GateError::RelativeProgram { program: program.to_path_buf() });
    }
    let not_executable = || GateError::NotExecutable { program: program.to_path_buf() };
    let real = program.canonicalize().map_err(|_| not_executable())?;
    let metadata = real.metadata().map_err(|_| not_executable())?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(real)
    } else {
        Err(not_executable())
    }
}

/// Returns the program that a user's words name, an absolute path or a name on `path`, to show whether it is there. What is
/// started goes through [`resolve`](super::SpawnGate::resolve_program).
pub fn find_program(command: &Path, path: Option<&std::ffi::OsString>) -> Option<PathBuf> {
    let is_program = |candidate: &Path| executable(candidate).is_ok();
    if command.components().count() > 1 {
        return is_program(command).then(|| command.to_owned());
    }
    safe_path(path, &[]).into_iter().map(|folder| folder.join(command)).find(|program| is_program(program))
}

/// Takes the entries of a PATH that are empty, relative, or inside one of `roots` out of it.
pub(super) fn safe_path(path: Option<&std::ffi::OsString>, roots: &[CanonicalRoot]) -> Vec<PathBuf> {
    let inside = |entry: &Path| {
        let real = entry.canonicalize();
        roots.iter().any(|root| {
            boundary::is_inside(root, entry)
                || real.as_ref().is_ok_and(|real| boundary::is_inside(root, real))
        })
    };
    let path: &OsStr = path.map_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"), |path| path.as_os_str());
    std::env::split_paths(path).filter(|entry| entry.is_absolute() && !inside(entry)).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_program_is_an_executable_file_on_an_absolute_entry_of_path() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("claude", 0o755), ("codex-acp", 0o644)] {
            std::fs::write(folder.path().join(name), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(mode))
                .unwrap();
        }
        let on = |name: &str, path: &OsStr| find_program(Path::new(name), Some(&path.to_owned()));
        assert_eq!(on("claude", folder.path().as_os_str()), Some(folder.path().join("claude")));
        assert_eq!(on("codex-acp", folder.path().as_os_str()), None);
        for path in ["", ".", ":", "./bin", "::."] {
            assert_eq!(on("Cargo.toml", OsStr::new(path)), None, "{path}");
            assert_eq!(on("sh", OsStr::new(path)), None, "{path}");
        }
        assert_eq!(on("./sh", OsStr::new("/bin")), None);
        assert_eq!(
            find_program(Path::new("/bin/sh"), Some(&OsString::new())),
            Some(PathBuf::from("/bin/sh"))
        );
    }
}
