//! Where modules lie: import paths against the files and packages of a project.
//!
//! Made from paths and package names alone, which the reader holds in memory, so that no file is opened for it.

mod rust;
mod script;

use std::collections::{BTreeMap, HashMap, HashSet};

/// Languages whose definitions can mean each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Family {
    Rust,
    Script,
    Python,
    Go,
    Java,
    C,
    CSharp,
    Ruby,
    Php,
    Shell,
    /// A language without rules of its own, by name.
    Other(&'static str),
}

impl Family {
    pub(crate) fn of(language: &str) -> Self {
        match language {
            "rust" => Self::Rust,
            "typescript" | "tsx" | "javascript" | "vue" | "svelte" | "html" => Self::Script,
            "python" => Self::Python,
            "go" => Self::Go,
            "java" | "kotlin" | "scala" => Self::Java,
            "c" | "cpp" => Self::C,
            "csharp" => Self::CSharp,
            "ruby" => Self::Ruby,
            "php" => Self::Php,
            "bash" => Self::Shell,
            other => Self::Other(
                crate::symbols::Language::named(other).map_or("text", crate::symbols::Language::name),
            ),
        }
    }
}

/// Sources that see each other's packages.
const JVM_ENDINGS: &[&str] = &[".java", ".kt", ".scala"];

/// What an import path means here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Place {
    /// The files of the module, sorted.
    pub(crate) files: Vec<String>,
    /// What the path names inside of them: an inner module, a type.
    pub(crate) rest: Vec<String>,
}

/// A package by its name, with its folder and the files it says it begins with.
#[derive(Debug, Clone)]
struct Package {
    folder: String,
    entries: Vec<String>,
}

/// The files and packages of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Project {
    paths: HashSet<String>,
    /// Files by the last part of their module name: `__init__.py`, `index.ts` and the like by their folder's.
    by_stem: HashMap<String, Vec<String>>,
    by_folder: BTreeMap<String, Vec<String>>,
    go: BTreeMap<String, Package>,
    npm: BTreeMap<String, Package>,
    cargo: BTreeMap<String, Package>,
    /// What a file's package clause says.
    clauses: HashMap<String, String>,
}

