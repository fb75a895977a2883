//! A change that a language server proposed: worked out again on what the disk has now, all of it or nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chartroom_protocol::lsp::{ProposedChange, ProposedEdit, ProposedStep, fingerprint};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;

use super::plan::{Plan, Target, path_text, target, written};
use crate::EditError;
use crate::disk::{Before, Write};
use crate::text::Text;

/// How many files an answer names.
const MAX_NAMES: usize = 20;
/// How many lines of a file a preview names.
const MAX_LINES: usize = 10;

/// One file on its way through the steps.
struct Draft {
    shown: String,
    file: Inside,
    /// What the disk has; nothing when there is no file.
    before: Option<Text>,
    /// What it has after the steps so far.
    after: Option<Text>,
    /// Where it came from, if it got its name by a step.
    moved_from: Option<Inside>,
    /// The lines that are changed, from 1, as they count before.
    lines: Vec<usize>,
}

/// Returns the paths of a change, in order.
pub(super) fn paths(change: &ProposedChange) -> Vec<&str> {
    let paths = change.steps.iter().flat_map(|step| match step {
        ProposedStep::Edit { file, .. }
        | ProposedStep::Create { file, .. }
        | ProposedStep::Delete { file, .. } => [Some(file.as_str()), None],
        ProposedStep::Rename { from, to, .. } => [Some(from.as_str()), Some(to.as_str())],
    });
    paths.flatten().collect()
}

/// Tells one change from another.
pub(super) fn id(change: &ProposedChange) -> String {
    let mut id = fingerprint(&format!("{:?}", change.steps));
    id.truncate(8);
    id
}

/// Returns the change as a person reads it, all of it.
pub(super) fn text(change: &ProposedChange) -> String {
    let mut text = change.title.clone();
    for step in &change.steps {
        let line = match step {
            ProposedStep::Edit { file, edits, .. } => {
                let new: Vec<&str> = edits.iter().map(|edit| edit.new_text.as_str()).collect();
                format!("{file}: {} places become\n{}", edits.len(), new.join("\n"))
            }
            ProposedStep::Create { file, .. } => format!("{file} is made"),
            ProposedStep::Rename { from, to, .. } => format!("{from} becomes {to}"),
            ProposedStep::Delete { file, .. } => format!("{file} is removed"),
        };
        write!(text, "\n{line}").expect("writing to a string cannot fail");
    }
    text
}

/// Says what would change, and how to have it changed.
pub(super) fn preview(root: &CanonicalRoot, change: &ProposedChange) -> Result<String, EditError> {
    let drafts = drafts(root, change)?;
    let mut text = format!("Preview, nothing was changed. {}:", told(&drafts, &change.title));
    for draft in drafts.values().filter(|draft| draft.is_changed()).take(MAX_NAMES) {
        let mut lines: Vec<String> = draft.lines.iter().take(MAX_LINES).map(usize::to_string).collect();
        if draft.lines.len() > MAX_LINES {
            lines.push("...".to_owned());
        }
        let what = match (&draft.before, &draft.after) {
            (_, None) => "removed".to_owned(),
            (None, Some(_)) => "new".to_owned(),
            (Some(_), Some(_)) if lines.len() == 1 => format!("line {}", lines.join(", ")),
            (Some(_), Some(_)) => format!("lines {}", lines.join(", ")),
        };
        write!(text, "\n{} ({what})", draft.shown).expect("writing to a string cannot fail");
    }
    for label in &change.confirm {
        write!(text, "\nThe language server asks to look at this first: {label}")
            .expect("writing to a string cannot fail");
    }
    write!(text, "\nTo make exactly this change call again with previewId \"{}\".", id(change))
        .expect("writing to a string cannot fail");
    Ok(text)
}

/// Reads the files and works out the change.
pub(super) fn plan(root: &CanonicalRoot, change: &ProposedChange) -> Result<Plan, EditError> {
    let drafts = drafts(root, change)?;
    let mut plan = Plan { success: told(&drafts, &change.title), ..Plan::default() };
    let names: Vec<String> =
        drafts.values().filter(|draft| draft.is_changed()).map(|d| d.shown.clone()).collect();
    if names.is_empty() {
        return Err(EditError::Proposal("it would change nothing".to_owned()));
    }
    let n_more = names.len().saturating_sub(MAX_NAMES);
    let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
    write!(plan.success, ": {}{more}.", names[..names.len() - n_more].join(", "))
        .expect("writing to a string cannot fail");
    for draft in drafts.into_values().filter(Draft::is_changed) {
        let Draft { shown, file, before, after, moved_from, .. } = draft;
        let was = before.map_or(Before::Nothing, |before| Before::Bytes(before.to_bytes()));
        match after {
            Some(text) => {
                plan.changed.written.push(written(&file));
                let (bytes, before, mode_from) = (text.to_bytes(), was, moved_from);
                plan.writes.push(Write::Put { file, shown, bytes, before, mode_from });
            }
            None => {
                plan.changed.removed.push(path_text(&file));
                plan.writes.push(Write::Remove { file, shown, before: was });
            }
        }
    }
    Ok(plan)
}

