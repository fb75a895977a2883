//! The `*** Begin Patch` form.

use super::{Change, Hunk, Line};

pub(super) fn parse(patch: &str) -> Result<Vec<Change>, String> {
    let mut lines = patch
        .lines()
        .skip_while(|line| line.trim_end() != "*** Begin Patch")
        .skip(1)
        .take_while(|line| line.trim_end() != "*** End Patch")
        .peekable();
    if !patch.lines().any(|line| line.trim_end() == "*** End Patch") {
        return Err("`*** End Patch` is missing".to_owned());
    }
    let mut changes = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            let mut content = String::new();
            while let Some(added) = lines.next_if(|line| !line.starts_with("*** ")) {
                let added = added
                    .strip_prefix('+')
                    .ok_or_else(|| format!("a line of the new file {path} does not begin with +: {added}"))?;
                content.push_str(added);
                content.push('\n');
            }
            changes.push(Change::Add { path: path.trim().to_owned(), content });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            changes.push(Change::Delete { path: path.trim().to_owned() });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            let move_to = lines
                .next_if(|line| line.starts_with("*** Move to: "))
                .and_then(|line| line.strip_prefix("*** Move to: "))
                .map(|path| path.trim().to_owned());
            let mut hunks: Vec<Hunk> = Vec::new();
            while let Some(line) =
                lines.next_if(|line| !line.starts_with("*** ") || line.trim_end() == "*** End of File")
            {
                push(&mut hunks, line)?;
            }
            hunks.retain(|hunk| !hunk.lines.is_empty());
            if hunks.is_empty() && move_to.is_none() {
                return Err(format!("the update of {} changes nothing", path.trim()));
            }
            changes.push(Change::Update { path: path.trim().to_owned(), move_to, hunks });
        } else if !line.trim().is_empty() {
            return Err(format!("this line is not understood: {line}"));
        }
    }
    Ok(changes)
}

fn push(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), String> {
    if line.trim_end() == "*** End of File" {
        if let Some(hunk) = hunks.last_mut() {
            hunk.at_end = true;
        }
        return Ok(());
    }
    if let Some(anchor) = line.strip_prefix("@@") {
        let anchor = anchor.trim_start_matches(' ').trim_end();
        let anchor = (!anchor.is_empty()).then(|| anchor.to_owned());
        hunks.push(Hunk { anchor, ..Hunk::default() });
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let line = match line.chars().next() {
        None => Line::Keep(String::new()),
        Some(' ') => Line::Keep(line[1..].to_owned()),
        Some('-') => Line::Remove(line[1..].to_owned()),
        Some('+') => Line::Add(line[1..].to_owned()),
        Some(_) => return Err(format!("a line of a change begins with none of blank, + and -: {line}")),
    };
    if let Some(hunk) = hunks.last_mut() {
        hunk.lines.push(line);
    }
    Ok(())
}
