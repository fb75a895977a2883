//! Import statements of Kotlin, Scala, Dart, Haskell, OCaml and CSS.

use super::{import, quoted};
use crate::symbols::Import;

/// `import a.b.C as D` and `import a.b.*`.
pub(crate) fn kotlin(text: &str) -> Vec<Import> {
    let text = text.trim().trim_start_matches("import").trim().trim_end_matches(';');
    let (path, alias) = match text.split_once(" as ") {
        Some((path, alias)) => (path.trim(), Some(alias)),
        None => (text, None),
    };
    match path.rsplit_once('.') {
        Some((module, name)) => vec![import(alias.unwrap_or(name), module, Some(name))],
        None => Vec::new(),
    }
}

/// `import a.b.{C, D => E, F as G}`, `import a.b._`, `import a.b.*, c.d`.
pub(crate) fn scala(text: &str) -> Vec<Import> {
    let text = text.trim().trim_start_matches("import").trim();
    let mut imports = Vec::new();
    for part in super::split_level(text) {
        let (module, names) = match part.split_once('{') {
            Some((module, names)) => (module.trim().trim_end_matches('.'), names.trim_end_matches('}')),
            None => part.trim().rsplit_once('.').unwrap_or(("", part.trim())),
        };
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let renamed = name.split_once("=>").or_else(|| name.split_once(" as "));
            match (name, renamed) {
                ("_" | "*" | "given", _) => imports.push(import("*", module, None)),
                (_, Some((name, local))) => imports.push(import(local, module, Some(name))),
                (name, None) => imports.push(import(name, module, Some(name))),
            }
        }
    }
    imports
}

/// `import 'package:app/src/log.dart' as log;`: the module is the path below the package's `lib`.
pub(crate) fn dart(text: &str) -> Vec<Import> {
    let mut parts = text.splitn(3, ['\'', '"']);
    let (Some(_), Some(uri), rest) = (parts.next(), parts.next(), parts.next().unwrap_or_default()) else {
        return Vec::new();
    };
    let path = match uri.strip_prefix("package:") {
        Some(path) => path.split_once('/').map_or(path, |(_, path)| path),
        None if uri.starts_with("dart:") => uri,
        None => uri.trim_start_matches("../").trim_start_matches("./"),
    };
    let local = rest.trim().strip_prefix("as ").map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    });
    vec![import(local.unwrap_or("*"), path.trim_end_matches(".dart"), None)]
}

/// `import qualified A.B as C (d, e)`.
pub(crate) fn haskell(text: &str) -> Vec<Import> {
    let text = text.trim().trim_start_matches("import").trim();
    let is_qualified = text.split_whitespace().take(2).any(|word| word == "qualified");
    let text = text.trim_start_matches("qualified").trim();
    let Some(module) = text.split(|c: char| c.is_whitespace() || c == '(').next() else { return Vec::new() };
    if module.is_empty() {
        return Vec::new();
    }
    let rest = text.get(module.len()..).unwrap_or_default();
    let (head, names) = rest.split_once('(').unwrap_or((rest, ""));
    let mut words = head.split_whitespace();
    let mut imports = Vec::new();
    if let Some(alias) = words.by_ref().find(|word| *word == "as").and_then(|_| words.next()) {
        imports.push(import(alias, module, None));
    }
    let is_hiding = head.split_whitespace().any(|word| word == "hiding");
    if is_qualified {
        return if imports.is_empty() { vec![import(module, module, None)] } else { imports };
    }
    if names.is_empty() || is_hiding {
        imports.push(import("*", module, None));
        return imports;
    }
    // Constructors in brackets come with their type.
    let is_name = |part: &&str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    imports.extend(names.split([',', '(', ')']).map(str::trim).filter(is_name).map(|name| {
        let name = name.trim_start_matches("type ").trim();
        import(name, module, Some(name))
    }));
    imports
}

/// `open A.B`.
pub(crate) fn ocaml(text: &str) -> Vec<Import> {
    let module = text.trim().trim_start_matches("open").trim_start_matches('!').trim();
    if module.is_empty() { Vec::new() } else { vec![import("*", module, None)] }
}

/// `@import url("a.css");`
pub(crate) fn css(text: &str) -> Vec<Import> {
    quoted(text).map(|module| vec![import("", &module, None)]).unwrap_or_default()
}
