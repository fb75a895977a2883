//! Where modules of Rust lie: the tree of a crate, and the crates of a workspace.

use super::{Place, Project, folder, segments};

impl Project {
    /// The folder of the crate that a file belongs to, and whether the file is a root of its own.
    fn crate_of<'a>(&self, path: &'a str) -> &'a str {
        let mut at = folder(path);
        loop {
            let manifest = if at.is_empty() { "Cargo.toml".to_owned() } else { format!("{at}/Cargo.toml") };
            if self.paths.contains(&manifest) && self.cargo.values().any(|package| package.folder == at) {
                return at;
            }
            match at.rsplit_once('/') {
                Some((above, _)) => at = above,
                None if !at.is_empty() => at = "",
                None => break,
            }
        }
        // Without manifests: what is above the nearest `src`.
        match path.rfind("src/") {
            Some(0) | None => "",
            Some(at) => path[..at].trim_end_matches('/'),
        }
    }

    /// Says whether two files belong to the same crate.
    pub(crate) fn same_crate(&self, one: &str, other: &str) -> bool {
        self.crate_of(one) == self.crate_of(other)
    }

    pub(super) fn rust(&self, importer: &str, module: &str) -> Option<Place> {
        let segments = segments(module);
        let mut rest = segments.as_slice();
        let home = self.crate_of(importer);
        let join = |folder: &str, name: &str| {
            if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
        };
        let root_of = |folder: &str| -> (String, Vec<String>) {
            let source = join(folder, "src");
            let roots = ["lib.rs", "main.rs"].iter().map(|name| join(&source, name));
            (source.clone(), roots.filter(|path| self.paths.contains(path)).collect())
        };
        // Where the children of the current module lie, and its own files.
        let (mut folder_now, mut files) = match rest.first()?.as_str() {
            "crate" => {
                rest = &rest[1..];
                match self.crate_root(importer, home) {
                    Some(root) => {
                        let files = self.module_files(root);
                        (root.to_owned(), files)
                    }
                    None => (module_folder(importer), vec![importer.to_owned()]),
                }
            }
            "self" => {
                rest = &rest[1..];
                (module_folder(importer), vec![importer.to_owned()])
            }
            "super" => {
                let mut at = module_folder(importer);
                let mut files = vec![importer.to_owned()];
                while rest.first().is_some_and(|segment| segment == "super") {
                    rest = &rest[1..];
                    at = at.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned());
                    // A module inside of a file has that file above it: both are looked at.
                    files.extend(self.module_files(&at));
                }
                (at, files)
            }
            name => {
                let children = module_folder(importer);
                let child = self.rust_child(&children, name);
                rest = &rest[1..];
                if !child.is_empty() {
                    (join(&children, name), child)
                } else if let Some(package) = self.cargo.get(name) {
                    let (source, roots) = root_of(&package.folder);
                    (source, roots)
                } else {
                    return None;
                }
            }
        };
        while let Some(name) = rest.first() {
            let child = self.rust_child(&folder_now, name);
            if child.is_empty() {
                break;
            }
            folder_now = join(&folder_now, name);
            files = child;
            rest = &rest[1..];
        }
        files.sort();
        files.dedup();
        (!files.is_empty()).then(|| Place { files, rest: rest.to_vec() })
    }

    /// The nearest folder above a file that a crate begins in.
    fn crate_root<'a>(&self, importer: &'a str, home: &str) -> Option<&'a str> {
        let mut at = folder(importer);
        if at.ends_with("/bin") || at == "src/bin" {
            return None;
        }
        loop {
            let within = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
            if self.paths.contains(&within("lib.rs")) || self.paths.contains(&within("main.rs")) {
                return Some(at);
            }
            if at == home || at.is_empty() {
                return None;
            }
            at = folder(at);
        }
    }

    fn rust_child(&self, folder: &str, name: &str) -> Vec<String> {
        let base = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        [format!("{base}.rs"), format!("{base}/mod.rs")]
            .into_iter()
            .filter(|path| self.paths.contains(path))
            .collect()
    }

    /// The files of the module whose children lie in a folder.
    fn module_files(&self, folder: &str) -> Vec<String> {
        let within =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        [format!("{folder}.rs"), within("mod.rs"), within("lib.rs"), within("main.rs")]
            .into_iter()
            .filter(|path| self.paths.contains(path))
            .collect()
    }
}

/// Where the children of a Rust file's module lie.
fn module_folder(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let above = folder(path);
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => above.to_owned(),
        _ => path.strip_suffix(".rs").unwrap_or(path).to_owned(),
    }
}
