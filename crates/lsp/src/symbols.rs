//! The symbols of a file as agents name them: by path (`Class/method`), whatever the server calls its containers.

use serde_json::Value;

use crate::position::Range;

/// Deeper nesting is cut off: no file needs it, and a hostile answer must not exhaust our stack.
pub(crate) const MAX_DEPTH: usize = 20;
/// How many candidates an error lists.
const MAX_CANDIDATES: usize = 10;

/// Something that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// From the outermost container to its own name, without the decoration of its language.
    pub(crate) path: Vec<String>,
    /// All of it, in the server's units.
    pub(crate) range: Range,
    /// Its name, in the server's units.
    pub(crate) selection: Range,
}

impl Symbol {
    /// Its own name.
    pub(crate) fn name(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }

    /// Its path as agents write it.
    pub(crate) fn shown(&self) -> String {
        self.path.join("/")
    }

    fn lines(&self) -> std::ops::RangeInclusive<u32> {
        self.range.start.line..=self.range.end.line
    }
}

/// Reads the answer to `textDocument/documentSymbol`, nested or flat, in its order.
pub(crate) fn read(answer: &Value) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for symbol in answer.as_array().into_iter().flatten() {
        push(symbol, &[], 0, &mut symbols);
    }
    symbols
}

fn push(value: &Value, container: &[String], depth: usize, symbols: &mut Vec<Symbol>) {
    let range_of = |value: Option<&Value>| value.and_then(|range| serde_json::from_value(range.clone()).ok());
    // Nested symbols, or the flat form of older servers.
    let range: Option<Range> = range_of(value.get("range").or_else(|| value.pointer("/location/range")));
    let (Some(name), Some(range)) = (value.get("name").and_then(Value::as_str), range) else { return };
    let selection = range_of(value.get("selectionRange")).unwrap_or(range);
    let mut path = container.to_vec();
    if let Some(container) = value.get("containerName").and_then(Value::as_str) {
        path.extend(segments(container));
    }
    path.extend(segments(name));
    if depth < MAX_DEPTH {
        let children = value.get("children").and_then(Value::as_array);
        symbols.push(Symbol { path: path.clone(), range, selection });
        for child in children.into_iter().flatten() {
            push(child, &path, depth + 1, symbols);
        }
    }
}

/// Takes a server's name for a symbol apart: Go's `(*T).Method`, Rust's `impl Trait for Type`, C++'s `A::b`, Java's
/// `method(int)`.
fn segments(name: &str) -> Vec<String> {
    let name = name.trim();
    if let Some((receiver, method)) = name.strip_prefix('(').and_then(|rest| rest.split_once(").")) {
        return vec![bare(receiver.trim_start_matches('*')), method.to_owned()];
    }
    if let Some(rest) = name.strip_prefix("impl").filter(|rest| rest.starts_with([' ', '<'])) {
        let of = rest.rsplit_once(" for ").map_or_else(|| without_generics(rest), |(_, of)| of);
        let of = bare(of.split(" where ").next().unwrap_or(of));
        return vec![of.rsplit("::").next().unwrap_or(&of).to_owned()];
    }
    let bare = match name.find('(') {
        Some(at) if at > 0 => name[..at].trim(),
        _ => name,
    };
    if bare.contains("::") && !bare.contains(' ') {
        return bare.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    }
    vec![bare.to_owned()]
}

/// Leaves out the generics behind `impl`.
fn without_generics(rest: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return &rest[at + 1..],
            _ => {}
        }
    }
    rest
}

/// Leaves out the generics of a type, and what stands before its name.
fn bare(name: &str) -> String {
    let name = name.trim().trim_start_matches('&');
    name[..name.find(['<', '[']).unwrap_or(name.len())].trim().to_owned()
}

/// Finds the one symbol that a path names; a line, from 1, chooses between several. The error says what is there.
pub(crate) fn find<'a>(symbols: &'a [Symbol], path: &str, line: Option<u32>) -> Result<&'a Symbol, String> {
    let mut found = Vec::new();
    for wanted in readings(path) {
        found = symbols.iter().filter(|symbol| symbol.path == wanted).collect::<Vec<_>>();
        if found.is_empty() {
            found = symbols.iter().filter(|symbol| symbol.path.ends_with(&wanted)).collect();
        }
        if !found.is_empty() {
            break;
        }
    }
    if let Some(line) = line.map(|line| line.saturating_sub(1)) {
        found.retain(|symbol| symbol.lines().contains(&line));
        let on_line: Vec<&Symbol> =
            found.iter().copied().filter(|symbol| symbol.selection.start.line == line).collect();
        if on_line.len() == 1 {
            found = on_line;
        }
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(not_found(symbols, path, line)),
        several => Err(format!(
            "`{path}` names {} symbols; give more of the path, or the line of the one you mean: {}",
            several.len(),
            listed(several)
        )),
    }
}

/// How a path may be meant: with `/`, or as the language itself writes it.
fn readings(path: &str) -> Vec<Vec<String>> {
    let parts = |separator: &str| -> Vec<String> {
        path.split(separator).filter(|part| !part.is_empty()).flat_map(segments).collect()
    };
    let mut readings = vec![vec![path.to_owned()], parts("/")];
    if !path.contains('/') {
        readings.push(parts("."));
    }
    readings.retain(|reading| !reading.is_empty());
    readings
}

