//! Where a symbol stands in its text, and how a text is put in its place, before it, behind it, or nowhere.
//!
//! Servers differ in what belongs to a symbol: its comment and attributes, `export const` before a name, the comma behind
//! a member. Here whole lines count wherever nothing else stands on them.

use std::ops::Range;

/// What is done to a symbol.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    Replace(&'a str),
    InsertBefore(&'a str),
    InsertAfter(&'a str),
    Delete,
}

/// A symbol in its text, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) text: &'a str,
    /// All of it, as the server says.
    pub(super) range: Range<usize>,
    /// Where its name begins.
    pub(super) name_at: usize,
    pub(super) name: &'a str,
}

/// Returns what is replaced, and by what.
pub(super) fn change(place: &Place<'_>, change: Change<'_>) -> (Range<usize>, String) {
    let eol = if place.text.contains("\r\n") { "\r\n" } else { "\n" };
    let with_eol = |new: String| if eol == "\n" { new } else { new.replace("\r\n", "\n").replace('\n', eol) };
    let (range, new) = match change {
        Change::Replace(new) => place.replace(new.trim_matches(['\r', '\n'])),
        Change::InsertBefore(new) => place.insert_before(new.trim_matches(['\r', '\n'])),
        Change::InsertAfter(new) => place.insert_after(new.trim_matches(['\r', '\n'])),
        Change::Delete => (place.deleted(), String::new()),
    };
    (range, with_eol(new))
}

impl Place<'_> {
    fn replace(&self, new: &str) -> (Range<usize>, String) {
        let start = self.start();
        if !self.has_whole_lines() {
            return (start..self.range.end, new.trim().to_owned());
        }
        let before = &self.text[self.line_start(start)..start];
        // The name alone, as the server has it: what stands before it on the line stays.
        let begins_with_name = new.trim_start().starts_with(self.name);
        let (start, new) = if begins_with_name && !before.trim().is_empty() {
            (start, new.trim_start().to_owned())
        } else {
            let first = new.trim_start();
            let from = if is_comment(first) {
                self.attached_start(|line| is_comment(line) || is_attribute(line))
            } else if is_attribute(first) {
                self.attached_start(is_attribute)
            } else {
                self.line_start(start)
            };
            (from, indented(new, self.indentation()))
        };
        // A comma or semicolon that the new text brings along replaces the one that is there.
        let behind = &self.text[self.range.end..self.line_end(self.range.end)];
        let mark = behind.chars().next().filter(|c| [',', ';'].contains(c) && new.trim_end().ends_with(*c));
        (start..self.range.end + mark.map_or(0, char::len_utf8), new.trim_end().to_owned())
    }

    fn insert_before(&self, new: &str) -> (Range<usize>, String) {
        let indentation = self.indentation();
        if !self.has_whole_lines() {
            let at = self.start();
            return (at..at, format!("{}\n{indentation}", new.trim()));
        }
        let at = self.attached_start(|line| is_comment(line) || is_attribute(line));
        (at..at, format!("{}\n{}", indented(new, indentation), self.gap(new)))
    }

    fn insert_after(&self, new: &str) -> (Range<usize>, String) {
        let indentation = self.indentation();
        if !self.has_whole_lines() {
            let at = self.range.end;
            return (at..at, format!("\n{indentation}{}", new.trim()));
        }
        let at = self.line_end(self.range.end);
        (at..at, format!("\n{}{}", self.gap(new), indented(new, indentation)))
    }

    fn deleted(&self) -> Range<usize> {
        if !self.has_whole_lines() {
            return self.start()..self.range.end;
        }
        let start = self.attached_start(|line| is_comment(line) || is_attribute(line));
        let end = self.next_line(self.range.end);
        let is_blank =
            |from: usize| from < self.text.len() && self.text[from..self.line_end(from)].trim().is_empty();
        let before = start.checked_sub(1).map(|at| self.line_start(at));
        // Two blank lines that meet, or one that would begin or end the file, become one less.
        match before {
            None if is_blank(end) => start..self.next_line(end),
            Some(before) if is_blank(before) && is_blank(end) => start..self.next_line(end),
            Some(before) if is_blank(before) && end >= self.text.len() => before..end,
            _ => start..end,
        }
    }

    /// Where its definition begins, behind comments and attributes that the server counts in.
    fn start(&self) -> usize {
        let mut at = self.range.start;
        let (mut in_comment, mut n_open) = (false, 0_usize);
        while self.line_end(at) < self.name_at {
            let line = self.text[at..self.line_end(at)].trim();
            let begins_comment = line.starts_with("/*");
            let is_attached =
                in_comment || n_open > 0 || is_comment(line) || is_attribute(line) || line.is_empty();
            if !is_attached {
                break;
            }
            in_comment = (in_comment || begins_comment) && !line.ends_with("*/");
            // An attribute may take several lines.
            if n_open > 0 || is_attribute(line) {
                n_open = (n_open + line.matches(['(', '[']).count())
                    .saturating_sub(line.matches([')', ']']).count());
            }
            let next = self.next_line(at);
            at = next + (self.text[next..].len() - self.text[next..].trim_start_matches([' ', '\t']).len());
        }
        at
    }

    /// The start of the first of the lines directly above that belong to it.
    fn attached_start(&self, belongs: impl Fn(&str) -> bool) -> usize {
        let mut start = self.line_start(self.start());
        while let Some(above) = start.checked_sub(1).map(|at| self.line_start(at)) {
            if !belongs(self.text[above..start].trim()) {
                break;
            }
            start = above;
        }
        start
    }

    /// Tells whether nothing else stands on its lines: before it words only (`export const`), behind it a mark or a comment.
    fn has_whole_lines(&self) -> bool {
        let start = self.start();
        let before = &self.text[self.line_start(start)..start];
        let behind =
            self.text[self.range.end..self.line_end(self.range.end)].trim_start_matches([';', ',']).trim();
        before.chars().all(|c| c.is_alphanumeric() || " \t_()".contains(c))
            && (behind.is_empty() || is_comment(behind))
    }

    /// An empty line between two definitions of which one has several lines.
    fn gap(&self, new: &str) -> &'static str {
        let own = &self.text[self.start()..self.range.end];
        if own.contains('\n') || new.contains('\n') { "\n" } else { "" }
    }

    fn indentation(&self) -> &str {
        let line = &self.text[self.line_start(self.start())..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Where the line ends, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline);
        if end > at && self.text[..end].ends_with('\r') { end - 1 } else { end }
    }

    fn next_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "*/", "* ", "# ", "-- "].iter().any(|mark| line.starts_with(mark))
        || ["*", "#", "--"].contains(&line)
}

