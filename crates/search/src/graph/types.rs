//! A type as it is written: which names it has, and whether it is one of them or only holds one.

/// What a written type says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Written {
    /// Names of which a value is one, best first: `Foo | null`, `Box<Foo>`.
    pub(super) is: Vec<String>,
    /// Names of what it holds: `Vec<Foo>`, `map[string]Foo`, `Promise<Foo>`.
    pub(super) holds: Vec<String>,
}

/// Types that are used as what they point to.
const TRANSPARENT: &[&str] = &[
    "Box",
    "Arc",
    "Rc",
    "Pin",
    "Cow",
    "Ref",
    "RefMut",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Weak",
    "ManuallyDrop",
    "Optional",
    "Readonly",
    "Partial",
    "Required",
    "NonNullable",
    "NoInfer",
    "Omit",
    "Pick",
    "Awaited",
    "Final",
    "ClassVar",
    "Annotated",
    "unique_ptr",
    "shared_ptr",
    "weak_ptr",
    "Union",
    "InstanceType",
    "Lazy",
    "Self",
];

/// Words that are no types.
const WORDS: &[&str] = &[
    "impl",
    "dyn",
    "mut",
    "const",
    "readonly",
    "struct",
    "class",
    "enum",
    "union",
    "static",
    "final",
    "typename",
    "keyof",
    "typeof",
    "unsafe",
    "extern",
    "async",
    "ref",
    "out",
    "in",
    "is",
    "asserts",
    "null",
    "undefined",
    "None",
    "volatile",
    "unsigned",
    "signed",
    "inline",
    "constexpr",
    "auto",
    "var",
    "void",
];

/// The names of a type, in the order they are written. `&'a mut Arc<net::Server<T>>` is `net.Server`.
pub(super) fn read(text: &str) -> Written {
    let text = text.trim().trim_start_matches(':').trim_start_matches("->").trim();
    let text = text.trim_matches(|c| c == '"' || c == '\'');
    let mut written = Written::default();
    if text.len() > 200 || text.starts_with(['{', '(']) && (text.contains("=>") || text.starts_with('{')) {
        return written;
    }
    // Go's function types and Rust's are no receivers.
    if text.starts_with("func") && text[4..].starts_with('(') || text.starts_with("fn(") {
        return written;
    }
    // A list of results, Go's way: the first counts.
    let text = match text.strip_prefix('(') {
        Some(inner) => inner.split(',').next().unwrap_or(inner).trim_end_matches(')'),
        None => text,
    };
    let text = match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        // Named results of Go: `(conn *Conn, err error)`.
        [name, of] if name.chars().all(char::is_alphanumeric) && of.starts_with('*') => of,
        _ => text,
    };
    // `&'a mut [T]` is held as `[T]` is.
    let text = if text.starts_with('&') { behind_reference(text) } else { text };
    let mut depth = 0usize;
    // At which depth something is held, not pointed to.
    let mut held: Option<usize> = None;
    let mut last_was_map = false;
    let mut rest = text;
    if rest.starts_with('[')
        || rest.starts_with("map[")
        || rest.starts_with("chan ")
        || rest.starts_with("...")
    {
        held = Some(0);
        rest = if let Some(map) = rest.strip_prefix("map[") {
            map.split_once(']').map_or("", |(_, value)| value)
        } else {
            rest.trim_start_matches("chan ").trim_start_matches(['.', '['])
        };
    }
    if rest.ends_with("[]") {
        held = Some(0);
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '\\')))
            .unwrap_or(rest.len());
        if end == 0 {
            let c = rest.chars().next().unwrap_or(' ');
            if let Some(path) = rest.strip_prefix("::") {
                // The path goes on: what was read so far is its head.
                let list = if held.is_some() { &mut written.holds } else { &mut written.is };
                let tail = path.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(path.len());
                if tail > 0 {
                    match list.pop() {
                        Some(head) => list.push(format!("{head}.{}", &path[..tail])),
                        None => list.push(path[..tail].to_owned()),
                    }
                    let name = path[..tail].to_owned();
                    if TRANSPARENT.contains(&name.as_str()) {
                        list.pop();
                    }
                }
                rest = &path[tail..];
                continue;
            }
            match c {
                '<' | '[' => {
                    depth += 1;
                    let outer = if held.is_some() { None } else { written.is.last() };
                    if let Some(outer) = outer {
                        // A type with arguments that is not transparent: what follows is held by it.
                        held = Some(depth);
                        last_was_map = outer.ends_with("Map") || outer.eq_ignore_ascii_case("dict");
                    }
                }
                '>' | ']' => {
                    if held == Some(depth) && depth > 0 {
                        held = None;
                    }
                    depth = depth.saturating_sub(1);
                }
                ',' if last_was_map && depth == held.unwrap_or(0) => written.holds.clear(),
                // A lifetime is no name.
                '\'' => {
                    let name = &rest[1..];
                    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
                    rest = &name[end..];
                    continue;
                }
                // `Iterator<Item = Foo>`: the word says what is held.
                '=' if depth > 0 && !rest.starts_with("=>") => {
                    let list = if held.is_some() { &mut written.holds } else { &mut written.is };
                    list.pop();
                }
                '=' | '{' => break,
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let name = rest[..end].trim_matches(['.', '\\']).replace('\\', ".");
        rest = &rest[end..];
        let last = name.rsplit('.').next().unwrap_or(&name);
        let skipped = name.is_empty()
            || WORDS.contains(&name.as_str())
            || name.starts_with(|c: char| c.is_ascii_digit())
            || (TRANSPARENT.contains(&last) && last != "Self");
        if !skipped {
            let list = if held.is_some() { &mut written.holds } else { &mut written.is };
            list.push(name);
        }
    }
    written
}

