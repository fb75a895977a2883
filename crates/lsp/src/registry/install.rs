//! How a server is installed: packages by package manager.

use serde::Deserialize;

/// A package manager that a machine may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PackageManager {
    /// Node packages.
    Npm,
    /// Python packages.
    Pip,
    /// Rust packages, built from source.
    Cargo,
    /// Go modules, built from source.
    Go,
    /// Ruby packages.
    Gem,
    /// Debian packages, for the whole machine.
    Apt,
    /// Homebrew formulas, for the whole machine.
    Brew,
}

impl PackageManager {
    /// All, in the order in which they are preferred: ready-made and into a folder first, for the whole machine last.
    pub const ALL: [Self; 7] =
        [Self::Npm, Self::Pip, Self::Go, Self::Gem, Self::Cargo, Self::Brew, Self::Apt];

    /// Those that install into a folder, the preferred one first.
    pub const INTO_A_FOLDER: [Self; 5] = [Self::Npm, Self::Pip, Self::Go, Self::Gem, Self::Cargo];

    /// The program that is looked for on the PATH.
    pub fn program(self) -> &'static str {
        match self {
            // The one that is surely of the interpreter that makes the environment.
            Self::Pip => "python3",
            Self::Apt => "apt-get",
            Self::Npm | Self::Cargo | Self::Go | Self::Gem | Self::Brew => self.name(),
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Gem => "gem",
            Self::Apt => "apt",
            Self::Brew => "brew",
        }
    }

    /// The command with which people install such packages for themselves.
    fn command(self) -> &'static str {
        match self {
            Self::Npm => "npm install --global",
            Self::Pip => "pip install",
            Self::Cargo => "cargo install --locked",
            Self::Go => "go install",
            Self::Gem => "gem install",
            Self::Apt => "apt-get install",
            Self::Brew => "brew install",
        }
    }
}

/// The packages that bring a server, by package manager.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Install {
    npm: Vec<String>,
    pip: Vec<String>,
    cargo: Vec<String>,
    go: Vec<String>,
    gem: Vec<String>,
    apt: Vec<String>,
    brew: Vec<String>,
    /// What to do where none of them helps: a command, or `see` and an address.
    other: Option<String>,
    /// What people are told first, where that is not the first command below.
    hint: Option<String>,
}

impl Install {
    /// The packages by which a package manager brings the server; none when it does not.
    pub fn packages(&self, manager: PackageManager) -> &[String] {
        match manager {
            PackageManager::Npm => &self.npm,
            PackageManager::Pip => &self.pip,
            PackageManager::Cargo => &self.cargo,
            PackageManager::Go => &self.go,
            PackageManager::Gem => &self.gem,
            PackageManager::Apt => &self.apt,
            PackageManager::Brew => &self.brew,
        }
    }

    /// Every way to install it, the preferred one first.
    pub fn hints(&self) -> Vec<String> {
        let by_manager = PackageManager::ALL.into_iter().filter_map(|manager| {
            let packages = self.packages(manager);
            (!packages.is_empty()).then(|| format!("{} {}", manager.command(), packages.join(" ")))
        });
        self.other.clone().into_iter().filter(|other| !other.starts_with("see ")).chain(by_manager).collect()
    }

    /// Every way to install it; an address where there is no command.
    pub fn hints_or_address(&self) -> Vec<String> {
        let hints = self.hints();
        if hints.is_empty() { self.other.clone().into_iter().collect() } else { hints }
    }

    /// What people are told when it is missing: a command for every machine, else an address, else one for some machines.
    pub fn hint(&self) -> String {
        let for_some = ["brew ", "apt-get "];
        let hints = self.hints();
        let for_all = hints.iter().find(|hint| !for_some.iter().any(|some| hint.starts_with(some))).cloned();
        let other = || self.other.clone().or_else(|| hints.first().cloned());
        self.hint.clone().or(for_all).or_else(other).unwrap_or_default()
    }
}
