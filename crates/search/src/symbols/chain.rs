//! What stands in front of a called name, written the same way in every language: `a.b().c[]`.
//!
//! Arguments, type arguments and blanks are left out, `->` and `::` are dots, `?` and `await` are steps of their
//! own. The text is short enough to be stored with each call and says all that inference needs.

/// A longer chain says nothing that is worth its bytes.
const LONGEST: usize = 120;

/// One step of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// A name; the first one is looked up in its scope, the others in what is before them.
    Name(&'a str),
    /// What is before it is called.
    Call,
    /// An element of what is before it: `x[0]`, or the variable of a loop.
    Element,
    /// What is inside a result, an option or a future.
    Inside,
}

/// Writes an expression as a chain. `None` when it is none: an operator, a literal, something too long.
pub(crate) fn written(text: &str) -> Option<String> {
    written_with(text, false)
}

/// The same in a language whose names can have a `$`: elsewhere it only marks a variable.
pub(crate) fn written_with(text: &str, dollars: bool) -> Option<String> {
    let mut rest = text.trim();
    // What only changes how a value is held.
    loop {
        let before = rest;
        for prefix in ["await ", "new ", "yield ", "&mut ", "&", "*", "mut ", "ref "] {
            rest = rest.strip_prefix(prefix).unwrap_or(rest).trim_start();
        }
        if let Some(inner) = rest.strip_prefix('(')
            && closes_at_end(rest)
        {
            rest = inner.get(..inner.len() - 1)?.trim();
        }
        if rest == before {
            break;
        }
    }
    // Go's `new(T)` is a value of T.
    if let Some(inner) = rest.strip_prefix("new(")
        && inner.starts_with(|c: char| c.is_uppercase())
        && let Some(end) = inner.find(')')
        && inner[..end].chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    {
        return written_with(&format!("{}(){}", &inner[..end], &inner[end + 1..]), dollars);
    }
    let mut out = String::new();
    // `(await f()).x`: what is in brackets is a chain of its own.
    if rest.starts_with('(') {
        let length = balanced(rest)?;
        out = written_with(rest.get(1..length - 1)?, dollars)?;
        rest = rest.get(length..)?;
    }
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#') => {
                if out.ends_with([')', ']']) || (out.is_empty() && c.is_ascii_digit()) {
                    return None;
                }
                // Two words with a blank between them are no chain: `a as B`, `x if y`.
                let glued = at == 0
                    || rest[..at].ends_with(|c: char| !c.is_whitespace())
                    || out.is_empty()
                    || out.ends_with('.');
                if !glued {
                    return None;
                }
                if c != '$' || dollars {
                    out.push(c);
                }
            }
            '(' | '[' => {
                let length = balanced(&rest[at..])?;
                if out.is_empty() || out.ends_with('.') {
                    return None;
                }
                out.push_str(if c == '(' { "()" } else { "[]" });
                skip(&mut chars, at + length);
            }
            // Type arguments, when they close before anything else happens.
            '<' => {
                let length = type_arguments(&rest[at..])?;
                skip(&mut chars, at + length);
            }
            '.' => push_dot(&mut out),
            ':' | '-' => {
                let second = if c == ':' { ':' } else { '>' };
                match chars.peek() {
                    Some((_, next)) if *next == second => {
                        chars.next();
                        push_dot(&mut out);
                    }
                    _ => return None,
                }
            }
            '\\' => push_dot(&mut out),
            '?' if !out.is_empty() && !out.ends_with('.') => out.push_str(".?"),
            // TypeScript's "is there", Rust's macro.
            '!' if !out.is_empty() => {}
            '{' if !out.is_empty() => {
                // A value of a type: `Server{…}`.
                return (rest.trim_end().ends_with('}') && out.len() < LONGEST).then(|| out + "()");
            }
            c if c.is_whitespace() => {}
            _ => return None,
        }
        if out.len() > LONGEST {
            return None;
        }
    }
    let out = out.trim_end_matches('.');
    (!out.is_empty()).then(|| out.to_owned())
}

/// The steps of a written chain.
pub(crate) fn steps(chain: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in chain.split('.') {
        let name = part.trim_end_matches(['(', ')', '[', ']']);
        match name {
            "" => {}
            "?" | "await" => steps.push(Step::Inside),
            name => steps.push(Step::Name(name)),
        }
        let mut tail = &part[name.len()..];
        while !tail.is_empty() {
            if let Some(next) = tail.strip_prefix("()") {
                steps.push(Step::Call);
                tail = next;
            } else if let Some(next) = tail.strip_prefix("[]") {
                steps.push(Step::Element);
                tail = next;
            } else {
                break;
            }
        }
    }
    steps
}

fn push_dot(out: &mut String) {
    if !out.is_empty() && !out.ends_with('.') {
        out.push('.');
    }
}

fn skip(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>, to: usize) {
    while chars.peek().is_some_and(|(at, _)| *at < to) {
        chars.next();
    }
}

/// How many bytes from an opening bracket to its end. Strings are passed over, so that their brackets do not count.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '"' | '`' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}

fn type_arguments(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            c if c.is_alphanumeric() || " ,_.:&'[]*|".contains(c) => {}
            _ => return None,
        }
    }
    None
}

fn closes_at_end(text: &str) -> bool {
    balanced(text) == Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(written(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn chains_are_written_alike_in_every_language() {
        check("a.b", Some("a.b"));
        check("self.store.get(key, 1)?.items", Some("self.store.get().?.items"));
        check("Foo::<T>::new(x)", Some("Foo.new()"));
        check("head->ops", Some("head.ops"));
        check("$this->server", Some("this.server"));
        check("App\\Log", Some("App.Log"));
        check("items[i + 1].name", Some("items[].name"));
        check("new Worker(n)", Some("Worker()"));
        check("(await open(\")\")).file!", Some("open().file"));
        check("&Server{port: 1}", Some("Server()"));
        check("builder\n    .name(\"x\")\n    .size(2)", Some("builder.name().size()"));
        check("a?.b", Some("a.?.b"));
        check("new(Route).Path(\"/\")", Some("Route().Path()"));
        check("crate::net::log", Some("crate.net.log"));
        assert_eq!(written_with("core.$make(x)", true).as_deref(), Some("core.$make()"));
    }

    #[test]
    fn what_is_no_chain_is_left_out() {
        check("a + b", None);
        check("\"text\"", None);
        check("1", None);
        check("x as Foo", None);
        check("if x { a } else { b }", None);
        check("(a)(b", None);
        check("", None);
    }

    #[test]
    fn steps_say_what_is_done() {
        use Step::{Call, Element, Inside, Name};
        assert_eq!(steps("a.b().?.c[]"), [Name("a"), Name("b"), Call, Inside, Name("c"), Element]);
    }
}