/// What a reference is to, when that is a slice.
fn behind_reference(text: &str) -> &str {
    let mut inner = text.trim_start_matches('&');
    if inner.starts_with('\'') {
        inner = inner.split_once(' ').map_or("", |(_, rest)| rest);
    }
    let inner = inner.trim_start().trim_start_matches("mut ").trim_start();
    if inner.starts_with('[') { inner } else { text }
}

/// The parts of a type between separators that stand in no brackets.
pub(super) fn parts_of(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    let mut before = ' ';
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            // An arrow closes nothing, and what comes after it belongs to the function.
            (None, '>') if before == '=' && depth == 0 && separator != ',' => break,
            (None, '>') if before == '=' => {}
            (None, ')' | ']' | '}' | '>') => depth -= 1,
            (None, _) if c == separator && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
        before = c;
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A type of a function as the types of its parameters, and what it gives: `(a: A, b?: B) => R`.
pub(super) fn function_type(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut text = text.trim().trim_start_matches("new ").trim_start();
    if text.starts_with('<') {
        text = text[closing(text)? + 1..].trim_start();
    }
    if !text.starts_with('(') {
        return None;
    }
    let end = closing(text)?;
    let result = text[end + 1..].trim_start().strip_prefix("=>")?.trim();
    let typed = |parameter: &'_ str| parameter.find(':').map_or("", |at| parameter[at + 1..].trim()).len();
    let parameters = parts_of(&text[1..end], ',')
        .into_iter()
        .filter(|parameter| !parameter.starts_with("this:"))
        .map(|parameter| parameter[parameter.len() - typed(parameter)..].trim())
        .collect();
    Some((parameters, result))
}

/// A named type and its arguments: `Handler<A, B>` is `Handler` and `A, B`.
pub(super) fn generic(text: &str) -> Option<(&str, Option<&str>)> {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim();
    match rest.strip_prefix('<') {
        Some(of) => Some((name, Some(of.strip_suffix('>').unwrap_or(of)))),
        // An index or a word behind it makes another type of it.
        None => rest.is_empty().then_some((name, None)),
    }
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '=' => {}
            ')' | ']' | '}' | '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is: &[&str], holds: &[&str]) {
        let written = read(text);
        assert_eq!((written.is, written.holds), (owned(is), owned(holds)), "{text}");
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn types_of_functions_are_taken_apart() {
        let parts =
            function_type("<T>(this: X, c: Context<A, B>, next?: () => Promise<void>) => Handler | null");
        assert_eq!(parts, Some((vec!["Context<A, B>", "() => Promise<void>"], "Handler | null")));
        assert_eq!(function_type("(A | B)"), None);
        assert_eq!(
            parts_of("A<X | Y> | ((c: C) => D | E) | 'a|b'", '|'),
            ["A<X | Y>", "((c: C) => D | E)", "'a|b'"]
        );
        // What a function gives belongs to it.
        assert_eq!(parts_of("(c: C) => D | E", '|'), ["(c: C) => D | E"]);
        assert_eq!(generic("ns.Handler<A, B<C>>"), Some(("ns.Handler", Some("A, B<C>"))));
        assert_eq!(generic("T['x']"), None);
    }

    #[test]
    fn types_are_read_by_their_names() {
        check("&'a mut Arc<net::Server<T>>", &["net.Server"], &["T"]);
        check("Foo | null", &["Foo"], &[]);
        check(": Promise<Foo>", &["Promise"], &["Foo"]);
        check("Vec<Foo>", &["Vec"], &["Foo"]);
        check("*http.Request", &["http.Request"], &[]);
        check("[]*Foo", &[], &["Foo"]);
        check("map[string]*Foo", &[], &["Foo"]);
        check("(*Conn, error)", &["Conn"], &[]);
        check("(conn *Conn, err error)", &["Conn"], &[]);
        check("Optional[\"Foo\"]", &["Foo"], &[]);
        check("list[Foo]", &["list"], &["Foo"]);
        check("HashMap<Key, Foo>", &["HashMap"], &["Foo"]);
        check("Foo[]", &[], &["Foo"]);
        check("impl Trait + 'static", &["Trait"], &[]);
        check("(a: X) => Y", &[], &[]);
        check("impl Iterator<Item = &'a Foo> + '_", &["Iterator"], &["Foo"]);
        check("std::sync::Arc<Foo>", &["Foo"], &[]);
        check("const struct node *", &["node"], &[]);
        check("&'a mut [&Foo]", &[], &["Foo"]);
        check("&[Foo]", &[], &["Foo"]);
        check("Self", &["Self"], &[]);
    }
}