impl Project {
    /// `files` are paths with the package that each says, if any.
    pub(crate) fn of<'a>(files: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Self {
        let mut project = Self::default();
        for (path, package) in files {
            project.paths.insert(path.to_owned());
            project.by_stem.entry(stem(path)).or_default().push(path.to_owned());
            project.by_folder.entry(folder(path).to_owned()).or_default().push(path.to_owned());
            let Some(package) = package else { continue };
            let mut words = package.split(' ').map(str::to_owned);
            let name = words.next().unwrap_or_default();
            let described = Package { folder: folder(path).to_owned(), entries: words.collect() };
            match path.rsplit('/').next().unwrap_or(path) {
                "go.mod" => drop(project.go.insert(name, described)),
                "package.json" => drop(project.npm.insert(name, described)),
                "Cargo.toml" => drop(project.cargo.insert(name.replace('-', "_"), described)),
                _ => drop(project.clauses.insert(path.to_owned(), name)),
            }
        }
        for list in project.by_stem.values_mut().chain(project.by_folder.values_mut()) {
            list.sort();
        }
        project
    }

    /// What a file's package clause says.
    pub(crate) fn clause(&self, path: &str) -> Option<&str> {
        self.clauses.get(path).map(String::as_str)
    }

    /// The files of a folder.
    pub(crate) fn in_folder(&self, folder: &str) -> &[String] {
        self.by_folder.get(folder).map_or(&[], Vec::as_slice)
    }

    /// The files that a module path means when it stands in `importer`; none when it lies outside.
    pub(crate) fn locate(&self, family: Family, importer: &str, module: &str) -> Option<Place> {
        match family {
            Family::Script => self.script(importer, module).map(files),
            Family::Python => self.python(importer, module).map(files),
            Family::Go => self.go_package(module).map(files),
            Family::Rust => self.rust(importer, module),
            Family::Java => self.java(module),
            Family::C => self
                .by_suffix(
                    &segments(strip_ending(module)),
                    importer,
                    &[".h", ".hpp", ".hh", ".hxx", ".c", ".cc", ".cpp", ".cxx", ".ipp"],
                )
                .map(files),
            Family::Php => self.php(module),
            Family::Ruby => self.by_suffix(&segments(strip_ending(module)), importer, &[".rb"]).map(files),
            Family::Shell => self
                .by_suffix(&segments(strip_ending(module)), importer, &[".sh", ".bash", ".zsh"])
                .map(files),
            Family::CSharp => None,
            Family::Other(_) => self.by_suffix(&segments(strip_ending(module)), importer, &[]).map(files),
        }
    }

    fn python(&self, importer: &str, module: &str) -> Option<Vec<String>> {
        let dots = module.len() - module.trim_start_matches('.').len();
        if dots == 0 {
            let names = segments(module);
            // What lies in a package is not at the top: `import json` is not `package/json.py`.
            let is_at_top = |path: &str| {
                let mut above = path;
                for _ in 0..names.len() + usize::from(path.contains("__init__.py")) {
                    above = folder(above);
                }
                let marker =
                    if above.is_empty() { "__init__.py".to_owned() } else { format!("{above}/__init__.py") };
                !self.paths.contains(&marker)
            };
            return self.by_suffix_if(&names, importer, &[".py", ".pyi"], is_at_top);
        }
        let mut base: Vec<&str> = folder(importer).split('/').filter(|part| !part.is_empty()).collect();
        base.truncate((base.len() + 1).checked_sub(dots)?);
        let mut path = base.join("/");
        for part in segments(&module[dots..]) {
            path = if path.is_empty() { part } else { format!("{path}/{part}") };
        }
        let within = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let found =
            [format!("{path}.py"), within("__init__.py"), format!("{path}.pyi"), within("__init__.pyi")]
                .into_iter()
                .find(|path| self.paths.contains(path));
        found.map(|path| vec![path])
    }

    /// By `go.mod`; where that is missing by the end of the path, and by the package clause at the root.
    fn go_package(&self, module: &str) -> Option<Vec<String>> {
        let mut name = module;
        loop {
            if let Some(package) = self.go.get(name) {
                let inner = module[name.len()..].trim_start_matches('/');
                return self.go_folder(&joined(&package.folder, inner)?);
            }
            match name.rsplit_once('/') {
                Some((shorter, _)) => name = shorter,
                None => break,
            }
        }
        if !self.go.is_empty() || !module.split('/').next().is_some_and(|host| host.contains('.')) {
            return None;
        }
        let parts: Vec<&str> = module.split('/').collect();
        for from in 1..parts.len() {
            if let Some(files) = self.go_folder(&parts[from..].join("/")) {
                return Some(files);
            }
        }
        let is_version =
            |part: &&&str| !(part.starts_with('v') && part[1..].chars().all(|c| c.is_ascii_digit()));
        let last = parts.iter().rev().find(is_version)?;
        let last =
            last.rsplit('.').find(|part| !part.starts_with('v')).unwrap_or(last).trim_start_matches("go-");
        self.go_folder("").filter(|files| files.iter().any(|file| self.clause(file) == Some(last)))
    }

    fn go_folder(&self, folder: &str) -> Option<Vec<String>> {
        let files: Vec<String> =
            self.in_folder(folder).iter().filter(|path| path.ends_with(".go")).cloned().collect();
        (!files.is_empty()).then_some(files)
    }

    fn java(&self, module: &str) -> Option<Place> {
        let segments = segments(module);
        let ends = |folder: &str| {
            folder
                .split('/')
                .collect::<Vec<_>>()
                .ends_with(&segments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let is_source = |path: &&String| JVM_ENDINGS.iter().any(|ending| path.ends_with(ending));
        let mut found: Vec<String> = self
            .by_folder
            .iter()
            .filter(|(folder, _)| ends(folder))
            .flat_map(|(_, files)| files.iter().filter(is_source).cloned())
            .collect();
        if found.is_empty() {
            // Kotlin and Scala need no folder for each part of a package.
            let says = self.clauses.iter().filter(|(_, clause)| clause.as_str() == module);
            found = says.map(|(path, _)| path).filter(is_source).cloned().collect();
        }
        if !found.is_empty() {
            found.sort();
            return Some(files(found));
        }
        // A type, for what is inside of it.
        let file = self.by_suffix(&segments, "", JVM_ENDINGS)?;
        Some(Place { files: file, rest: segments.last().cloned().into_iter().collect() })
    }

    /// A namespace: the folder that ends like it.
    fn php(&self, module: &str) -> Option<Place> {
        let segments = segments(module);
        let last = segments.last()?;
        let found: Vec<String> = self
            .by_folder
            .iter()
            .filter(|(folder, _)| {
                folder.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(last))
            })
            .flat_map(|(_, files)| files.iter().filter(|path| path.ends_with(".php")).cloned())
            .collect();
        (!found.is_empty()).then(|| files(found))
    }

    /// Files whose module name ends with these segments: the nearest to the importer.
    fn by_suffix(&self, segments: &[String], importer: &str, endings: &[&str]) -> Option<Vec<String>> {
        self.by_suffix_if(segments, importer, endings, |_| true)
    }

    /// The same, of those files that can be meant.
    fn by_suffix_if(
        &self,
        segments: &[String],
        importer: &str,
        endings: &[&str],
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<Vec<String>> {
        let last = segments.last()?;
        let mut found: Vec<&String> = self
            .by_stem
            .get(last)?
            .iter()
            .filter(|path| endings.is_empty() || endings.iter().any(|ending| path.ends_with(ending)))
            .filter(|path| is_meant(path))
            .filter(|path| {
                let parts = module_segments(path);
                parts.len() >= segments.len()
                    && parts.iter().rev().zip(segments.iter().rev()).all(|(a, b)| a == b)
            })
            .collect();
        let shared =
            |path: &str| path.split('/').zip(importer.split('/')).take_while(|(a, b)| a == b).count();
        let best = found.iter().map(|path| shared(path)).max()?;
        found.retain(|path| shared(path) == best);
        let shortest = found.iter().map(|path| path.matches('/').count()).min()?;
        found.retain(|path| path.matches('/').count() == shortest);
        Some(found.into_iter().cloned().collect())
    }
}

fn files(files: Vec<String>) -> Place {
    Place { files, rest: Vec::new() }
}

/// The folder of a path; empty at the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn joined(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn strip_ending(path: &str) -> &str {
    [".d.ts", ".tsx", ".ts", ".jsx", ".mjs", ".cjs", ".js", ".hpp", ".hh", ".h", ".rb", ".sh", ".bash"]
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .unwrap_or(path)
}

fn segments(module: &str) -> Vec<String> {
    module.split(['.', '/', ':', '\\']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// The file as a module: its path without the ending and without names that stand for their folder.
fn module_segments(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    if let Some(name) = parts.last_mut() {
        *name = name.split('.').next().unwrap_or(name);
        if matches!(*name, "__init__" | "index" | "mod") {
            parts.pop();
        }
    }
    parts
}

fn stem(path: &str) -> String {
    module_segments(path).last().copied().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
