//! The text of a file, or in one sentence why it is none for a language server.

use std::path::Path;
use std::sync::Arc;

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{self, Inside, ReadError};
use chartroom_workspace::limits::CHECKED_FILE;

/// Reads a text file of the workspace by its name.
pub(crate) fn read(root: &CanonicalRoot, file: &Path) -> Result<Arc<str>, String> {
    read_inside(&boundary::inside(root, file).map_err(|error| error.to_string())?)
}

/// Reads a text file of the workspace.
pub(crate) fn read_inside(file: &Inside) -> Result<Arc<str>, String> {
    let (bytes, _) = file.read(CHECKED_FILE).map_err(|error| match error {
        ReadError::Missing => "the file does not exist".to_owned(),
        ReadError::TooLarge { .. } => too_large(),
        ReadError::Io(error) => format!("the file cannot be read: {error}"),
        ReadError::Folder | ReadError::NotAFile | ReadError::Swapped => error.to_string(),
    })?;
    if bytes.contains(&0) {
        return Err("the file is binary".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "the file is not valid UTF-8".to_owned())?;
    // The byte order mark belongs to the file, not to its text: it would move the columns of the first line.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).into())
}

/// Looks at a text that a caller brought along.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    check_length(text.len() as u64)?;
    if text.contains('\0') { Err("the file is binary".to_owned()) } else { Ok(()) }
}

fn check_length(length: u64) -> Result<(), String> {
    if length > CHECKED_FILE { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> String {
    format!("the file is larger than {} MiB", CHECKED_FILE / (1024 * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    // EC-36, BR-10, REQ-SCOPE-010
    #[test]
    fn what_is_no_text_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let root = CanonicalRoot::open(folder.path()).unwrap();
        let path = folder.path().join("a b ü.ts");
        let check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&root, &path).map(|text| text.to_string())
        };
        assert_eq!(check("let ü = 1;\r\n".as_bytes()), Ok("let ü = 1;\r\n".to_owned()));
        assert_eq!(check("\u{feff}let a;".as_bytes()), Ok("let a;".to_owned()), "without its mark");
        assert_eq!(check(b"a\0b"), Err("the file is binary".to_owned()));
        assert_eq!(check(b"\xff\xfe"), Err("the file is not valid UTF-8".to_owned()));
        assert_eq!(check(&vec![b'a'; 50 * 1024 * 1024]), Err("the file is larger than 4 MiB".to_owned()));
        assert_eq!(read(&root, folder.path()), Err("it is a folder".to_owned()));
        assert_eq!(read(&root, &folder.path().join("none")), Err("the file does not exist".to_owned()));
        assert_eq!(check_text("a\0"), Err("the file is binary".to_owned()));
    }
}
