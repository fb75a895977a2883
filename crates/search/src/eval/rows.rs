//! What is asked and what should be found.

use serde::{Deserialize, Serialize};

/// Whether the text gives the file away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leak {
    /// It has the file's name.
    Path,
    /// It has the name without its extension as a word.
    Stem,
    /// Neither.
    None,
}

impl Leak {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Stem => "stem",
            Self::None => "none",
        }
    }
}

/// One text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// `owner/name`, or the folder.
    #[serde(default)]
    pub repo: String,
    /// Of the files that should be found.
    #[serde(default)]
    pub language: String,
    /// The tree that is searched.
    #[serde(default)]
    pub base_commit: String,
    /// What is asked; its first line is the title.
    pub text: String,
    /// The files that should be found; any counts.
    pub gold: Vec<String>,
    /// Whether the text gives one of them away; found out when it is not said.
    #[serde(default)]
    pub leak: Option<Leak>,
}

impl Row {
    /// The first line.
    pub fn title(&self) -> &str {
        self.text.trim_start().lines().next().unwrap_or_default()
    }

    /// Whether the text gives a file away.
    pub fn leak(&self) -> Leak {
        self.leak.unwrap_or_else(|| leak_of(&self.text, &self.gold))
    }
}

/// Reads one object a line; the number of the first line that is none, with the reason.
pub fn read_rows(text: &str) -> Result<Vec<Row>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1)))
        .collect()
}

/// Names that every project has.
const GENERIC: &[&str] = &[
    "index", "main", "init", "utils", "util", "parser", "core", "base", "common", "types", "helpers",
    "config", "lib", "mod", "test", "tests", "error", "errors", "client", "server",
];

/// Whether a text has a file's name, or its stem as a word.
pub fn leak_of(text: &str, gold: &[String]) -> Leak {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').map(plain).collect();
    let mut leak = Leak::None;
    for path in gold {
        let name = path.rsplit('/').next().unwrap_or(path);
        if text.contains(name) {
            return Leak::Path;
        }
        let stem = plain(name.split('.').next().unwrap_or(name));
        if stem.len() >= 4 && !GENERIC.contains(&stem.as_str()) && words.contains(&stem) {
            leak = Leak::Stem;
        }
    }
    leak
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_a_file_away_by_its_name_or_its_stem() {
        let gold = ["src/frame_reader.rs".to_owned(), "src/utils.rs".to_owned()];
        for (text, leak) in [
            ("see frame_reader.rs", Leak::Path),
            ("FrameReader hangs", Leak::Stem),
            ("utils are broken", Leak::None),
            ("the reader hangs", Leak::None),
        ] {
            assert_eq!(leak_of(text, &gold), leak, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_no_row_is_told_by_its_number() {
        let row = r#"{"id": "a", "text": "Title\nbody", "gold": ["a.rs"]}"#;
        let rows = read_rows(&format!("{row}\n\n{row}\n")).unwrap();
        assert_eq!((rows.len(), rows[0].title()), (2, "Title"));
        assert!(read_rows(&format!("{row}\n{{}}\n")).unwrap_err().starts_with("line 2: "));
    }
}
