//! Writing to the disk: every file of a change is made ready in its own folder, then all are put in their places.

use std::fs::Permissions;

use chartroom_workspace::boundary::{self, Inside, ReadError, Staged as StagedFile};

use crate::EditError;

/// What is kept of a file to take its change back. Only changes of several files need it.
const MAX_KEPT: u64 = 64 * 1024 * 1024;

/// What must still lie at a place when it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    /// Exactly what was read.
    Bytes(Vec<u8>),
    /// Nothing: the file is new.
    Nothing,
    /// Whatever it is, it is to be replaced.
    Anything,
}

/// One file's part of a change.
#[derive(Debug)]
pub(crate) enum Write {
    Put { file: Inside, shown: String, bytes: Vec<u8>, before: Before, mode_from: Option<Inside> },
    Remove { file: Inside, shown: String, before: Before },
}

/// A file that stands ready.
enum Staged {
    Put { file: Inside, shown: String, ready: StagedFile, before: Before },
    Remove { file: Inside, shown: String, before: Before },
}

/// How to take back what was already put in place.
struct Undo {
    file: Inside,
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
    let mut staged = staged.into_iter().peekable();
    while let Some(one) = staged.next() {
        match put_in_place(one, staged.peek().is_none()) {
            Ok(undo) => undos.push(undo),
            Err(error) => {
                undos.into_iter().rev().for_each(undo);
                remove_folders(&made_folders);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Puts one file in its place if what must lie there does. The last one of a change is never taken back.
fn put_in_place(staged: Staged, is_last: bool) -> Result<Undo, EditError> {
    let (Staged::Put { file, shown, before, .. } | Staged::Remove { file, shown, before }) = &staged;
    let (file, path) = (file.clone(), shown.clone());
    let failed = |error| EditError::Io { path: path.clone(), error };
    let changed = || EditError::ChangedMeanwhile { path: path.clone() };
    // Whoever changes it without our locks after this has a moment that no file system lets us close.
    let kept = match before {
        Before::Anything if is_last => None,
        Before::Anything => kept(&file).map_err(failed)?,
        Before::Nothing => None,
        Before::Bytes(read) => {
            let kept = kept(&file).map_err(failed)?;
            if kept.as_ref().is_none_or(|(bytes, _)| bytes != read) {
                return Err(changed());
            }
            kept
        }
    };
    let put = match staged {
        Staged::Put { ready, before: Before::Nothing, .. } => ready.put_new(),
        Staged::Put { ready, .. } => ready.put(),
        Staged::Remove { .. } => file.remove(),
    };
    match put {
        Ok(()) => Ok(Undo { file, before: kept }),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(changed()),
        Err(error) => Err(failed(error)),
    }
}

/// What lies there now. Nothing when nothing does.
fn kept(file: &Inside) -> std::io::Result<Option<(Vec<u8>, Permissions)>> {
    match file.read(MAX_KEPT) {
        Ok((bytes, metadata)) => Ok(Some((bytes, metadata.permissions()))),
        Err(ReadError::Missing) => Ok(None),
        Err(ReadError::Io(error)) => Err(error),
        Err(error) => Err(std::io::Error::other(error)),
    }
}

/// Refuses what may not be written, before anything is touched.
pub(crate) fn check_writable(file: &Inside, shown: &str) -> Result<(), EditError> {
    match file.metadata() {
        // Renaming over a read-only file would work; whoever made it read-only meant it.
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(EditError::NotEditable { path: shown.to_owned(), reason: "is read-only".to_owned() })
        }
        _ => Ok(()),
    }
}

fn stage(write: Write, made_folders: &mut Vec<Inside>) -> Result<Staged, EditError> {
    match write {
        Write::Remove { file, shown, before } => {
            check_writable(&file, &shown)?;
            Ok(Staged::Remove { file, shown, before })
        }
        Write::Put { file, shown, bytes, before, mode_from } => {
            check_writable(&file, &shown)?;
            let failed = |error| EditError::Io { path: shown.clone(), error };
            made_folders.extend(file.make_folders().map_err(failed)?);
            boundary::sweep_beside(&file);
            let mode = mode_from.as_ref().unwrap_or(&file);
            let mode = mode.metadata().ok().map(|metadata| metadata.permissions());
            let ready = file.stage(&bytes, mode).map_err(failed)?;
            Ok(Staged::Put { file, shown, ready, before })
        }
    }
}

fn remove_folders(made: &[Inside]) {
    for folder in made.iter().rev() {
        if let Err(error) = folder.remove_folder() {
            tracing::debug!(folder = %folder.name().display(), %error, "a folder stays behind");
        }
    }
}

fn undo(undo: Undo) {
    let result = match undo.before {
        None => undo.file.remove(),
        Some((bytes, permissions)) => undo.file.stage(&bytes, Some(permissions)).and_then(StagedFile::put),
    };
    if let Err(error) = result {
        tracing::warn!(file = %undo.file.name().display(), %error, "a change could not be taken back");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use chartroom_workspace::CanonicalRoot;

    use super::*;

    fn put(file: PathBuf, text: &str) -> Write {
        let root = file.ancestors().find(|folder| folder.join(".root").exists()).unwrap();
        let root = CanonicalRoot::open(root).unwrap();
        let place = boundary::inside(&root, &file).unwrap();
        put_over(file, place, text, Before::Anything)
    }

    fn put_over(path: PathBuf, file: Inside, text: &str, before: Before) -> Write {
        Write::Put { shown: path.display().to_string(), file, bytes: text.into(), before, mode_from: None }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".root"), "").unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_write_left_behind_goes_with_the_next_one() {
        let folder = folder();
        // The start of a process that is not this one: the pid was used again.
        let left = [".chartroom-1-1-0.tmp".to_owned(), format!(".chartroom-{}-1-7.tmp", std::process::id())];
        for name in left.iter().map(String::as_str).chain([".chartroom-mine.tmp", ".chartroom-1-1.tmp"]) {
            std::fs::write(folder.path().join(name), "half").unwrap();
        }
        commit(vec![put(folder.path().join("a"), "new")]).unwrap();
        assert_eq!(names(folder.path()), [".chartroom-1-1.tmp", ".chartroom-mine.tmp", ".root", "a"]);
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_new_one_has_the_usual() {
        let folder = folder();
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
        let folder = folder();
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
        assert_eq!(names(folder.path()), [".root", "a", "dir", "locked"]);
    }

    #[test]
    fn what_was_not_read_is_not_replaced() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let root = CanonicalRoot::open(folder.path()).unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(path(name), "read").unwrap();
        }
        let write = |name: &str, before: Before| {
            put_over(name.into(), Inside::below(&root, name).unwrap(), "new", before)
        };
        let read = || Before::Bytes(b"read".to_vec());
        // Another program writes, makes and removes files between the reading and the writing.
        std::fs::write(path("b"), "READ").unwrap();
        std::fs::remove_file(path("c")).unwrap();
        for (last, before) in [("b", read()), ("c", read()), ("b", Before::Nothing)] {
            let error =
                commit(vec![write("a", read()), write("x/new", Before::Nothing), write(last, before)]);
            let expected = format!(
                "{last} was changed by another program while it was edited; nothing was changed, read it again"
            );
            assert_eq!(error.unwrap_err().to_string(), expected);
            assert_eq!(names(folder.path()), [".root", "a", "b"]);
            assert_eq!(std::fs::read_to_string(path("a")).unwrap(), "read");
            assert_eq!(std::fs::read_to_string(path("b")).unwrap(), "READ");
        }
        commit(vec![write("a", read()), write("b", Before::Anything), write("c", Before::Nothing)]).unwrap();
        assert_eq!(std::fs::read_to_string(path("b")).unwrap(), "new");
    }
}
