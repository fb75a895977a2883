//! The model in real languages: each line of it is one line of the source, so that a wrong line is known by its number.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use chartroom_lsp::Orchestrator;
use chartroom_protocol::lsp::ServerState;

use super::machine::Language;
use super::model::{FILES, World};

/// A language with a real server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    TypeScript,
    Python,
    Go,
    C,
    Rust,
}

impl Real {
    pub(crate) const ALL: [Self; 5] = [Self::TypeScript, Self::Python, Self::Go, Self::C, Self::Rust];

    /// What the project has from the beginning, beside the model's own files.
    pub(crate) fn fixture(self) -> String {
        match self {
            Self::TypeScript => "//- package.json\n{\"name\":\"x\",\"type\":\"module\"}\n".to_owned(),
            Self::Python => String::new(),
            Self::Go => {
                "//- go.mod\nmodule example.com/x\n\ngo 1.19\n//- main.go\npackage main\n\nfunc main() {}\n"
                    .to_owned()
            }
            Self::C => "//- compile_flags.txt\n-std=c++17\n".to_owned(),
            Self::Rust => {
                let modules: String =
                    (0..FILES.len()).map(|module| format!("pub mod m{module};\n")).collect();
                format!(
                    "//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\n{modules}"
                )
            }
        }
    }

    /// The npm set that its server is in.
    pub(crate) fn modules(self) -> &'static [&'static str] {
        match self {
            Self::TypeScript => &["ts7"],
            Self::Python => &["pyright"],
            Self::Go | Self::C | Self::Rust => &[],
        }
    }

    /// The lines of a module, and which of them are wrong.
    fn lines(self, world: &World, module: usize) -> Vec<(String, bool)> {
        let source = &world.files[&module];
        let mut lines = self.head(source.salt);
        for (name, _) in source.defines.iter().enumerate().filter(|(_, is_there)| **is_there) {
            lines.push((self.definition(module, name), false));
        }
        let mut included = BTreeSet::new();
        for (from, name) in self.imports(world, module) {
            lines.extend(self.import(world, module, (from, name), &mut included));
        }
        if source.has_error {
            lines.push((self.own_error(module), true));
        }
        if source.has_weak_error
            && let Some(weak) = self.weak_error()
        {
            lines.push((weak, world.is_strict));
        }
        lines
    }

    fn head(self, salt: u32) -> Vec<(String, bool)> {
        let lines: Vec<String> = match self {
            Self::TypeScript => vec![format!("export const salt = {salt};")],
            Self::Python => vec![format!("salt = {salt}")],
            Self::Go => vec!["package main".to_owned(), format!("// salt {salt}")],
            Self::C => vec!["#pragma once".to_owned(), format!("// salt {salt}")],
            Self::Rust => vec!["pub struct M;".to_owned(), format!("// salt {salt}")],
        };
        lines.into_iter().map(|line| (line, false)).collect()
    }

    fn definition(self, module: usize, name: usize) -> String {
        match self {
            Self::TypeScript => format!("export const n{name} = 1;"),
            Self::Python => format!("n{name} = 1"),
            Self::Go => format!("var F{module}n{name} = 1"),
            Self::C => format!("namespace f{module} {{ constexpr int n{name} = 1; }}"),
            Self::Rust => format!("impl M {{ pub fn n{name}(&self) -> i32 {{ 1 }} }}"),
        }
    }

    /// What a module imports, as far as the language can.
    fn imports(self, world: &World, module: usize) -> impl Iterator<Item = (usize, usize)> {
        let imports = world.files[&module].imports.clone().into_iter();
        // Headers that include each other in a circle are wrong in ways of their own.
        imports.filter(move |(from, _)| self != Self::C || *from < module)
    }

    /// Includes a header and what it includes, each for the first time only; tells whether one of them is wrong.
    fn includes_wrong(self, world: &World, header: usize, included: &mut BTreeSet<usize>) -> bool {
        let Some(source) = world.files.get(&header).filter(|_| included.insert(header)) else { return false };
        let mut is_wrong = source.has_error;
        for (from, name) in self.imports(world, header) {
            is_wrong |= self.includes_wrong(world, from, included);
            is_wrong |= world.is_broken((from, name));
        }
        is_wrong
    }

    /// `included` are the headers that are there before this line.
    fn import(
        self,
        world: &World,
        module: usize,
        (from, name): (usize, usize),
        included: &mut BTreeSet<usize>,
    ) -> Vec<(String, bool)> {
        let is_broken = world.is_broken((from, name));
        let line = match self {
            Self::TypeScript => {
                format!("import {{ n{name} as i{from}_{name} }} from '{}';", self.relative(module, from, ""))
            }
            Self::Python => {
                format!("from {} import n{name} as i{from}_{name}", FILES[from].replace('/', "."))
            }
            Self::Go => format!("var U{module}x{from}n{name} = F{from}n{name}"),
            Self::C => {
                let file = self.relative(module, from, ".hpp");
                // What is wrong in a header is told where it is included first, be it by another header.
                let is_header_wrong = self.includes_wrong(world, from, included);
                return vec![
                    (format!("#if __has_include(\"{file}\")"), false),
                    (format!("#include \"{file}\""), is_header_wrong),
                    ("#endif".to_owned(), false),
                    (
                        format!("namespace f{module} {{ constexpr int u{from}_{name} = f{from}::n{name}; }}"),
                        is_broken,
                    ),
                ];
            }
            Self::Rust => format!("pub fn u{from}_{name}() -> i32 {{ crate::m{from}::M.n{name}() }}"),
        };
        vec![(line, is_broken)]
    }

    fn own_error(self, module: usize) -> String {
        match self {
            Self::TypeScript => "export const own: number = 'x';".to_owned(),
            Self::Python => "own: int = 'x'".to_owned(),
            Self::Go => format!("var E{module} int = \"x\""),
            Self::C => format!("namespace f{module} {{ constexpr int own = \"x\"; }}"),
            Self::Rust => "pub fn own() -> i32 { \"x\" }".to_owned(),
        }
    }

    /// A line that is wrong only if the config says so.
    fn weak_error(self) -> Option<String> {
        match self {
            Self::TypeScript => Some("export function weak(a) { return a; }".to_owned()),
            Self::Python => Some("weak = 1  # type: ignore".to_owned()),
            Self::Go | Self::C | Self::Rust => None,
        }
    }

    /// Another module as it is named from one.
    fn relative(self, module: usize, from: usize, ending: &str) -> String {
        let folder = Path::new(FILES[module]).parent().unwrap();
        let up: PathBuf = folder.components().map(|_| Component::ParentDir).collect();
        let path = Path::new(".").join(up).join(FILES[from]);
        format!("{}{ending}", path.display())
    }
}

