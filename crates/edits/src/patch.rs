//! Patches, in the two forms that models write: a unified diff, or the `*** Begin Patch` envelope.

mod apply;
mod envelope;
mod unified;

pub(crate) use apply::apply;

use crate::EditError;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, move_to: Option<String>, hunks: Vec<Hunk> },
}

/// One place of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Where the patch says it is, from 1; other places are searched from there.
    pub(crate) line: Option<usize>,
    /// A line above it that must be passed first.
    pub(crate) anchor: Option<String>,
    pub(crate) lines: Vec<Line>,
    /// It ends where the file ends.
    pub(crate) at_end: bool,
    /// What the patch says about the final newline of the new text, if it says anything.
    pub(crate) final_newline: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    Keep(String),
    Remove(String),
    Add(String),
}

/// Reads a patch of either form.
pub(crate) fn parse(patch: &str) -> Result<Vec<Change>, EditError> {
    let changes = if patch.lines().any(|line| line.trim_end() == "*** Begin Patch") {
        envelope::parse(patch)
    } else {
        unified::parse(patch)
    };
    match changes {
        Ok(changes) if changes.is_empty() => Err(EditError::Patch(
            "it names no file; send a unified diff, or the form `*** Begin Patch` … `*** End Patch`"
                .to_owned(),
        )),
        Ok(changes) => Ok(changes),
        Err(reason) => Err(EditError::Patch(reason)),
    }
}

#[cfg(test)]
mod tests;
