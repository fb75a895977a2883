//! File changes as hunks with intra-line marks: for a call that has run what a person would read, for a question all of it.

use std::time::Duration;

use chartroom_protocol::upsert::{DiffHunk, DiffLine, DiffLineKind, DiffSpan, FileDiff};
use chartroom_transport::aside;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::json::{list, number, text};

/// Lines of all hunks together that are sent to the page; the counts are always of the whole change.
const MAX_LINES: usize = 1_000;
/// A longer line is cut: nobody reads the rest, and a minified file has one line of a megabyte.
const MAX_LINE_CHARS: usize = 2_000;
/// Texts above this are not compared, only counted: the page must not wait for a 4 MB change.
const MAX_COMPARED_BYTES: usize = 2_000_000;
const CONTEXT_LINES: usize = 3;
/// Up to here a question carries all lines of a change; beyond it they would only double the arguments.
const MAX_WHOLE_LINES: usize = 2_000;
const MAX_WHOLE_BYTES: usize = 256 * 1024;
const TIME_LIMIT: Duration = Duration::from_millis(100);

/// Compares two texts of one file.
pub(crate) fn between(path: &str, old: &str, new: &str) -> FileDiff {
    if old.len() + new.len() > MAX_COMPARED_BYTES {
        let (added, removed) = (line_count(new), line_count(old));
        return FileDiff { path: path.to_owned(), added, removed, hunks: Vec::new(), truncated: true };
    }
    let mut hunks = hunks(old, new, CONTEXT_LINES);
    for (_, line) in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        line.truncate(line.trim_end_matches('\r').len());
    }
    finish(path, hunks)
}

/// Compares two texts for a question: each line of both as it is, those that stay the same too, so that nothing is
/// approved unseen. A change that is too long for that has no hunks, and the page draws it from the arguments.
pub(crate) fn whole(path: &str, old: &str, new: &str) -> FileDiff {
    let (added, removed) = (line_count(new), line_count(old));
    if old.len() + new.len() > MAX_WHOLE_BYTES || (added + removed) as usize > MAX_WHOLE_LINES {
        return FileDiff { path: path.to_owned(), added, removed, hunks: Vec::new(), truncated: true };
    }
    let hunks = hunks(old, new, MAX_WHOLE_LINES);
    FileDiff {
        path: path.to_owned(),
        added: count(&hunks, DiffLineKind::Added),
        removed: count(&hunks, DiffLineKind::Removed),
        hunks: hunks.iter().map(Hunk::marked).collect(),
        truncated: false,
    }
}

fn hunks(old: &str, new: &str, context_lines: usize) -> Vec<Hunk> {
    aside(old.len() + new.len(), || compared(old, new, context_lines))
}

fn compared(old: &str, new: &str, context_lines: usize) -> Vec<Hunk> {
    let diff = TextDiff::configure().timeout(TIME_LIMIT).diff_lines(old, new);
    diff.grouped_ops(context_lines)
        .iter()
        .map(|group| {
            let (old_start, new_start) =
                group.first().map_or((0, 0), |op| (op.old_range().start, op.new_range().start));
            let lines = group
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .map(|change| {
                    let kind = match change.tag() {
                        ChangeTag::Equal => DiffLineKind::Context,
                        ChangeTag::Delete => DiffLineKind::Removed,
                        ChangeTag::Insert => DiffLineKind::Added,
                    };
                    let line = change.value();
                    (kind, line.strip_suffix('\n').unwrap_or(line).to_owned())
                })
                .collect();
            Hunk { old_start: old_start + 1, new_start: new_start + 1, lines }
        })
        .collect()
}

/// Reads the hunks that Claude computed: `[{oldStart, newStart, lines: [" a", "-b", "+c"]}]`.
pub(crate) fn from_structured_patch(path: &str, patch: &Value) -> FileDiff {
    let hunks = list(patch, "")
        .iter()
        .map(|hunk| Hunk {
            old_start: number(hunk, "/oldStart").unwrap_or(1) as usize,
            new_start: number(hunk, "/newStart").unwrap_or(1) as usize,
            lines: list(hunk, "/lines")
                .iter()
                .filter_map(Value::as_str)
                // "\ No newline at end of file" is no line.
                .filter(|line| !line.starts_with('\\'))
                .map(|line| match line.split_at_checked(1) {
                    Some(("+", rest)) => (DiffLineKind::Added, rest.to_owned()),
                    Some(("-", rest)) => (DiffLineKind::Removed, rest.to_owned()),
                    Some((" ", rest)) => (DiffLineKind::Context, rest.to_owned()),
                    _ => (DiffLineKind::Context, line.to_owned()),
                })
                .collect(),
        })
        .collect();
    finish(path, hunks)
}

