//! Text from a language server, made safe to stand inside our blocks.

/// Flattens a message to one line: every run of line breaks, tabs and blanks becomes one blank.
///
/// Control characters are dropped, so that a message cannot move the reader's cursor.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let clean: String = word.chars().filter(|c| !c.is_control()).collect();
        if clean.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&clean);
    }
    line
}

/// Escapes `&`, `<` and `>`, the ampersand first so that nothing is escaped twice.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Makes a path safe between the quotes of `file="…"`: a file name must not be able to end the block.
pub fn path_attribute(path: &str) -> String {
    path.chars()
        .map(|c| match c {
            '"' => "&quot;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EC-16, REQ-FMT-040
    #[test]
    fn angle_brackets_and_ampersands_are_escaped_once() {
        assert_eq!(escape("Array<string> & 'a&amp;b'"), "Array&lt;string&gt; &amp; 'a&amp;amp;b'");
    }

    #[test]
    fn a_message_of_several_lines_becomes_one() {
        assert_eq!(
            one_line("  Type 'a'\n\tis not\r\n\r\nassignable \u{1b}[31mred "),
            "Type 'a' is not assignable [31mred"
        );
        assert_eq!(one_line("\u{7}\n"), "");
    }

    #[test]
    fn a_file_name_cannot_end_its_block() {
        assert_eq!(path_attribute("a\"><b>\n.ts"), "a&quot;&gt;&lt;b&gt;\\n.ts");
        assert_eq!(path_attribute("Größe & Maß/a b.ts"), "Größe & Maß/a b.ts");
    }
}
