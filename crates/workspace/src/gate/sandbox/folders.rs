//! The folders that a sandbox is about, found through a child's environment: secrets, caches, an agent's own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use super::names::{
    CACHE, CARGO_FILES, CARGO_FOLDERS, CONFIG, DATA, NAMED_CACHES, NAMED_SECRETS, SECRETS, STATE, SYSTEM,
    TOOLCHAINS,
};

/// An environment, read for the folders in it.
pub(super) struct Folders<'a> {
    env: &'a BTreeMap<OsString, OsString>,
    home: Option<PathBuf>,
}

impl<'a> Folders<'a> {
    pub(super) fn of(env: &'a BTreeMap<OsString, OsString>) -> Self {
        let mut folders = Folders { env, home: None };
        folders.home = folders.variable("HOME");
        folders
    }

    /// What is never read: known by its place in the home, or because a variable names it.
    ///
    /// What the environment names inside the project is the project's own.
    pub(super) fn secrets(&self, root: &Path) -> Vec<PathBuf> {
        let mut named = Vec::new();
        for name in NAMED_SECRETS {
            let value = self.env.get(OsStr::new(name)).map(std::env::split_paths);
            named.extend(value.into_iter().flatten());
        }
        for (variable, place) in [CONFIG, DATA] {
            let parts = SECRETS.iter().filter_map(|secret| Path::new(secret).strip_prefix(place).ok());
            named.extend(
                self.variable(variable).iter().flat_map(|folder| parts.clone().map(|part| folder.join(part))),
            );
        }
        let cargo = self.variable("CARGO_HOME");
        named.extend(
            cargo.iter().flat_map(|cargo| ["credentials", "credentials.toml"].map(|name| cargo.join(name))),
        );
        named.retain(|path| self.is_narrow(path) && !path.starts_with(root) && !root.starts_with(path));
        named.extend(self.below_home(SECRETS));
        named
    }

    /// What may be written by anybody anyway, but for a folder with the home in it.
    pub(super) fn temporary(&self) -> Vec<PathBuf> {
        let named = ["TMPDIR", "GOTMPDIR"].into_iter().filter_map(|name| self.variable(name));
        let usual = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
        usual.chain(named).filter(|path| self.is_narrow(path)).collect()
    }