struct Hunk {
    old_start: usize,
    new_start: usize,
    lines: Vec<(DiffLineKind, String)>,
}

impl Hunk {
    fn marked(&self) -> DiffHunk {
        DiffHunk {
            old_start: self.old_start as u32,
            new_start: self.new_start as u32,
            lines: mark(&self.lines),
        }
    }
}

fn count(hunks: &[Hunk], kind: DiffLineKind) -> u32 {
    hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(line, _)| *line == kind).count() as u32
}

fn finish(path: &str, hunks: Vec<Hunk>) -> FileDiff {
    let added = count(&hunks, DiffLineKind::Added);
    let removed = count(&hunks, DiffLineKind::Removed);
    if is_lockfile(path) {
        return FileDiff { path: path.to_owned(), added, removed, hunks: Vec::new(), truncated: true };
    }
    let mut left = MAX_LINES;
    let mut truncated = false;
    let mut kept = Vec::new();
    for mut hunk in hunks {
        if left == 0 {
            truncated = true;
            break;
        }
        truncated |= hunk.lines.len() > left;
        hunk.lines.truncate(left);
        left -= hunk.lines.len();
        for (_, line) in &mut hunk.lines {
            if let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARS) {
                line.truncate(end);
                line.push('…');
            }
        }
        kept.push(hunk.marked());
    }
    FileDiff { path: path.to_owned(), added, removed, hunks: kept, truncated }
}

/// Marks what changed within lines: a run of removed lines followed by as many added ones is compared in pairs.
fn mark(lines: &[(DiffLineKind, String)]) -> Vec<DiffLine> {
    let mut marked: Vec<DiffLine> = Vec::with_capacity(lines.len());
    let mut index = 0;
    while index < lines.len() {
        let run = |from: usize, kind| lines[from..].iter().take_while(|(line, _)| *line == kind).count();
        let removed = run(index, DiffLineKind::Removed);
        let added = run(index + removed, DiffLineKind::Added);
        if removed > 0 && removed == added {
            let (old, new) =
                (&lines[index..index + removed], &lines[index + removed..index + removed + added]);
            let pairs: Vec<_> = old.iter().zip(new).map(|((_, old), (_, new))| spans(old, new)).collect();
            let (old, new): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            marked.extend(old.into_iter().map(|spans| DiffLine { kind: DiffLineKind::Removed, spans }));
            marked.extend(new.into_iter().map(|spans| DiffLine { kind: DiffLineKind::Added, spans }));
            index += removed + added;
            continue;
        }
        let (kind, line) = &lines[index];
        marked.push(DiffLine { kind: *kind, spans: plain(line) });
        index += 1;
    }
    marked
}

fn spans(old: &str, new: &str) -> (Vec<DiffSpan>, Vec<DiffSpan>) {
    if old.len() + new.len() > 2 * MAX_LINE_CHARS {
        return (plain(old), plain(new));
    }
    let diff = TextDiff::configure().timeout(TIME_LIMIT).diff_words(old, new);
    let (mut old_spans, mut new_spans) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut old_spans, change.value(), false);
                push(&mut new_spans, change.value(), false);
            }
            ChangeTag::Delete => push(&mut old_spans, change.value(), true),
            ChangeTag::Insert => push(&mut new_spans, change.value(), true),
        }
    }
    // Lines that have nothing in common are better without marks than all marked.
    let unlike = |spans: &[DiffSpan]| spans.iter().all(|span| span.changed || span.text.trim().is_empty());
    if unlike(&old_spans) && unlike(&new_spans) {
        return (plain(old), plain(new));
    }
    (old_spans, new_spans)
}

fn push(spans: &mut Vec<DiffSpan>, text: &str, changed: bool) {
    match spans.last_mut() {
        Some(last) if last.changed == changed => last.text.push_str(text),
        _ => spans.push(DiffSpan { text: text.to_owned(), changed }),
    }
}

