//! Putting hunks into a text.

use super::{Hunk, Line};
use crate::EditError;
use crate::nearest::nearest;
use crate::text::Text;

/// Applies the hunks in order. Fails as a whole when one of them has no place.
pub(crate) fn apply(text: &Text, shown: &str, hunks: &[Hunk]) -> Result<Text, EditError> {
    let ending = text.line_ending();
    let had_newline = text.content.is_empty() || text.content.ends_with('\n');
    let old: Vec<&str> = text.content.split_inclusive('\n').collect();
    let bodies: Vec<&str> = old.iter().map(|line| body(line)).collect();
    let mut new: Vec<String> = Vec::with_capacity(old.len());
    let mut next = 0;
    let mut shift: isize = 0;
    let mut final_newline = had_newline;
    for hunk in hunks {
        let wanted: Vec<&str> = hunk
            .lines
            .iter()
            .filter_map(|line| match line {
                Line::Keep(text) | Line::Remove(text) => Some(body(text)),
                Line::Add(_) => None,
            })
            .collect();
        let from = match &hunk.anchor {
            None => next,
            Some(anchor) => match (next..bodies.len()).find(|&at| bodies[at].trim() == anchor.trim()) {
                Some(at) => at + 1,
                None => return Err(not_found(text, shown, anchor)),
            },
        };
        let place = find(&bodies, &wanted, from, hunk, shift);
        let at = place.ok_or_else(|| not_found(text, shown, &wanted.join("\n")))?;
        if let Some(line) = hunk.line {
            shift = at as isize - said(line, &wanted);
        }
        new.extend(old[next..at].iter().map(|line| (*line).to_owned()));
        let mut cursor = at;
        for line in &hunk.lines {
            match line {
                Line::Keep(_) => {
                    new.push(old[cursor].to_owned());
                    cursor += 1;
                }
                Line::Remove(_) => cursor += 1,
                Line::Add(text) => new.push(format!("{}{ending}", body(text))),
            }
        }
        next = cursor;
        if let Some(told) = hunk.final_newline.filter(|_| cursor == old.len()) {
            final_newline = told;
        }
    }
    new.extend(old[next..].iter().map(|line| (*line).to_owned()));
    Ok(Text { content: joined(new, ending, final_newline), has_bom: text.has_bom })
}

/// Joins lines so that each but the last has an ending, and the last as told.
fn joined(mut lines: Vec<String>, ending: &str, final_newline: bool) -> String {
    let n_lines = lines.len();
    for (at, line) in lines.iter_mut().enumerate() {
        let is_last = at + 1 == n_lines;
        if !line.ends_with('\n') && (!is_last || final_newline) {
            line.push_str(ending);
        } else if is_last && !final_newline {
            line.truncate(body(line).len());
        }
    }
    lines.concat()
}

fn find(bodies: &[&str], wanted: &[&str], from: usize, hunk: &Hunk, shift: isize) -> Option<usize> {
    let fits = |at: usize| bodies.get(at..at + wanted.len()).is_some_and(|window| window == wanted);
    if wanted.is_empty() {
        // Only additions: where the patch says, after its anchor, or at the end.
        return match (hunk.line, &hunk.anchor) {
            (Some(line), _) => {
                let place = (said(line, wanted) + shift).clamp(0, isize::MAX) as usize;
                Some(place.min(bodies.len()).max(from))
            }
            (None, Some(_)) => Some(from),
            (None, None) => Some(bodies.len()),
        };
    }
    let last = bodies.len().checked_sub(wanted.len())?;
    if hunk.at_end {
        return (last >= from && fits(last)).then_some(last);
    }
    match hunk.line {
        None => (from..=last).find(|&at| fits(at)),
        Some(line) => {
            let said = (said(line, wanted) + shift).clamp(0, isize::MAX) as usize;
            (from..=last).filter(|&at| fits(at)).min_by_key(|at| at.abs_diff(said))
        }
    }
}

/// The place that a hunk's line number means: its first line, or, where it only adds, behind the line that it names.
fn said(line: usize, wanted: &[&str]) -> isize {
    if wanted.is_empty() { line as isize } else { line as isize - 1 }
}

/// A line without its ending.
fn body(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn not_found(text: &Text, shown: &str, wanted: &str) -> EditError {
    let nearest = nearest(&text.content, wanted);
    EditError::NotFound {
        path: shown.to_owned(),
        nearest: format!(":\n{wanted}\n{}", nearest.trim_start_matches("; ")),
    }
}