    /// Where a program makes its temporary files.
    pub(super) fn temporary_in_use(&self) -> PathBuf {
        self.variable("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// What compilers and package tools keep between runs.
    pub(super) fn caches(&self) -> Vec<PathBuf> {
        let mut caches: Vec<PathBuf> = self.place(CACHE).into_iter().collect();
        if let Some(cargo) = self.cargo() {
            caches.extend(CARGO_FOLDERS.iter().chain(CARGO_FILES).map(|part| cargo.join(part)));
        }
        caches.extend(self.go_packages());
        caches.extend(NAMED_CACHES.iter().filter_map(|name| self.variable(name)));
        caches.extend(self.variable("GRADLE_USER_HOME").map(|gradle| gradle.join("caches")));
        caches.extend(self.below_home(&[
            ".npm",
            ".gradle/caches",
            ".m2/repository",
            ".nuget/packages",
            "Library/Caches",
        ]));
        caches.retain(|path| self.is_narrow(path));
        caches
    }

    /// Makes the caches that a child would make itself, because landlock can only grant what is there: those that a
    /// variable names, and those that a language server of this name needs.
    pub(super) fn make_caches(&self, label: &str) {
        let mut folders: Vec<PathBuf> = NAMED_CACHES.iter().filter_map(|name| self.variable(name)).collect();
        let cache = self.place(CACHE);
        folders.extend(cache.clone());
        // Below the cache by name: when something there is hidden, nothing new can be made in it.
        let own = |names: &[&str]| {
            cache.iter().flat_map(|cache| names.iter().map(|name| cache.join(name))).collect::<Vec<_>>()
        };
        match label {
            "gopls" => {
                folders.extend(self.go_packages());
                folders.extend(own(&["go-build", "gopls", "goimports", "staticcheck"]));
            }
            "rust-analyzer" => {
                let cargo = self.cargo();
                folders
                    .extend(cargo.iter().flat_map(|cargo| CARGO_FOLDERS.iter().map(|part| cargo.join(part))));
                let files = cargo.iter().flat_map(|cargo| CARGO_FILES.iter().map(|part| cargo.join(part)));
                self.make(folders.drain(..));
                for file in files.filter(|file| self.is_narrow(file)) {
                    if let Err(error) = OpenOptions::new().create(true).append(true).open(&file) {
                        tracing::debug!(%error, file = %file.display(), "a lock of cargo's cannot be made");
                    }
                }
            }
            "typescript" => folders.extend(own(&["typescript"])),
            "clangd" => folders.extend(own(&["clangd"])),
            "pyright" => folders.extend(own(&["pyright", "pyright-python"])),
            _ => {}
        }
        self.make(folders.into_iter());
    }

    /// What an agent keeps between runs: its login, its settings, its sessions.
    pub(super) fn of_agent(&self, label: &str) -> Vec<PathBuf> {
        let file_name = Path::new(label).file_name().and_then(OsStr::to_str).unwrap_or_default();
        // `codex-acp` keeps its things where `codex` does.
        let name = file_name.split(['-', '.']).next().unwrap_or_default();
        let mut own = Vec::new();
        own.extend(
            ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"]
                .into_iter()
                .filter_map(|it| self.variable(it)),
        );
        if !name.is_empty() {
            own.extend(self.below_home(&[&format!(".{name}")]));
            for place in [CONFIG, DATA, STATE, CACHE] {
                own.extend(self.place(place).map(|folder| folder.join(name)));
            }
            own.extend(self.below_home(&[&format!(".{name}.json")]));
        }
        if name == "claude" {
            own.extend(self.place(CACHE).map(|cache| cache.join("claude-cli-nodejs")));
            own.extend(self.below_home(&[".claude.json.backup"]));
        }
        own.retain(|path| self.is_narrow(path));
        own
    }

    /// What a program reads to run at all: the system, what is on its PATH, and where it is installed.
    pub(super) fn needed_to_run(&self, program: &Path) -> Vec<PathBuf> {
        let mut needed: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let path = self.env.get(OsStr::new("PATH")).map(std::env::split_paths);
        needed
            .extend(path.into_iter().flatten().filter(|entry| entry.is_absolute() && self.is_narrow(entry)));
        needed.extend(self.below_home(TOOLCHAINS));
        needed.extend(self.variable("RUSTUP_HOME"));
        needed.extend(program.parent().filter(|folder| self.is_narrow(folder)).map(Path::to_owned));
        // A package of npm reads its neighbours.
        let modules = program.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
        needed.extend(modules.map(Path::to_owned));
        needed
    }

    /// Makes the folders that an agent would make itself at its first start: those that a variable names or that lie in
    /// the home itself.
    pub(super) fn make_own(&self, own: &[PathBuf]) {
        let is_file = |path: &Path| path.extension().is_some();
        let is_its_first = |path: &Path| {
            path.parent() == self.home.as_deref() || self.env.values().any(|value| value == path.as_os_str())
        };
        self.make(own.iter().filter(|path| is_its_first(path) && !is_file(path)).cloned());
    }

    fn make(&self, folders: impl Iterator<Item = PathBuf>) {
        for folder in folders.filter(|path| self.is_narrow(path)) {
            if let Err(error) = std::fs::create_dir_all(&folder) {
                tracing::debug!(%error, folder = %folder.display(), "a child's own folder cannot be made");
            }
        }
    }

    fn place(&self, (variable, below_home): (&str, &str)) -> Option<PathBuf> {
        self.variable(variable).or_else(|| Some(self.home.as_ref()?.join(below_home)))
    }

    fn cargo(&self) -> Option<PathBuf> {
        self.variable("CARGO_HOME").or_else(|| Some(self.home.as_ref()?.join(".cargo")))
    }

    /// The modules of Go: in the first of GOPATH's folders.
    fn go_packages(&self) -> Option<PathBuf> {
        let first = self.env.get(OsStr::new("GOPATH")).and_then(|value| std::env::split_paths(value).next());
        let go = first.filter(|path| path.is_absolute()).or_else(|| Some(self.home.as_ref()?.join("go")))?;
        Some(go.join("pkg"))
    }

    /// Whether a path is not the home itself or above it: a variable must not open all of it.
    pub(super) fn is_narrow(&self, path: &Path) -> bool {
        let is_above = |home: &PathBuf| {
            home.starts_with(path) || home.canonicalize().is_ok_and(|real| real.starts_with(path))
        };
        path.is_absolute() && !self.home.as_ref().is_some_and(is_above)
    }

    fn below_home(&self, names: &[&str]) -> Vec<PathBuf> {
        let home = self.home.iter();
        home.flat_map(|home| names.iter().map(|name| home.join(name))).collect()
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.env.get(OsStr::new(name))?);
        path.is_absolute().then_some(path)
    }
}

/// The ports that an agent needs: HTTPS, and those of the model and the proxy that its environment names.
pub(super) fn ports(env: &BTreeMap<OsString, OsString>) -> Vec<u16> {
    let names_a_server = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["_BASE_URL", "_API_URL", "_ENDPOINT"].iter().any(|end| name.ends_with(end))
            || (name.ends_with("_PROXY") && name != "NO_PROXY")
    };
    let mut ports = vec![443];
    for (name, value) in env {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && names_a_server(name)
        {
            ports.extend(port_of(value));
        }
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn port_of(url: &str) -> Option<u16> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let after_host = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match after_host.rsplit_once(':') {
        Some((_, port)) => port.parse().ok(),
        None => Some(if scheme == "http" { 80 } else { 443 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn an_agent_reaches_https_its_model_and_its_proxy() {
        let check =
            |variables: &[(&str, &str)], expected: &[u16]| assert_eq!(ports(&env(variables)), expected);
        check(&[], &[443]);
        check(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:8123/v1"), ("OTHER", "http://x:1")], &[443, 8123]);
        check(&[("https_proxy", "http://user:word@[::1]:3128"), ("NO_PROXY", "http://x:2")], &[443, 3128]);
        check(&[("OPENAI_BASE_URL", "http://localhost")], &[80, 443]);
        check(&[("OPENAI_BASE_URL", "https://localhost:99999"), ("A_PROXY", "nonsense")], &[443]);
    }

    #[test]
    fn an_agent_has_the_folders_of_its_name_and_no_variable_opens_the_home() {
        let variables =
            env(&[("HOME", "/home/u"), ("CODEX_HOME", "/srv/codex"), ("CLAUDE_CONFIG_DIR", "/home")]);
        let own = Folders::of(&variables).of_agent("/opt/tools/codex-acp");
        let expected = [
            "/srv/codex",
            "/home/u/.codex",
            "/home/u/.config/codex",
            "/home/u/.local/share/codex",
            "/home/u/.local/state/codex",
            "/home/u/.cache/codex",
            "/home/u/.codex.json",
        ];
        assert_eq!(own, expected.map(PathBuf::from));
        let variables = env(&[("HOME", "/home/u"), ("TMPDIR", "/home/u"), ("XDG_CACHE_HOME", "relative")]);
        let folders = Folders::of(&variables);
        assert_eq!(folders.temporary(), ["/tmp", "/var/tmp"].map(PathBuf::from));
        assert_eq!(folders.caches().first(), Some(&PathBuf::from("/home/u/.cache")));
        assert!(Folders::of(&env(&[])).caches().is_empty());
    }

    #[test]
    fn a_program_reads_what_is_installed_around_it() {
        let variables = env(&[("HOME", "/home/u"), ("PATH", "/home/u:/home/u/tools/bin:relative")]);
        let program = Path::new("/home/u/npm/lib/node_modules/@a/b/node_modules/c/cli.js");
        let needed = Folders::of(&variables).needed_to_run(program);
        for path in ["/usr", "/home/u/tools/bin", "/home/u/npm/lib/node_modules", "/home/u/.rustup"] {
            assert!(needed.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(!needed.contains(&PathBuf::from("/home/u")) && !needed.contains(&PathBuf::from("relative")));
    }
}