fn plain(line: &str) -> Vec<DiffSpan> {
    vec![DiffSpan { text: line.to_owned(), changed: false }]
}

fn line_count(content: &str) -> u32 {
    content.lines().count() as u32
}

fn is_lockfile(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let known = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "Cargo.lock",
        "poetry.lock",
        "uv.lock",
        "Pipfile.lock",
        "composer.lock",
        "Gemfile.lock",
        "go.sum",
        "flake.lock",
    ];
    known.contains(&name)
}

/// Returns the path that a change names, for agents that put it in different places.
pub(crate) fn path_of<'a>(value: &'a Value, fields: &[&str]) -> &'a str {
    fields.iter().map(|field| text(value, field)).find(|path| !path.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    /// Prints a diff as a person would read it; changed spans are in brackets.
    fn print(diff: &FileDiff) -> String {
        let mut out = format!(
            "{} +{} -{}{}\n",
            diff.path,
            diff.added,
            diff.removed,
            if diff.truncated { " …" } else { "" }
        );
        for hunk in &diff.hunks {
            out.push_str(&format!("@@ -{} +{}\n", hunk.old_start, hunk.new_start));
            for line in &hunk.lines {
                out.push(match line.kind {
                    DiffLineKind::Context => ' ',
                    DiffLineKind::Added => '+',
                    DiffLineKind::Removed => '-',
                });
                for span in &line.spans {
                    if span.changed {
                        out.push_str(&format!("[{}]", span.text))
                    } else {
                        out.push_str(&span.text)
                    }
                }
                out.push('\n');
            }
        }
        out
    }

    #[track_caller]
    fn check(diff: FileDiff, expected: Expect) {
        expected.assert_eq(&print(&diff));
    }

    #[test]
    fn a_changed_line_is_marked_within_the_line() {
        check(
            between("a.rs", "fn a() {\n    let x = 1;\n}\n", "fn a() {\n    let y = 1;\n}\n"),
            expect![[r#"
                a.rs +1 -1
                @@ -1 +1
                 fn a() {
                -    let [x] = 1;
                +    let [y] = 1;
                 }
            "#]],
        );
    }

    #[test]
    fn lines_with_nothing_in_common_are_not_marked() {
        check(
            between("a", "one\n", "two\n"),
            expect![[r#"
            a +1 -1
            @@ -1 +1
            -one
            +two
        "#]],
        );
    }

    #[test]
    fn a_new_file_is_all_added() {
        check(
            between("new.txt", "", "x\ny"),
            expect![[r#"
            new.txt +2 -0
            @@ -1 +1
            +x
            +y
        "#]],
        );
    }

    #[test]
    fn a_structured_patch_keeps_its_line_numbers() {
        let patch = json!([{"oldStart": 10, "newStart": 11, "lines": [" keep", "-old word", "+new word", "\\ No newline at end of file"]}]);
        check(
            from_structured_patch("a.txt", &patch),
            expect![[r#"
            a.txt +1 -1
            @@ -10 +11
             keep
            -[old] word
            +[new] word
        "#]],
        );
    }

    #[test]
    fn a_lockfile_is_folded_to_its_counts() {
        check(
            between("ui/package-lock.json", "a\nb\n", "a\nc\nd\n"),
            expect![[r#"
            ui/package-lock.json +2 -1 …
        "#]],
        );
    }

    #[test]
    fn a_large_change_is_cut_but_counted_in_full() {
        let new: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
        let diff = between("big.txt", "", &new);
        assert_eq!((diff.added, diff.removed, diff.truncated), (5_000, 0, true));
        assert_eq!(diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MAX_LINES);
    }

    #[test]
    fn a_change_of_four_megabytes_is_counted_without_comparing() {
        let big = "x".repeat(99) + "\n";
        let new = big.repeat(40_000);
        let diff = between("big.txt", "", &new);
        assert_eq!((diff.added, diff.hunks.len(), diff.truncated), (40_000, 0, true));
    }

    #[test]
    fn an_endless_line_is_cut() {
        let diff = between("min.js", "", &"é".repeat(5_000));
        let text = &diff.hunks[0].lines[0].spans[0].text;
        assert_eq!(text.chars().count(), MAX_LINE_CHARS + 1);
        assert!(text.ends_with('…'));
    }
}
