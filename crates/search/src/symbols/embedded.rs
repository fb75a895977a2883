//! Scripts inside of pages: a Vue, Svelte or HTML file is read as its `<script>` parts.
//!
//! No grammar of the page is needed for that: everything else is blanked, so that lines and bytes stay where they are.

/// The text with everything but its scripts blanked.
pub(super) fn scripts(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((open, close)) = next_script(&lower, at) {
        blank(&mut out, &text[at..open]);
        out.push_str(&text[open..close]);
        at = close;
    }
    blank(&mut out, &text[at..]);
    out
}

/// Where the next script's own text begins and ends, from a byte on.
fn next_script(lower: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let tag = at + lower[at..].find("<script")?;
        // What is commented out is not run.
        if let Some(comment) = lower[at..tag].rfind("<!--") {
            let begun = at + comment;
            let end = lower[begun..].find("-->")? + begun;
            if end > tag {
                at = end;
                continue;
            }
        }
        let attributes = tag + "<script".len();
        let open = attributes + tag_end(&lower[attributes..])?;
        let close = open + lower[open..].find("</script").unwrap_or(lower.len() - open);
        let is_tag = lower[attributes..].starts_with(|c: char| c.is_whitespace() || c == '>');
        if is_tag && is_code(&lower[attributes..open]) {
            return Some((open, close));
        }
        at = close;
    }
}

/// How far a tag's attributes go, with its bracket; brackets in quotes are none.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => return Some(at + 1),
            None => {}
        }
    }
    None
}

/// A script of another type is data: JSON, shaders, templates.
fn is_code(attributes: &str) -> bool {
    let Some((_, value)) = attributes.split_once("type=") else { return true };
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(['"', '\'', ' ', '>']).unwrap_or(value.len());
    let value = &value[..end];
    value.is_empty()
        || value == "module"
        || ["javascript", "typescript", "ecmascript", "babel", "jsx"].iter().any(|word| value.contains(word))
}

fn blank(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            c => out.extend(std::iter::repeat_n(' ', c.len_utf8())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scripts;

    #[test]
    fn only_scripts_are_left_and_every_line_stays() {
        let page = "<p>é</p>\n<!-- <script>old()</script> -->\n<SCRIPT setup generic=\"T extends A<B>\">\nrun();\n</SCRIPT>\n<script type=\"application/json\">{}</script>\n<scripted>x</scripted>\n<script type=module>go()</script>";
        let left = scripts(page);
        assert_eq!(left.len(), page.len());
        assert_eq!(left.lines().count(), page.lines().count());
        let words: Vec<(usize, &str)> =
            left.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
        assert_eq!(
            words.iter().map(|(at, line)| (*at, line.trim())).collect::<Vec<_>>(),
            [(3, "run();"), (7, "go()")]
        );
    }

    #[test]
    fn a_script_that_does_not_end_goes_to_the_end() {
        assert_eq!(scripts("<script>\nrun()").trim(), "run()");
        assert_eq!(scripts("<script").trim(), "");
        assert_eq!(scripts("<!-- <script>x</script>").trim(), "");
    }
}
