//! Whether an import can mean a file: module paths against file paths, by their segments.

use super::Import;

/// How well an import names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The file is in the package that is named: it may be exported from there.
    Package,
    /// The file is what is named.
    File,
}

/// Says whether `import`, written in `importer`, can mean the file `target`.
pub(super) fn fit(import: &Import, importer: &str, target: &str) -> Option<Fit> {
    let (base, module) = anchor(&import.module, importer);
    let named = |with_name: bool| {
        let mut segments = base.clone();
        segments.extend(module.iter().map(|segment| (*segment).to_owned()));
        if with_name {
            segments.extend(import.name.clone().filter(|name| name != "*"));
        }
        segments
    };
    let file = file_segments(target);
    let folder: Vec<String> = target
        .rsplit_once('/')
        .map_or_else(Vec::new, |(folder, _)| folder.split('/').map(str::to_owned).collect());
    let anchored = !base.is_empty() || is_relative(&import.module);
    for segments in [named(false), named(true)] {
        // Go names a package by its path on the network, of which the end is its folder here.
        let go = target.ends_with(".go") && !folder.is_empty() && segments.ends_with(&folder);
        if go || matches(&segments, &file, anchored) {
            return Some(Fit::File);
        }
    }
    let segments = named(false);
    let in_package = if anchored { folder.starts_with(&segments) } else { ends_within(&segments, &folder) };
    in_package.then_some(Fit::Package)
}

/// Where a relative import starts, and the segments of the module after that.
fn anchor<'a>(module: &'a str, importer: &str) -> (Vec<String>, Vec<&'a str>) {
    let mut folder: Vec<String> = importer.split('/').map(str::to_owned).collect();
    folder.pop();
    let mut up = 0;
    let rest = if module.starts_with("./") || module.starts_with("../") || module == "." || module == ".." {
        let mut rest = module;
        loop {
            if let Some(next) = rest.strip_prefix("../") {
                up += 1;
                rest = next;
            } else if let Some(next) = rest.strip_prefix("./") {
                rest = next;
            } else {
                break rest;
            }
        }
    } else if module.starts_with('.') {
        // Python: one dot is this package, each further one the package above.
        let dots = module.len() - module.trim_start_matches('.').len();
        up = dots - 1;
        &module[dots..]
    } else if let Some(rest) = module.strip_prefix("crate") {
        // Rust: the crate's own root; its folder is known only by name, so that the rest is compared from the end.
        return (Vec::new(), segments(rest));
    } else if module == "self" || module.starts_with("self::") {
        return (Vec::new(), segments(module.trim_start_matches("self")));
    } else if module == "super" || module.starts_with("super::") {
        return (Vec::new(), segments(module.trim_start_matches("super::").trim_start_matches("super")));
    } else {
        return (Vec::new(), segments(module));
    };
    folder.truncate(folder.len().saturating_sub(up));
    (folder, segments(rest))
}

fn is_relative(module: &str) -> bool {
    module.starts_with('.')
}

fn segments(module: &str) -> Vec<&str> {
    let module = [".js", ".jsx", ".ts", ".tsx", ".mjs", ".h", ".hpp", ".hh", ".rb", ".sh"]
        .iter()
        .find_map(|extension| module.strip_suffix(extension))
        .unwrap_or(module);
    module.split(['.', '/', ':', '\\']).filter(|segment| !segment.is_empty()).collect()
}

/// The file as a module: its path without the extension and without names that stand for their folder.
fn file_segments(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    if let Some(name) = segments.last_mut()
        && let Some((stem, _)) = name.rsplit_once('.')
    {
        *name = stem.to_owned();
    }
    if is_package_file(path) {
        segments.pop();
    }
    segments
}

/// `__init__.py`, `index.ts`, `mod.rs`: the folder is the module. In Go every file is.
fn is_package_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    matches!(stem, "__init__" | "index" | "mod" | "lib") || path.ends_with(".go")
}

/// Relative modules match whole paths, the others the end of a path: where the source root is, nobody says.
fn matches(module: &[String], file: &[String], anchored: bool) -> bool {
    if module.is_empty() {
        return anchored && file.is_empty();
    }
    if anchored {
        return module == file;
    }
    file.ends_with(module) || (file.len() >= 2 && module.ends_with(&file[file.len() - 2..]))
}

/// Says whether the module's segments lie one after the other in the folder, at any depth.
fn ends_within(module: &[String], folder: &[String]) -> bool {
    !module.is_empty() && folder.windows(module.len()).any(|window| window == module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(module: &str, name: Option<&str>, importer: &str, target: &str, expected: Option<Fit>) {
        let import = Import { module: module.into(), name: name.map(str::to_owned), ..Import::default() };
        assert_eq!(fit(&import, importer, target), expected, "{module} in {importer} for {target}");
    }

    #[test]
    fn modules_are_found_by_their_segments() {
        use Fit::{File, Package};
        check("django.db.models", Some("Q"), "app/views.py", "django/db/models/__init__.py", Some(File));
        check(
            "django.db.models",
            Some("Q"),
            "app/views.py",
            "django/db/models/query_utils.py",
            Some(Package),
        );
        check("django.db", Some("models"), "app/views.py", "django/db/models/__init__.py", Some(File));
        check(".log", Some("info"), "pkg/server.py", "pkg/log.py", Some(File));
        check(".log", Some("info"), "pkg/server.py", "other/log.py", None);
        check("..log", Some("info"), "pkg/sub/server.py", "pkg/log.py", Some(File));
        check("./log", Some("info"), "src/app.ts", "src/log.ts", Some(File));
        check("../log.js", Some("info"), "src/a/app.js", "src/log.js", Some(File));
        check("./widgets", Some("A"), "src/app.ts", "src/widgets/index.ts", Some(File));
        check("react", Some("useState"), "src/app.ts", "src/log.ts", None);
        check("crate::net::log", Some("info"), "src/main.rs", "src/net/log.rs", Some(File));
        check("crate::net", Some("info"), "src/main.rs", "src/net/mod.rs", Some(File));
        check(
            "com.example.Log",
            Some("info"),
            "src/A.java",
            "src/main/java/com/example/Log.java",
            Some(File),
        );
        check("com.example", Some("Log"), "src/A.java", "src/main/java/com/example/Log.java", Some(File));
        check("example.com/x/log", None, "main.go", "log/write.go", Some(File));
        check("net/list.h", None, "src/main.c", "src/net/list.c", Some(File));
        check("os", None, "a.py", "pkg/log.py", None);
    }
}
