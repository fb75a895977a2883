//! Writing to the disk: every file of a change is made ready beside its place, then all are put there.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::EditError;

/// One file's part of a change.
#[derive(Debug)]
pub(crate) enum Write {
    Put { file: PathBuf, shown: String, bytes: Vec<u8>, mode_from: Option<PathBuf> },
    Remove { file: PathBuf, shown: String },
}

/// A file that stands ready.
enum Staged {
    Put { file: PathBuf, shown: String, temporary: NamedTempFile },
    Remove { file: PathBuf, shown: String },
}

/// How to take back what was already put in place.
struct Undo {
    file: PathBuf,
    before: Option<(Vec<u8>, Permissions)>,
}

/// Makes the whole change or none of it.
pub(crate) fn commit(writes: Vec<Write>) -> Result<(), EditError> {
    let mut made_folders = Vec::new();
    let staged = writes
        .into_iter()
        .map(|write| stage(write, &mut made_folders))
        .collect::<Result<Vec<_>, _>>()
        .inspect_err(|_| remove_folders(&made_folders))?;
    let mut undos: Vec<Undo> = Vec::new();
    for one in staged {
        let (file, shown) = match &one {
            Staged::Put { file, shown, .. } | Staged::Remove { file, shown } => (file.clone(), shown.clone()),
        };
        let before = std::fs::read(&file).ok().zip(std::fs::metadata(&file).ok().map(|m| m.permissions()));
        let done = match one {
            Staged::Put { temporary, .. } => temporary.persist(&file).map(drop).map_err(|error| error.error),
            Staged::Remove { .. } => std::fs::remove_file(&file),
        };
        match done {
            Ok(()) => undos.push(Undo { file, before }),
            Err(error) => {
                undos.into_iter().rev().for_each(undo);
                remove_folders(&made_folders);
                return Err(EditError::Io { path: shown, error });
            }
        }
    }
    Ok(())
}

/// Refuses what may not be written, before anything is touched.
pub(crate) fn check_writable(file: &Path, shown: &str) -> Result<(), EditError> {
    match std::fs::metadata(file) {
        // Renaming over a read-only file would work; whoever made it read-only meant it.
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(EditError::NotEditable { path: shown.to_owned(), reason: "is read-only".to_owned() })
        }
        _ => Ok(()),
    }
}

fn stage(write: Write, made_folders: &mut Vec<PathBuf>) -> Result<Staged, EditError> {
    match write {
        Write::Remove { file, shown } => {
            check_writable(&file, &shown)?;
            Ok(Staged::Remove { file, shown })
        }
        Write::Put { file, shown, bytes, mode_from } => {
            check_writable(&file, &shown)?;
            let failed = |error| EditError::Io { path: shown.clone(), error };
            let folder = file.parent().unwrap_or(Path::new("/"));
            make_folders(folder, made_folders).map_err(failed)?;
            let mode = mode_from.as_deref().unwrap_or(&file);
            let mode = std::fs::metadata(mode).ok().map(|metadata| metadata.permissions());
            let mut temporary = tempfile::Builder::new()
                .prefix(".chartroom-")
                // For a new file: what the user's umask leaves of it.
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder)
                .map_err(failed)?;
            temporary.write_all(&bytes).map_err(failed)?;
            temporary.as_file().sync_all().map_err(failed)?;
            if let Some(mode) = mode {
                temporary.as_file().set_permissions(mode).map_err(failed)?;
            }
            Ok(Staged::Put { file, shown, temporary })
        }
    }
}

/// Makes the missing folders, remembering them so that a failure leaves none behind.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        std::fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(())
}

fn remove_folders(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        if let Err(error) = std::fs::remove_dir(folder) {
            tracing::debug!(folder = %folder.display(), %error, "a folder stays behind");
        }
    }
}

fn undo(undo: Undo) {
    let result = match undo.before {
        None => std::fs::remove_file(&undo.file),
        Some((bytes, permissions)) => {
            std::fs::write(&undo.file, bytes).and_then(|()| std::fs::set_permissions(&undo.file, permissions))
        }
    };
    if let Err(error) = result {
        tracing::warn!(file = %undo.file.display(), %error, "a change could not be taken back");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(file: PathBuf, text: &str) -> Write {
        Write::Put { shown: file.display().to_string(), file, bytes: text.into(), mode_from: None }
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_new_one_has_the_usual() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("run.sh");
        std::fs::write(&script, "old").unwrap();
        std::fs::set_permissions(&script, Permissions::from_mode(0o754)).unwrap();
        commit(vec![put(script.clone(), "new"), put(folder.path().join("a/b/new.txt"), "x")]).unwrap();
        assert_eq!(std::fs::read_to_string(&script).unwrap(), "new");
        assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o754);
        let mode = folder.path().join("a/b/new.txt").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o600, 0o600);
        assert_eq!(mode & 0o111, 0);
    }

    #[test]
    fn one_failure_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a"), "a").unwrap();
        std::fs::write(path("locked"), "l").unwrap();
        std::fs::set_permissions(path("locked"), Permissions::from_mode(0o444)).unwrap();
        let error = commit(vec![put(path("a"), "new"), put(path("new/deep"), "n"), put(path("locked"), "x")]);
        assert!(error.unwrap_err().to_string().ends_with("locked is read-only"));
        // A target that turns out to be a folder fails after the first was put in place.
        std::fs::create_dir_all(path("dir/inner")).unwrap();
        assert!(commit(vec![put(path("a"), "new"), put(path("dir"), "x")]).is_err());
        assert_eq!(std::fs::read_to_string(path("a")).unwrap(), "a");
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "dir", "locked"]);
    }
}
