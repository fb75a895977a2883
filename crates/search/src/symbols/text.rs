//! Small readings of source text for the walk.

use tree_sitter::Node;

/// A child by its field. Some grammars name none, so that `#kind` is the first child of a kind, `<` the first of
/// several children and `>` the last; steps are joined with `/`.
pub(super) fn child<'a>(node: Node<'a>, path: &str) -> Option<Node<'a>> {
    let mut at = node;
    for step in path.split('/') {
        let count = at.named_child_count();
        at = match step {
            "<" => at.named_child(0).filter(|_| count > 1)?,
            ">" => at.named_child(u32::try_from(count.checked_sub(1)?).ok()?)?,
            _ => match step.strip_prefix('#') {
                Some(kind) => {
                    let mut cursor = at.walk();
                    at.named_children(&mut cursor).find(|child| child.kind() == kind)?
                }
                None => at.child_by_field_name(step)?,
            },
        };
    }
    Some(at)
}

/// Of a call that defines something (`def run(n) when … do`) the part with the name: `run(n)`.
pub(super) fn keyword_head(node: Node<'_>) -> Option<Node<'_>> {
    let first = child(node, "#arguments")?.named_child(0)?;
    if first.kind() == "binary_operator" { first.child_by_field_name("left") } else { Some(first) }
}

/// The called name without type arguments, when it is a name at all.
pub(super) fn plain_name(text: &str) -> Option<String> {
    let name = text.split('<').next().unwrap_or(text).trim();
    let name = name.rsplit(['.', '\\', ':']).next().unwrap_or(name);
    let is_name = !name.is_empty()
        && name.len() <= 120
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '!' | '?' | '-' | '#' | '@' | '='))
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    // A dot command of the shell is a name too.
    (is_name || text == ".").then(|| if text == "." { text.to_owned() } else { name.to_owned() })
}

/// The first argument of a call when it is a literal: `require('x')`, `source lib.sh`.
pub(super) fn first_string(call: &str, name: &str) -> Option<String> {
    let arguments = call.get(call.find(name)? + name.len()..)?;
    let arguments = arguments.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let word: String = match arguments.chars().next()? {
        quote @ ('"' | '\'' | '`') => arguments[1..].chars().take_while(|c| *c != quote).collect(),
        _ => arguments.chars().take_while(|c| !c.is_whitespace() && *c != ')' && *c != ';').collect(),
    };
    (!word.is_empty() && !word.contains('$')).then_some(word)
}

pub(super) fn is_capitals(name: &str) -> bool {
    name.len() > 1
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// One line without runs of blanks, cut at a number of characters.
pub(super) fn squeeze(text: &str, limit: usize) -> String {
    // Whatever is cut away need not be looked at: a name can be a megabyte long.
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > limit * 4 {
            break;
        }
    }
    match out.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &out[..at]),
        None => out,
    }
}

/// The last row with text of the node: a node that ends with a newline ends before the row it opens.
pub(super) fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 { end.row.saturating_sub(1).max(node.start_position().row) } else { end.row }
}

pub(super) fn line_of(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}
