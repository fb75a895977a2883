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
        check("Self", &["Self"], &[]);
    }
}