fn is_attribute(line: &str) -> bool {
    line.starts_with('@') || line.starts_with("#[")
}

/// Indents a text that begins at the margin like the symbol it goes to. Lines that are so already stay.
fn indented(new: &str, indentation: &str) -> String {
    let begins_at_margin = !new.starts_with([' ', '\t']);
    if indentation.is_empty() || !begins_at_margin {
        return new.to_owned();
    }
    let width = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let rest = || new.lines().skip(1).filter(|line| !line.trim().is_empty());
    let closes = |line: &str| line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
    // Whoever copies a symbol from its first character leaves out the indentation of its first line only: then its body is
    // deeper than where it goes to, or its last line closes it just there.
    let only_first = rest().map(width).min().is_some_and(|least| {
        least > indentation.len() || (least == indentation.len() && rest().last().is_some_and(closes))
    });
    let mut lines = Vec::new();
    for (n, line) in new.lines().enumerate() {
        let as_it_is = line.trim().is_empty() || (only_first && n > 0);
        lines.push(if as_it_is { line.to_owned() } else { format!("{indentation}{line}") });
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The symbol stands between `«` and `»`; `‹` is before its name.
    #[track_caller]
    fn check(marked: &str, name: &str, what: Change<'_>, expected: &str) {
        let name_at = marked.replace(['«', '»'], "").find('‹').unwrap();
        let without_name = marked.replace('‹', "");
        let start = without_name.find('«').unwrap();
        let end = without_name.replace('«', "").find('»').unwrap();
        let text = without_name.replace(['«', '»'], "");
        let place = Place { text: &text, range: start..end, name_at, name };
        let (range, new) = change(&place, what);
        let mut after = text.clone();
        after.replace_range(range, &new);
        assert_eq!(after, expected);
    }

    const METHOD: &str = "class A {\n  // what it is\n  «‹add() {\n    return 1;\n  }»\n\n  last() {}\n}\n";

    #[test]
    fn a_method_is_replaced_and_indented_like_the_old_one() {
        let expected = "class A {\n  // what it is\n  add(n) {\n    return n;\n  }\n\n  last() {}\n}\n";
        check(METHOD, "add", Change::Replace("add(n) {\n  return n;\n}"), expected);
        check(METHOD, "add", Change::Replace("  add(n) {\n    return n;\n  }\n"), expected);
        check(METHOD, "add", Change::Replace("add(n) {\n    return n;\n  }"), expected);
        // One that brings its comment along replaces the old one.
        let with_comment = "class A {\n  // new\n  add() {}\n\n  last() {}\n}\n";
        check(METHOD, "add", Change::Replace("// new\nadd() {}"), with_comment);
    }

    #[test]
    fn a_body_without_a_closing_line_is_indented_with_its_head() {
        let text = "class A:\n    «def ‹a(self):\n        return 1»\n";
        let expected = "class A:\n    def a(self):\n        return 2\n";
        check(text, "a", Change::Replace("def a(self):\n    return 2"), expected);
        check(text, "a", Change::Replace("def a(self):\n        return 2"), expected);
    }

    #[test]
    fn what_the_server_leaves_out_of_a_definition_belongs_to_it() {
        let text = "export const «‹f = () => 1»;\nnext\n";
        check(text, "f", Change::Replace("export const f = () => 2;"), "export const f = () => 2;\nnext\n");
        check(text, "f", Change::Replace("f = () => 2"), "export const f = () => 2;\nnext\n");
        check(text, "f", Change::Replace("const f = 3"), "const f = 3;\nnext\n");
        check(text, "f", Change::Delete, "next\n");
        check(
            "enum E {\n  «‹A = 1»,\n  B,\n}\n",
            "A",
            Change::Replace("A = 2"),
            "enum E {\n  A = 2,\n  B,\n}\n",
        );
        check(
            "enum E {\n  «‹A = 1»,\n  B,\n}\n",
            "A",
            Change::Replace("A = 2,"),
            "enum E {\n  A = 2,\n  B,\n}\n",
        );
    }

    #[test]
    fn comments_and_attributes_that_the_server_counts_in_stay_unless_new_ones_come() {
        let text = "«/// 漢字 🐻\n#[derive(\n    Debug,\n)]\nfn ‹f() {}»\n";
        check(
            text,
            "f",
            Change::Replace("fn f() -> u8 { 1 }"),
            "/// 漢字 🐻\n#[derive(\n    Debug,\n)]\nfn f() -> u8 { 1 }\n",
        );
        check("«/// old\nfn ‹f() {}»\n", "f", Change::Replace("/// new\nfn f() {}"), "/// new\nfn f() {}\n");
        check(
            "/** old */\n«@dec\ndef ‹f(): pass»\n",
            "f",
            Change::Replace("@new\ndef f(): pass"),
            "/** old */\n@new\ndef f(): pass\n",
        );
    }

    #[test]
    fn a_text_is_put_before_the_comment_and_behind_the_end() {
        let before =
            "class A {\n  sub() {}\n\n  // what it is\n  add() {\n    return 1;\n  }\n\n  last() {}\n}\n";
        check(METHOD, "add", Change::InsertBefore("sub() {}"), before);
        let after =
            "class A {\n  // what it is\n  add() {\n    return 1;\n  }\n\n  sub() {}\n\n  last() {}\n}\n";
        check(METHOD, "add", Change::InsertAfter("sub() {}\n"), after);
        check("«‹A» = 1\nB = 2\n", "A", Change::Replace("x"), "x = 1\nB = 2\n");
        check("«‹a = 1»\nb = 2\n", "a", Change::InsertAfter("c = 3"), "a = 1\nc = 3\nb = 2\n");
        check("«‹a = 1»", "a", Change::InsertAfter("c = 3"), "a = 1\nc = 3");
    }

    #[test]
    fn a_deleted_symbol_takes_its_comment_and_one_empty_line_along() {
        check(METHOD, "add", Change::Delete, "class A {\n\n  last() {}\n}\n");
        check("a\n\n// of b\n«‹b»\n\nc\n", "b", Change::Delete, "a\n\nc\n");
        check("a\n\n«‹b»\n", "b", Change::Delete, "a\n");
        check("«‹a»\n\nb\n", "a", Change::Delete, "b\n");
    }

    #[test]
    fn what_shares_its_line_is_changed_alone() {
        check(
            "class A { «‹f() {}» g() {} }\n",
            "f",
            Change::Replace("f(n) {}"),
            "class A { f(n) {} g() {} }\n",
        );
        check("class A { «‹f() {}» g() {} }\n", "f", Change::Delete, "class A {  g() {} }\n");
        check("let «‹a = 1», b = 2;\n", "a", Change::Replace("a = 3"), "let a = 3, b = 2;\n");
    }

    #[test]
    fn line_endings_are_those_of_the_file() {
        check("«‹a() {\r\n}»\r\nb\r\n", "a", Change::Replace("a() {\n  c\n}"), "a() {\r\n  c\r\n}\r\nb\r\n");
        check("«‹a»\r\nb\r\n", "a", Change::InsertAfter("x\ny"), "a\r\n\r\nx\r\ny\r\nb\r\n");
    }
}
