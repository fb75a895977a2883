//! Import statements by their text, one function per syntax.

mod more;
#[cfg(test)]
mod tests;

use super::Import;
pub(crate) use more::{css, dart, haskell, kotlin, ocaml, scala};

fn import(local: &str, module: &str, name: Option<&str>) -> Import {
    Import {
        local: local.trim().to_owned(),
        module: module.trim().to_owned(),
        name: name.map(|name| name.trim().to_owned()),
        line: 0,
    }
}

/// `import a.b as c, d` and `from .a import (b, c as d)`.
pub(crate) fn python(text: &str) -> Vec<Import> {
    let text = text.replace(['(', ')', '\\'], " ");
    if let Some(rest) = text.trim_start().strip_prefix("from") {
        let Some((module, names)) = rest.split_once("import") else { return Vec::new() };
        let module = module.trim();
        return names
            .split([',', '\n'])
            .map(|part| part.split('#').next().unwrap_or_default().trim())
            .filter(|part| !part.is_empty())
            .map(|part| match part.split_once(" as ") {
                Some((name, local)) => import(local, module, Some(name)),
                None => import(part, module, Some(part)),
            })
            .collect();
    }
    let rest = text.trim_start().strip_prefix("import").unwrap_or_default();
    rest.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| match part.split_once(" as ") {
            Some((module, local)) => import(local, module, None),
            None => import(part, part, None),
        })
        .collect()
}

/// `import a, {b as c}, * as d from 'm'` and `import 'm'`.
pub(crate) fn javascript(text: &str) -> Vec<Import> {
    let Some(module) = quoted(text) else { return Vec::new() };
    let Some(rest) = text.trim_start().strip_prefix("import") else { return Vec::new() };
    let Some((names, _)) = rest.rsplit_once(" from").or_else(|| rest.rsplit_once("}from")) else {
        return vec![import("", &module, None)];
    };
    let names = names.trim();
    let names = names.strip_prefix("type ").unwrap_or(names);
    let (outer, inner) = match names.split_once('{') {
        Some((outer, inner)) => (outer, inner.split('}').next().unwrap_or_default()),
        None => (names, ""),
    };
    let mut imports = Vec::new();
    for part in outer.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_prefix('*') {
            Some(star) => imports.push(import(star.trim().trim_start_matches("as "), &module, None)),
            None => imports.push(import(part, &module, Some("default"))),
        }
    }
    for part in inner.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let part = part.strip_prefix("type ").unwrap_or(part);
        match part.split_once(" as ") {
            Some((name, local)) => imports.push(import(local, &module, Some(name))),
            None => imports.push(import(part, &module, Some(part))),
        }
    }
    imports
}

/// `export * from 'm'`, `export {a as b} from 'm'`, `export {a as b}`, `export default a`.
pub(crate) fn javascript_exports(text: &str) -> Vec<Import> {
    let Some(rest) = text.trim_start().strip_prefix("export") else { return Vec::new() };
    let rest = rest.trim_start();
    let name_of = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect()
    };
    if let Some(value) = rest.strip_prefix("default").or_else(|| rest.strip_prefix('=')) {
        let mut value = value.trim_start();
        for word in ["async", "abstract", "function", "class", "*"] {
            value = value.strip_prefix(word).unwrap_or(value).trim_start();
        }
        let name = name_of(value);
        return if name.is_empty() { Vec::new() } else { vec![import("default", "", Some(&name))] };
    }
    let rest = rest.strip_prefix("type ").unwrap_or(rest).trim_start();
    let module = rest.contains("from").then(|| quoted(rest)).flatten().unwrap_or_default();
    if let Some(star) = rest.strip_prefix('*') {
        let alias = star.trim_start().strip_prefix("as ").map(name_of);
        return vec![import(alias.as_deref().unwrap_or("*"), &module, None)];
    }
    let Some(names) = rest.strip_prefix('{') else { return Vec::new() };
    names
        .split('}')
        .next()
        .unwrap_or_default()
        .split(',')
        .map(|part| part.trim().trim_start_matches("type "))
        .filter(|part| !part.is_empty())
        .filter_map(|part| match part.split_once(" as ") {
            Some((name, local)) => Some(import(local, &module, Some(name))),
            // Given on under its own name from the file itself: nothing to say.
            None if module.is_empty() => None,
            None => Some(import(part, &module, Some(part))),
        })
        .collect()
}

