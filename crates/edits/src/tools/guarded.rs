//! Files that need a person's consent: which of a change are such, what the person reads, and that it stays at those.

use std::fmt::Write as _;
use std::path::Path;

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;
use chartroom_workspace::sensitive::needs_consent;

use super::plan::{Plan, Request, Target, target};
use crate::EditError;
use crate::disk::Write;

/// What is longer nobody would read, and what is not read cannot be agreed to.
const MAX_QUESTION_CHARS: usize = 20_000;

/// A file that programs run or obey by themselves.
pub(super) struct Guarded {
    pub(super) file: Inside,
    shown: String,
    name: &'static str,
}

impl Guarded {
    pub(super) fn refused(&self, reason: String) -> EditError {
        EditError::NeedsConsent { path: self.shown.clone(), name: self.name, reason }
    }
}

/// Returns those of a change's files that need consent.
pub(super) fn guarded_files(request: &Request, root: &CanonicalRoot) -> Result<Vec<Guarded>, EditError> {
    let mut guarded = Vec::new();
    for path in request.paths() {
        let Target { file, shown } = target(root, path)?;
        if let Some(name) = needs_consent(&file, Path::new(path)) {
            guarded.push(Guarded { file, shown, name });
        }
    }
    Ok(guarded)
}

/// Returns what the person is asked: the files and the whole change. Nothing when that is too long.
pub(super) fn question(root: &CanonicalRoot, guarded: &[Guarded], text: &str) -> Option<String> {
    let mut question =
        format!("May the agent change these files in {root}? Programs run or obey them by themselves.\n");
    for Guarded { shown, name, .. } in guarded {
        writeln!(question, "- {shown} (in {name})").expect("writing to a string cannot fail");
    }
    question.push_str("\nThe change:\n\n");
    question.push_str(text);
    let shown: String = question.chars().map(visible).collect();
    (shown.chars().count() <= MAX_QUESTION_CHARS).then_some(shown)
}

/// Makes control and direction characters visible.
fn visible(character: char) -> String {
    let hidden = character.is_control() && !matches!(character, '\n' | '\t')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    if hidden { character.escape_unicode().to_string() } else { character.to_string() }
}

/// Refuses what is about to be written if it leads to such a file that nobody was asked about: a link may have been
/// swapped in meanwhile.
pub(super) fn still_agreed(plan: &Plan, agreed: &[Inside]) -> Result<(), EditError> {
    for write in &plan.writes {
        let (Write::Put { file, shown, .. } | Write::Remove { file, shown, .. }) = write;
        if let Some(name) = needs_consent(file, file.relative())
            && !agreed.contains(file)
        {
            let reason = "it became such a file only while it was changed".to_owned();
            return Err(EditError::NeedsConsent { path: shown.clone(), name, reason });
        }
    }
    Ok(())
}