fn not_found(symbols: &[Symbol], path: &str, line: Option<u32>) -> String {
    let on_line = line.map(|line| format!(" on line {line}")).unwrap_or_default();
    let last = readings(path).into_iter().filter_map(|mut reading| reading.pop()).next_back();
    let last = last.unwrap_or_default();
    let same: Vec<&Symbol> = symbols.iter().filter(|symbol| symbol.name() == last).collect();
    if !same.is_empty() {
        return format!("there is no `{path}`{on_line} in this file; there is {}", listed(&same));
    }
    let outermost: Vec<&Symbol> = symbols.iter().filter(|symbol| symbol.path.len() == 1).collect();
    match outermost.is_empty() {
        true => format!("there is no `{path}`{on_line} in this file: it defines nothing"),
        false => {
            format!("there is no `{path}`{on_line} in this file; it defines {}", listed(&outermost))
        }
    }
}

fn listed(symbols: &[&Symbol]) -> String {
    let mut listed: Vec<String> = symbols
        .iter()
        .take(MAX_CANDIDATES)
        .map(|symbol| format!("{} (line {})", symbol.shown(), symbol.selection.start.line.saturating_add(1)))
        .collect();
    let n_more = symbols.len().saturating_sub(MAX_CANDIDATES);
    if n_more > 0 {
        listed.push(format!("... and {n_more} more"));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(line: u32, end: u32) -> Value {
        json!({ "start": { "line": line, "character": 0 }, "end": { "line": end, "character": 1 } })
    }

    fn symbol(name: &str, line: u32, end: u32, children: &[Value]) -> Value {
        json!({ "name": name, "range": at(line, end), "selectionRange": at(line, line), "children": children })
    }

    fn paths(answer: &Value) -> Vec<String> {
        read(answer).iter().map(Symbol::shown).collect()
    }

    #[test]
    fn every_servers_spelling_becomes_a_path() {
        let method = symbol("total", 1, 2, &[]);
        assert_eq!(paths(&json!([symbol("Shop", 0, 3, &[method])])), ["Shop", "Shop/total"]);
        for (name, path) in [
            ("(*Shop).Total", "Shop/Total"),
            ("(Shop[T]).Total", "Shop/Total"),
            ("impl Shop", "Shop"),
            ("impl<T: Into<String>> fmt::Display for a::Shop<T>", "Shop"),
            ("impl<T> Shop<T> where T: Copy", "Shop"),
            ("Shop::total", "Shop/total"),
            ("total(int, String)", "total"),
            ("it(\"adds\") callback", "it"),
            ("implicit", "implicit"),
        ] {
            assert_eq!(paths(&json!([symbol(name, 0, 1, &[])])), [path], "{name}");
        }
        let flat = json!([{ "name": "total", "containerName": "Shop", "location": { "uri": "x", "range": at(1, 1) } }]);
        assert_eq!(paths(&flat), ["Shop/total"]);
        assert_eq!(paths(&json!(null)), Vec::<String>::new());
        assert_eq!(paths(&json!([{ "name": 1 }, { "name": "no range" }])), Vec::<String>::new());
    }

    #[track_caller]
    fn check(path: &str, line: Option<u32>, expected: Result<(&str, u32), &str>) {
        let symbols = read(&json!([
            symbol("Shop", 0, 9, &[symbol("total", 1, 2, &[]), symbol("add", 3, 4, &[])]),
            symbol("Cart", 10, 19, &[symbol("total", 11, 12, &[]), symbol("total", 13, 14, &[])]),
            symbol("add", 20, 21, &[]),
        ]));
        let found = find(&symbols, path, line);
        let found = found.map(|symbol| (symbol.shown(), symbol.selection.start.line + 1));
        let found = found.as_ref().map(|(shown, line)| (shown.as_str(), *line));
        assert_eq!(found.map_err(String::as_str), expected);
    }

    #[test]
    fn a_path_names_one_symbol() {
        check("Shop/total", None, Ok(("Shop/total", 2)));
        check("Shop.total", None, Ok(("Shop/total", 2)));
        check("Shop::total", None, Ok(("Shop/total", 2)));
        check("add", None, Ok(("add", 21)));
        check("Cart/total", Some(14), Ok(("Cart/total", 14)));
        check("total", Some(2), Ok(("Shop/total", 2)));
    }

    #[test]
    fn what_it_does_not_name_is_answered_with_what_is_there() {
        check(
            "Cart/total",
            None,
            Err(
                "`Cart/total` names 2 symbols; give more of the path, or the line of the one you mean: Cart/total (line 12), Cart/total (line 14)",
            ),
        );
        check(
            "Shop/sum",
            None,
            Err(
                "there is no `Shop/sum` in this file; it defines Shop (line 1), Cart (line 11), add (line 21)",
            ),
        );
        check(
            "Cart/add",
            None,
            Err("there is no `Cart/add` in this file; there is Shop/add (line 4), add (line 21)"),
        );
    }
}
