//! Replacing one text by another, exactly.

use crate::EditError;
use crate::nearest::nearest;
use crate::text::Text;

/// Replaces `old` by `new`; it must occur exactly once unless `all`. Returns how many were replaced.
pub(crate) fn replace(
    text: &mut Text,
    shown: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<usize, EditError> {
    if old.is_empty() {
        return Err(EditError::Arguments(
            "oldText is empty; use write_file to make a file, or name the text to replace".to_owned(),
        ));
    }
    if old == new {
        return Err(EditError::Arguments(
            "oldText and newText are the same; nothing would change".to_owned(),
        ));
    }
    // A model writes plain line feeds; the file decides what they are.
    let (old, new) = if text.content.contains(old) {
        (old.to_owned(), text.adapt(new))
    } else {
        (text.adapt(old), text.adapt(new))
    };
    let count = text.content.matches(&old).count();
    if count == 0 {
        return Err(EditError::NotFound { path: shown.to_owned(), nearest: nearest(&text.content, &old) });
    }
    if count > 1 && !all {
        let lines: Vec<String> = text
            .content
            .match_indices(&old)
            .take(10)
            .map(|(at, _)| (text.content[..at].matches('\n').count() + 1).to_string())
            .collect();
        return Err(EditError::Ambiguous { path: shown.to_owned(), count, lines: lines.join(", ") });
    }
    text.content = text.content.replace(&old, &new);
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, old: &str, new: &str, all: bool, expected: Result<&str, &str>) {
        let mut text = Text::of(content.to_owned());
        let result =
            replace(&mut text, "a.ts", old, new, all).map(|_| text.content).map_err(|e| e.to_string());
        assert_eq!(result.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn a_text_that_occurs_once_is_replaced() {
        check("a b c", "b", "x", false, Ok("a x c"));
        check("a b c", " b", "", false, Ok("a c"));
    }

    #[test]
    fn a_text_that_occurs_twice_needs_replace_all() {
        check(
            "b\nb",
            "b",
            "x",
            false,
            Err(
                "the text occurs 2 times in a.ts (lines 1, 2); give more of its surroundings, or set replaceAll",
            ),
        );
        check("b\nb", "b", "x", true, Ok("x\nx"));
    }

    #[test]
    fn line_endings_and_a_missing_final_newline_stay() {
        check("a\r\nb\r\nc", "a\nb", "a\nx\nb", false, Ok("a\r\nx\r\nb\r\nc"));
        check("a\nb", "b", "c\nd", false, Ok("a\nc\nd"));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        check(
            "let total = 1;\n",
            "let totl = 1;",
            "x",
            false,
            Err("the text was not found in a.ts; the nearest match is at line 1:\nlet total = 1;"),
        );
        check(
            "a",
            "",
            "x",
            false,
            Err("oldText is empty; use write_file to make a file, or name the text to replace"),
        );
        check("a", "a", "a", false, Err("oldText and newText are the same; nothing would change"));
    }
}
