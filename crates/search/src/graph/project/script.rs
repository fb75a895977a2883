//! Where modules of TypeScript and JavaScript lie: beside the file, in a package of the workspace, behind an alias.

use super::{Package, Project, folder, joined, segments, strip_ending};

const SCRIPT_ENDINGS: &[&str] = &[".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"];

impl Project {
    /// `./x`, a package of the workspace with a path in it, or an alias of the source folder.
    pub(super) fn script(&self, importer: &str, module: &str) -> Option<Vec<String>> {
        if module.starts_with('.') {
            return self.script_file(&joined(folder(importer), module)?);
        }
        let mut name = module;
        loop {
            if let Some(package) = self.npm.get(name) {
                let inner = module[name.len()..].trim_start_matches('/');
                return self.script_entry(package, inner);
            }
            match name.rsplit_once('/') {
                Some((shorter, _)) if !shorter.is_empty() => name = shorter,
                _ => break,
            }
        }
        // `@/x` and `~/x` are the source folder by custom; where that is, the nearest file says.
        let inner = module
            .strip_prefix("@/")
            .or_else(|| module.strip_prefix("~/"))
            .or_else(|| module.strip_prefix("src/"))?;
        self.by_suffix(&segments(strip_ending(inner)), importer, SCRIPT_ENDINGS)
    }

    fn script_entry(&self, package: &Package, inner: &str) -> Option<Vec<String>> {
        let at = |path: &str| joined(&package.folder, path).and_then(|path| self.script_file(&path));
        if inner.is_empty() {
            let named = package.entries.iter().find_map(|entry| {
                // What is built is not in the repository: its source mostly lies at the same place below `src`.
                let source = ["dist/", "lib/", "build/", "esm/", "cjs/"]
                    .iter()
                    .find_map(|built| entry.trim_start_matches("./").strip_prefix(built))
                    .map(|rest| format!("src/{}", strip_ending(rest)));
                at(entry).or_else(|| source.as_deref().and_then(at))
            });
            // A file at the top is mostly a stub for what is built.
            return at("src/index")
                .or(named)
                .or_else(|| ["index", "src/main", "lib/index", "src/lib"].iter().find_map(|path| at(path)));
        }
        at(inner).or_else(|| at(&format!("src/{inner}"))).or_else(|| at(&format!("lib/{inner}")))
    }

    fn script_file(&self, path: &str) -> Option<Vec<String>> {
        let known = |path: String| self.paths.contains(&path).then(|| vec![path]);
        let base = strip_ending(path);
        known(path.to_owned())
            .or_else(|| SCRIPT_ENDINGS.iter().find_map(|ending| known(format!("{path}{ending}"))))
            .or_else(|| SCRIPT_ENDINGS.iter().find_map(|ending| known(format!("{base}{ending}"))))
            .or_else(|| {
                let index = if path.is_empty() { "index".to_owned() } else { format!("{path}/index") };
                SCRIPT_ENDINGS.iter().find_map(|ending| known(format!("{index}{ending}")))
            })
            .or_else(|| {
                // A folder that is a package of its own.
                self.npm
                    .values()
                    .find(|package| package.folder == path && !path.is_empty())
                    .and_then(|package| self.script_entry(package, ""))
            })
    }
}