/// `pub use a::{b::c, d as e, f::*};`
pub(crate) fn rust(text: &str) -> Vec<Import> {
    let text = text.trim().trim_end_matches(';');
    let Some((_, tree)) = text.split_once("use ") else { return Vec::new() };
    let mut imports = Vec::new();
    // Each entry: the path so far and the rest to read. A tree deeper than the limit is not written by people.
    let mut pending = vec![(String::new(), tree.trim().to_owned())];
    while let Some((prefix, tree)) = pending.pop() {
        if imports.len() + pending.len() > 4096 {
            break;
        }
        let tree = tree.trim();
        if let Some(open) = tree.find('{') {
            let head = format!("{prefix}{}", tree[..open].trim());
            let inner = tree[open + 1..].strip_suffix('}').unwrap_or(&tree[open + 1..]);
            pending.extend(split_level(inner).into_iter().rev().map(|part| (head.clone(), part)));
            continue;
        }
        let (path, alias) = match tree.split_once(" as ") {
            Some((path, alias)) => (path.trim(), Some(alias.trim())),
            None => (tree, None),
        };
        let full = format!("{prefix}{path}");
        let full = full.trim_end_matches("::self");
        match full.rsplit_once("::") {
            Some((module, name)) => imports.push(import(alias.unwrap_or(name), module, Some(name))),
            None if !full.is_empty() => imports.push(import(alias.unwrap_or(full), full, None)),
            None => {}
        }
    }
    imports
}

/// `pub extern crate a as b;`
pub(crate) fn rust_crate(text: &str) -> Vec<Import> {
    let Some((_, rest)) = text.trim().trim_end_matches(';').split_once("crate ") else { return Vec::new() };
    let (name, local) = rest.split_once(" as ").unwrap_or((rest, rest));
    vec![import(local, name, None)]
}

/// Splits at the commas outside of braces.
fn split_level(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// `import ( a "x/y"; . "z" )`.
pub(crate) fn go(text: &str) -> Vec<Import> {
    let text = text.trim_start().trim_start_matches("import");
    text.split(['\n', ';'])
        .filter_map(|line| {
            let line = line.trim().trim_matches(|c| c == '(' || c == ')').trim();
            let module = quoted(line)?;
            let alias = line.split(['"', '`']).next().unwrap_or_default().trim();
            let mut parts = module.rsplit('/');
            let last = parts.next().unwrap_or(&module);
            // A major version is no name: `chi/v5`, `yaml.v3`.
            let is_version = |text: &str| {
                text.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
            };
            let last = match last.rsplit_once('.') {
                _ if is_version(last) => parts.next().unwrap_or(last),
                Some((name, version)) if is_version(version) => name,
                _ => last,
            };
            Some(match alias {
                "" => import(last, &module, None),
                "." => import("*", &module, None),
                "_" => import("", &module, None),
                alias => import(alias, &module, None),
            })
        })
        .collect()
}

/// `import static a.b.C.d;` and `import a.b.*;`
pub(crate) fn java(text: &str) -> Vec<Import> {
    let text = text.trim().trim_start_matches("import").trim().trim_end_matches(';').trim();
    let text = text.strip_prefix("static ").unwrap_or(text).trim();
    match text.rsplit_once('.') {
        Some((module, name)) => vec![import(name, module, Some(name))],
        None => Vec::new(),
    }
}

/// `using A.B;`, `using static A.B;`, `using X = A.B;`
pub(crate) fn c_sharp(text: &str) -> Vec<Import> {
    let text =
        text.trim().trim_start_matches("global ").trim_start_matches("using").trim().trim_end_matches(';');
    let text = text.strip_prefix("static ").unwrap_or(text);
    match text.split_once('=') {
        Some((local, module)) => vec![import(local, module, None)],
        None if text.trim().is_empty() => Vec::new(),
        None => vec![import("*", text, None)],
    }
}

/// `#include "a/b.h"`.
pub(crate) fn c(text: &str) -> Vec<Import> {
    let path = text.split(['"', '<', '>']).nth(1).unwrap_or_default();
    if path.is_empty() { Vec::new() } else { vec![import("*", path, None)] }
}

/// `use A\B\{C, D as E};` and `use function A\f;`
pub(crate) fn php(text: &str) -> Vec<Import> {
    let text = text.trim().trim_start_matches("use").trim().trim_end_matches(';').trim();
    let text = text.trim_start_matches("function ").trim_start_matches("const ");
    let (prefix, names) = match text.split_once('{') {
        Some((prefix, names)) => (prefix.trim(), names.trim_end_matches('}')),
        None => ("", text),
    };
    names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let (path, alias) = match name.split_once(" as ") {
                Some((path, alias)) => (path.trim(), Some(alias)),
                None => (name, None),
            };
            let path = format!("{prefix}{path}");
            let path = path.trim_start_matches('\\');
            let (module, last) = path.rsplit_once('\\').unwrap_or(("", path));
            import(alias.unwrap_or(last), module, Some(last))
        })
        .collect()
}

fn quoted(text: &str) -> Option<String> {
    let start = text.rfind(['"', '\'', '`'])?;
    let quote = text[start..].chars().next()?;
    let before = &text[..start];
    Some(before[before.rfind(quote)? + 1..].to_owned())
}
