//! The text of a file with what an edit must keep: byte order mark, line endings, a missing final newline.

use chartroom_workspace::boundary::{Inside, ReadError};
use chartroom_workspace::limits::READ_FILE;

use crate::EditError;

const BOM: &str = "\u{feff}";

/// A file's text without its byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) content: String,
    pub(crate) has_bom: bool,
}

impl Text {
    /// Reads an existing text file. `shown` is its path as people say it.
    pub(crate) fn read(file: &Inside, shown: &str) -> Result<Self, EditError> {
        let not = |reason: &str| EditError::NotEditable { path: shown.to_owned(), reason: reason.to_owned() };
        let (bytes, _) = file.read(READ_FILE).map_err(|error| match error {
            ReadError::Missing => EditError::Missing { path: shown.to_owned() },
            ReadError::Folder => not("is a folder"),
            ReadError::NotAFile => not("is not a regular file"),
            ReadError::TooLarge { .. } => not(&format!("is larger than {} MiB", READ_FILE / (1024 * 1024))),
            ReadError::Swapped => not("was replaced by a link while it was opened"),
            ReadError::Io(error) => not(&format!("cannot be read: {error}")),
        })?;
        if bytes.contains(&0) {
            return Err(not("is a binary file"));
        }
        let content = String::from_utf8(bytes).map_err(|_| not("is not valid UTF-8"))?;
        Ok(Self::of(content))
    }

    pub(crate) fn of(content: String) -> Self {
        match content.strip_prefix(BOM) {
            Some(rest) => Self { content: rest.to_owned(), has_bom: true },
            None => Self { content, has_bom: false },
        }
    }

    /// Returns the bytes of the file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let bom = if self.has_bom { BOM } else { "" };
        format!("{bom}{}", self.content).into_bytes()
    }

    /// The line ending that most lines have.
    pub(crate) fn line_ending(&self) -> &'static str {
        let n_crlf = self.content.matches("\r\n").count();
        let n_all = self.content.matches('\n').count();
        if n_crlf * 2 > n_all { "\r\n" } else { "\n" }
    }

    /// Gives a text that was written with plain line feeds the endings of this file.
    pub(crate) fn adapt(&self, other: &str) -> String {
        if self.line_ending() == "\r\n" && !other.contains("\r\n") {
            other.replace('\n', "\r\n")
        } else {
            other.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_kept_apart_and_comes_back() {
        let text = Text::of("\u{feff}a\n".to_owned());
        assert_eq!((text.content.as_str(), text.has_bom), ("a\n", true));
        assert_eq!(text.to_bytes(), "\u{feff}a\n".as_bytes());
    }

    #[test]
    fn plain_text_takes_the_endings_of_the_file() {
        let dos = Text::of("a\r\nb\r\n".to_owned());
        assert_eq!(dos.adapt("x\ny"), "x\r\ny");
        assert_eq!(dos.adapt("x\r\ny"), "x\r\ny");
        assert_eq!(Text::of("a\nb\n".to_owned()).adapt("x\ny"), "x\ny");
    }
}
