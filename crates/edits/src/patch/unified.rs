//! The unified diff, as git and diff write it, and as models write it from memory.

use super::{Change, Hunk, Line};

/// What has been read of one file.
#[derive(Default)]
struct File {
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    hunks: Vec<Hunk>,
}

pub(super) fn parse(patch: &str) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    let mut file: Option<File> = None;
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            finish(file.replace(File::default()), &mut changes)?;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            file.get_or_insert_default().rename_from = Some(path.to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            file.get_or_insert_default().rename_to = Some(path.to_owned());
        } else if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            if file.as_ref().is_some_and(|file| file.old.is_some()) {
                finish(file.take(), &mut changes)?;
            }
            let file = file.get_or_insert_default();
            file.old = Some(path(&line[4..]).to_owned());
            file.new = lines.next().map(|line| path(&line[4..]).to_owned());
        } else if line.starts_with("@@") {
            let Some(file) = &mut file else {
                return Err("a change comes before `---` and `+++` name its file".to_owned());
            };
            let mut hunk = Hunk { line: old_line(line), ..Hunk::default() };
            read_hunk(&mut hunk, counts(line), &mut lines)?;
            file.hunks.push(hunk);
        }
        // Everything else is a preamble: index lines, modes, a mail's text.
    }
    finish(file, &mut changes)?;
    Ok(changes)
}

fn read_hunk<'a>(
    hunk: &mut Hunk,
    counts: Option<(usize, usize)>,
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<(), String> {
    let (mut n_old, mut n_new) = (0, 0);
    let mut old_has_none = false;
    while let Some(line) = lines.peek() {
        let complete = counts.is_some_and(|(old, new)| n_old >= old && n_new >= new);
        let next = match line.chars().next() {
            Some('\\') => {
                match hunk.lines.last() {
                    Some(Line::Remove(_)) => old_has_none = true,
                    Some(Line::Add(_) | Line::Keep(_)) => hunk.final_newline = Some(false),
                    None => {}
                }
                lines.next();
                continue;
            }
            _ if complete => break,
            Some(' ') => Line::Keep(line[1..].to_owned()),
            Some('+') => Line::Add(line[1..].to_owned()),
            // Without counts, the next file's header ends the change.
            Some('-') if counts.is_none() && line.starts_with("--- ") => break,
            Some('-') => Line::Remove(line[1..].to_owned()),
            // Editors strip the blank of an empty context line.
            None => Line::Keep(String::new()),
            Some('@' | 'd' | 'i' | 'n' | 'r' | 's' | 'o' | 'B' | 'G') => break,
            Some(_) => return Err(format!("a line of a change begins with none of blank, + and -: {line}")),
        };
        match &next {
            Line::Keep(_) => (n_old, n_new) = (n_old + 1, n_new + 1),
            Line::Remove(_) => n_old += 1,
            Line::Add(_) => n_new += 1,
        }
        hunk.lines.push(next);
        lines.next();
    }
    // An empty line at the very end of a patch is the patch's own.
    if counts.is_none_or(|(old, new)| n_old > old || n_new > new)
        && lines.peek().is_none()
        && hunk.lines.last() == Some(&Line::Keep(String::new()))
    {
        hunk.lines.pop();
    }
    if old_has_none && hunk.final_newline.is_none() {
        hunk.final_newline = Some(true);
    }
    Ok(())
}

fn finish(file: Option<File>, changes: &mut Vec<Change>) -> Result<(), String> {
    let Some(file) = file else { return Ok(()) };
    let File { old, new, rename_from, rename_to, hunks } = file;
    match (old.as_deref(), new.as_deref()) {
        (Some("/dev/null"), Some("/dev/null")) => return Err("a file is neither old nor new".to_owned()),
        (Some("/dev/null"), Some(path)) => {
            let no_newline = hunks.last().is_some_and(|hunk| hunk.final_newline == Some(false));
            let added = hunks.iter().flat_map(|hunk| &hunk.lines);
            let mut content: String = added
                .map(|line| match line {
                    Line::Keep(text) | Line::Add(text) | Line::Remove(text) => format!("{text}\n"),
                })
                .collect();
            if no_newline {
                content.pop();
            }
            changes.push(Change::Add { path: strip(path).to_owned(), content });
        }
        (Some(path), Some("/dev/null")) => changes.push(Change::Delete { path: strip(path).to_owned() }),
        (Some(old), Some(new)) => {
            let (old, new) = match (rename_from, rename_to) {
                (Some(from), Some(to)) => (from, to),
                _ => (strip(old).to_owned(), strip(new).to_owned()),
            };
            // `--- a.orig` beside `+++ a` is the same file.
            let move_to = (old != new && !old.ends_with(".orig")).then(|| new.clone());
            let path = if old.ends_with(".orig") { new } else { old };
            if hunks.is_empty() && move_to.is_none() {
                return Err(format!("the change of {path} is empty"));
            }
            changes.push(Change::Update { path, move_to, hunks });
        }
        (None, _) | (_, None) => {
            if let (Some(from), Some(to)) = (rename_from, rename_to) {
                changes.push(Change::Update { path: from, move_to: Some(to), hunks: Vec::new() });
            }
        }
    }
    Ok(())
}

/// A header's path without its time stamp.
fn path(header: &str) -> &str {
    header.split('\t').next().unwrap_or(header).trim_end()
}

/// A path without git's `a/` or `b/`.
fn strip(path: &str) -> &str {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// The first number of `@@ -3,4 +3,5 @@`.
fn old_line(header: &str) -> Option<usize> {
    let numbers = header.strip_prefix("@@ -")?;
    numbers.split([',', ' ']).next()?.parse().ok()
}

/// The two lengths of `@@ -3,4 +3,5 @@`; a missing one is 1.
fn counts(header: &str) -> Option<(usize, usize)> {
    let mut ranges = header.strip_prefix("@@ ")?.split(' ');
    let mut length = |sign: char| {
        let range = ranges.next()?.strip_prefix(sign)?;
        match range.split_once(',') {
            Some((_, length)) => length.parse().ok(),
            None => Some(1),
        }
    };
    Some((length('-')?, length('+')?))
}