impl Language for Real {
    fn file(&self, module: usize) -> String {
        match self {
            Self::TypeScript => format!("src/{}.ts", FILES[module]),
            Self::Python => format!("{}.py", FILES[module]),
            Self::Go => format!("f{module}.go"),
            Self::C => format!("{}.hpp", FILES[module]),
            Self::Rust => format!("src/m{module}.rs"),
        }
    }

    fn text(&self, world: &World, module: usize) -> String {
        self.lines(world, module).into_iter().map(|(line, _)| line + "\n").collect()
    }

    fn errors(&self, world: &World, module: usize) -> Vec<u32> {
        let lines = self.lines(world, module).into_iter().enumerate();
        lines
            .filter(|(_, (_, is_wrong))| *is_wrong)
            .map(|(line, _)| u32::try_from(line).unwrap() + 1)
            .collect()
    }

    fn config(&self, world: &World) -> Option<(String, String)> {
        let is_strict = world.is_strict;
        match self {
            Self::TypeScript => Some((
                "tsconfig.json".to_owned(),
                format!(
                    "{{\"compilerOptions\":{{\"noImplicitAny\":{is_strict},\"strict\":{is_strict},\"module\":\"esnext\",\"target\":\"esnext\",\"moduleResolution\":\"bundler\",\"types\":[]}},\"include\":[\"src\"]}}\n"
                ),
            )),
            Self::Python => {
                let level = if is_strict { "error" } else { "none" };
                Some((
                    "pyrightconfig.json".to_owned(),
                    format!("{{\"reportUnnecessaryTypeIgnoreComment\":\"{level}\"}}\n"),
                ))
            }
            Self::Go | Self::C | Self::Rust => None,
        }
    }

    fn depends(&self, world: &World, module: usize, on: &[usize]) -> bool {
        world.files.contains_key(&module) && self.imports(world, module).any(|(from, _)| on.contains(&from))
    }

    fn can_remove(&self) -> bool {
        // A Rust file that its crate names cannot go alone.
        *self != Self::Rust
    }

    #[expect(clippy::disallowed_methods, reason = "a crash is nothing of ours, and is noticed when it is")]
    fn kill(&self, orchestrator: &Orchestrator) -> bool {
        let running = || {
            let rows = orchestrator.status().into_iter().filter(|row| row.status == ServerState::Active);
            rows.filter_map(|row| row.server_pid).collect::<Vec<u32>>()
        };
        let pids = running();
        for pid in &pids {
            std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        }
        while running().iter().any(|pid| pids.contains(pid)) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        !pids.is_empty()
    }

    fn may_tell_some(&self) -> bool {
        // An error that rust-analyzer finds itself does not wait for rustc.
        *self == Self::Rust
    }

    fn may_be_silent(&self) -> bool {
        // Other programs share the machine: a server that is slow is not wrong.
        true
    }
}
