//! What an install put into the files of others, so that an uninstall takes out exactly that. It has our own text only,
//! nothing of theirs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::data::DataFolder;

const NAME: &str = "installed.json";

/// What was put into one file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Inserted {
    /// As it stands there.
    pub(super) text: String,
    /// The file was not there before.
    pub(super) made_file: bool,
    /// Nor was its folder.
    pub(super) made_folder: bool,
}

/// By the path of the file.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Record(BTreeMap<String, Inserted>);

impl Record {
    /// Reads it; without one, or with one that is damaged, nothing is known of earlier installs.
    pub(super) fn read(data: Option<&DataFolder>) -> Self {
        let text = data.and_then(|data| data.read_private(NAME).ok()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn of(&self, path: &Path) -> Option<&Inserted> {
        self.0.get(&path.display().to_string())
    }

    pub(super) fn set(&mut self, path: &Path, inserted: Option<Inserted>) {
        let path = path.display().to_string();
        match inserted {
            Some(inserted) => drop(self.0.insert(path, inserted)),
            None => drop(self.0.remove(&path)),
        }
    }

    pub(super) fn write(&self, data: &DataFolder) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        data.write_private(NAME, &text).map_err(|error| error.to_string())
    }
}

impl Inserted {
    /// The text without what was put in; nothing when it does not stand there any more, or more than once.
    pub(super) fn taken_out(&self, text: &str) -> Option<String> {
        let mut parts = text.split(self.text.as_str());
        match (parts.next(), parts.next(), parts.next()) {
            (Some(before), Some(after), None) if !self.text.is_empty() => Some(format!("{before}{after}")),
            _ => None,
        }
    }
}

/// What stands in `after` and not in `before`, when that is all that differs.
pub(super) fn inserted(before: &str, after: &str) -> Option<String> {
    let head: usize =
        before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (rest_before, rest_after) = (&before[head..], &after[head..]);
    let put = rest_after.strip_suffix(rest_before)?;
    (!put.is_empty()).then(|| put.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_taken_out_again_and_nothing_else() {
        let put = inserted("{\"a\":1}\n", "{\"a\":1,\"b\":2}\n").unwrap();
        assert_eq!(put, ",\"b\":2");
        let record = Inserted { text: put, made_file: false, made_folder: false };
        assert_eq!(record.taken_out("{\"a\":7,\"b\":2,\"c\":3}").as_deref(), Some("{\"a\":7,\"c\":3}"));
        assert_eq!(record.taken_out("{\"a\":1}"), None);
        assert_eq!(record.taken_out("{\"a\":1,\"b\":2,\"b\":2}"), None);
        assert_eq!(inserted("abc", "abd"), None);
    }
}
