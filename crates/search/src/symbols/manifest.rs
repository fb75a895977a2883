//! What a package's manifest says for the graph: its name, and the files it begins with.

use serde_json::Value;

/// `name` and its entries, with blanks between them; none when the file is no manifest.
pub(crate) fn package(path: &str, text: &str) -> Option<String> {
    match path.rsplit('/').next().unwrap_or(path) {
        "go.mod" => go(text),
        "package.json" => npm(text),
        "Cargo.toml" => cargo(text),
        _ => None,
    }
}

fn go(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let name = line.split("//").next().unwrap_or(line).trim().trim_matches('"');
    (!name.is_empty()).then(|| name.to_owned())
}

fn npm(text: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let name = manifest.get("name")?.as_str().filter(|name| !name.is_empty() && !name.contains(' '))?;
    let mut words = vec![name.to_owned()];
    for field in ["source", "types", "typings", "module", "main"] {
        words.extend(manifest.get(field).and_then(Value::as_str).map(str::to_owned));
    }
    if let Some(exports) = manifest.get("exports") {
        entries(exports.get(".").unwrap_or(exports), &mut words, 0);
    }
    words.retain(|word| !word.contains(' '));
    words.truncate(12);
    Some(words.join(" "))
}

/// Every path of the main export, however it is nested by conditions.
fn entries(exports: &Value, words: &mut Vec<String>, depth: u8) {
    match exports {
        Value::String(path) => words.push(path.clone()),
        Value::Object(conditions) if depth < 4 => {
            conditions.values().for_each(|inner| entries(inner, words, depth + 1));
        }
        _ => {}
    }
}

fn cargo(text: &str) -> Option<String> {
    let mut in_package = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_package = line == "[package]";
        } else if in_package && let Some(value) = line.strip_prefix("name") {
            let name = value.trim_start().strip_prefix('=')?.trim().trim_matches('"');
            return (!name.is_empty()).then(|| name.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_their_package_and_where_it_begins() {
        assert_eq!(
            package("go.mod", "// x\nmodule github.com/x/web // y\n\ngo 1.22\n").as_deref(),
            Some("github.com/x/web")
        );
        let npm = r#"{"name": "@x/core", "main": "./dist/index.js", "exports": {".": {"import": "./dist/index.mjs"}, "./x": "./x.js"}}"#;
        assert_eq!(
            package("a/package.json", npm).as_deref(),
            Some("@x/core ./dist/index.js ./dist/index.mjs")
        );
        let cargo = "[workspace]\nname = \"no\"\n[package]\nname = \"a-lib\"\nversion = \"1\"\n";
        assert_eq!(package("Cargo.toml", cargo).as_deref(), Some("a-lib"));
        assert_eq!(package("package.json", "{"), None);
        assert_eq!(package("main.go", "module x"), None);
    }
}