fn told(drafts: &BTreeMap<String, Draft>, title: &str) -> String {
    let changed: Vec<&Draft> = drafts.values().filter(|draft| draft.is_changed()).collect();
    let n_places: usize = changed.iter().map(|draft| draft.lines.len().max(1)).sum();
    let places = if n_places == 1 { "place" } else { "places" };
    let files = if changed.len() == 1 { "file" } else { "files" };
    format!("{title}, {n_places} {places} in {} {files}", changed.len())
}

impl Draft {
    fn is_changed(&self) -> bool {
        self.before != self.after
    }
}

/// Takes every file through the steps.
fn drafts(root: &CanonicalRoot, change: &ProposedChange) -> Result<BTreeMap<String, Draft>, EditError> {
    let mut drafts = BTreeMap::new();
    for step in &change.steps {
        match step {
            ProposedStep::Edit { file, base, edits } => edit(draft(&mut drafts, root, file)?, base, edits)?,
            ProposedStep::Create { file, overwrite, ignore_if_exists } => {
                let draft = draft(&mut drafts, root, file)?;
                match &draft.after {
                    Some(_) if *ignore_if_exists && !*overwrite => {}
                    Some(_) if !*overwrite => return Err(exists(&draft.shown)),
                    Some(_) | None => draft.after = Some(Text::of(String::new())),
                }
            }
            ProposedStep::Rename { from, to, overwrite, ignore_if_exists } => {
                let there = draft(&mut drafts, root, to)?;
                match &there.after {
                    Some(_) if *ignore_if_exists && !*overwrite => continue,
                    Some(_) if !*overwrite => return Err(exists(&there.shown)),
                    Some(_) | None => {}
                }
                let source = draft(&mut drafts, root, from)?;
                let Some(text) = source.after.take() else {
                    return Err(EditError::Missing { path: source.shown.clone() });
                };
                let moved_from = source.moved_from.take().or_else(|| Some(source.file.clone()));
                let lines = source.lines.clone();
                let there = draft(&mut drafts, root, to)?;
                (there.after, there.moved_from, there.lines) = (Some(text), moved_from, lines);
            }
            ProposedStep::Delete { file, ignore_if_not_exists } => {
                let draft = draft(&mut drafts, root, file)?;
                if draft.after.take().is_none() && !ignore_if_not_exists {
                    return Err(EditError::Missing { path: draft.shown.clone() });
                }
            }
        }
    }
    Ok(drafts)
}

/// Returns the draft of a file; its text is read when it is met first.
fn draft<'a>(
    drafts: &'a mut BTreeMap<String, Draft>,
    root: &CanonicalRoot,
    path: &str,
) -> Result<&'a mut Draft, EditError> {
    let Target { file, shown } = target(root, path)?;
    if !drafts.contains_key(&shown) {
        let before = match file.exists() {
            true => Some(Text::read(&file, &shown)?),
            false => None,
        };
        let after = before.clone();
        let draft = Draft { shown: shown.clone(), file, before, after, moved_from: None, lines: Vec::new() };
        drafts.insert(shown.clone(), draft);
    }
    drafts.get_mut(&shown).ok_or(EditError::Missing { path: shown })
}

fn edit(draft: &mut Draft, base: &str, edits: &[ProposedEdit]) -> Result<(), EditError> {
    let Some(text) = &mut draft.after else {
        return Err(EditError::Missing { path: draft.shown.clone() });
    };
    let changed = || EditError::ChangedSince { path: draft.shown.clone() };
    if fingerprint(&text.content) != base {
        return Err(changed());
    }
    let mut content = String::with_capacity(text.content.len());
    let mut at = 0;
    for edit in edits {
        let kept = text.content.get(at..edit.start).ok_or_else(changed)?;
        text.content.get(edit.start..edit.end).ok_or_else(changed)?;
        draft.lines.push(text.content[..edit.start].matches('\n').count() + 1);
        content.push_str(kept);
        content.push_str(&edit.new_text);
        at = edit.end;
    }
    content.push_str(text.content.get(at..).ok_or_else(changed)?);
    text.content = content;
    Ok(())
}

fn exists(shown: &str) -> EditError {
    EditError::NotEditable {
        path: shown.to_owned(),
        reason: "exists already; nothing is put over it".to_owned(),
    }
}
