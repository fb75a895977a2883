//! What each package manager is told, and what its failure is about.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_transport::Child;
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, SpawnRequest};
use tokio::io::AsyncReadExt as _;

use super::{InstallError, Trouble};
use crate::registry::{BuiltIn, PackageManager};

/// One command of a package manager may take this long; what is built from source takes minutes.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// How long it has to end when it has taken too long.
const GRACE: Duration = Duration::from_secs(2);
/// More of a failure is not told.
const MAX_REASON: usize = 600;

/// Where and with what a server is installed.
pub(super) struct Step<'a> {
    pub(super) gate: &'a SpawnGate,
    pub(super) root: &'a CanonicalRoot,
    pub(super) folder: &'a Path,
    pub(super) program: &'a Path,
}

/// A command line with what is set in its environment.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, PathBuf)>,
}

impl Step<'_> {
    /// Runs what brings the packages into the folder.
    pub(super) async fn install(
        &self,
        server: &BuiltIn,
        manager: PackageManager,
    ) -> Result<(), InstallError> {
        for line in lines(manager, self.program, self.folder, server.install.packages(manager)) {
            self.run(&server.id, manager, line).await?;
        }
        Ok(())
    }

    async fn run(&self, id: &str, manager: PackageManager, line: Line) -> Result<(), InstallError> {
        let mut request = SpawnRequest::new(self.root, ChildKind::Installer, line.program);
        request.label = format!("{} for {id}", manager.name());
        request.args = line.args;
        request.cwd = self.folder.to_owned();
        request.env = line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let mut child = self.gate.spawn(request)?;
        drop(child.stdin.take());
        let failed =
            |reason: String, trouble| InstallError::Failed { id: id.to_owned(), manager, reason, trouble };
        let Ok(printed) = tokio::time::timeout(LIMIT, printed(&mut child)).await else {
            child.end(GRACE).await;
            return Err(failed(format!("it took more than {} minutes", LIMIT.as_secs() / 60), Trouble::Time));
        };
        let exit = child.wait().await;
        if exit.is_success() {
            return Ok(());
        }
        let said = child.stderr_tail();
        let reason = reason(if said.trim().is_empty() { &printed } else { &said });
        let reason = if reason.is_empty() { format!("it {exit}") } else { reason };
        let trouble = trouble(&format!("{printed}\n{said}"));
        Err(failed(reason, trouble))
    }
}

/// Reads what a child prints to its end; the last part of it is kept.
async fn printed(child: &mut Child) -> String {
    let mut kept = Vec::new();
    let Some(mut stdout) = child.stdout.take() else { return String::new() };
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stdout.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(4 * MAX_REASON);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The command lines of a package manager. No package's own scripts are run where that can be said.
fn lines(manager: PackageManager, program: &Path, folder: &Path, packages: &[String]) -> Vec<Line> {
    let packages = packages.iter().map(OsString::from);
    let line = |program: &Path, options: &[&str], packages: Vec<OsString>| Line {
        program: program.to_owned(),
        args: options.iter().map(OsString::from).chain(packages).collect(),
        env: Vec::new(),
    };
    let folder_text = folder.to_string_lossy();
    match manager {
        PackageManager::Npm => {
            let options =
                ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
            vec![line(program, &options, std::iter::once(folder.into()).chain(packages).collect())]
        }
        PackageManager::Pip => vec![
            line(program, &["-m", "venv", &folder_text], Vec::new()),
            line(
                &folder.join("bin/pip"),
                &["install", "--quiet", "--disable-pip-version-check", "--no-input"],
                packages.collect(),
            ),
        ],
        PackageManager::Go => {
            let mut install = line(program, &["install"], packages.collect());
            install.env.push(("GOBIN", folder.join("bin")));
            vec![install]
        }
        PackageManager::Gem => {
            let binaries = folder.join("bin");
            let binaries = binaries.to_string_lossy();
            let options = ["install", "--no-document", "--install-dir", &folder_text, "--bindir", &binaries];
            vec![line(program, &options, packages.collect())]
        }
        PackageManager::Cargo => {
            let mut install =
                line(program, &["install", "--locked", "--root", &folder_text], packages.collect());
            // What it is built from is of no use to anybody's own builds.
            install.env.push(("CARGO_TARGET_DIR", folder.join("target")));
            vec![install]
        }
        // They install for the whole machine, which is not ours to do.
        PackageManager::Apt | PackageManager::Brew => Vec::new(),
    }
}

/// The last lines that say something.
fn reason(said: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains("A complete log of this run"))
        .collect();
    let last = lines[lines.len().saturating_sub(4)..].join(" ");
    let start = last.char_indices().rev().nth(MAX_REASON).map_or(0, |(at, _)| at);
    last[start..].to_owned()
}

fn trouble(said: &str) -> Trouble {
    const DISK: &[&str] = &["ENOSPC", "No space left on device", "disk quota exceeded"];
    const NETWORK: &[&str] = &[
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "ETIMEDOUT",
        "name resolution",
        "Name or service not known",
        "resolve host",
        "dial tcp",
        "NewConnectionError",
        "Connection refused",
        "Network is unreachable",
    ];
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(DISK) {
        Trouble::Disk
    } else if says(NETWORK) {
        Trouble::Network
    } else {
        Trouble::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(manager: PackageManager) -> Vec<String> {
        let packages = ["one".to_owned(), "two@3".to_owned()];
        let told = |line: Line| {
            let env = line.env.iter().map(|(name, value)| format!("{name}={} ", value.display()));
            let args =
                line.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
            format!("{}{} {args}", env.collect::<String>(), line.program.display())
        };
        lines(manager, Path::new("/bin/it"), Path::new("/d/x"), &packages).into_iter().map(told).collect()
    }

    #[test]
    fn every_package_manager_is_told_to_install_into_the_folder() {
        let scripts = "--ignore-scripts --no-audit --no-fund --loglevel=error";
        assert_eq!(told(PackageManager::Npm), [format!("/bin/it install {scripts} --prefix /d/x one two@3")]);
        assert_eq!(
            told(PackageManager::Pip),
            [
                "/bin/it -m venv /d/x",
                "/d/x/bin/pip install --quiet --disable-pip-version-check --no-input one two@3"
            ]
        );
        assert_eq!(told(PackageManager::Go), ["GOBIN=/d/x/bin /bin/it install one two@3"]);
        let gem = "/bin/it install --no-document --install-dir /d/x --bindir /d/x/bin one two@3";
        assert_eq!(told(PackageManager::Gem), [gem]);
        let cargo = "CARGO_TARGET_DIR=/d/x/target /bin/it install --locked --root /d/x one two@3";
        assert_eq!(told(PackageManager::Cargo), [cargo]);
        assert!(told(PackageManager::Apt).is_empty() && told(PackageManager::Brew).is_empty());
    }

    #[test]
    fn the_words_of_a_failure_tell_what_it_is_about() {
        for (said, expected) in [
            ("npm error code ENOTFOUND\nnpm error network request to x failed", Trouble::Network),
            (
                "pip._vendor.urllib3.connection: Failed: Temporary failure in name resolution",
                Trouble::Network,
            ),
            ("go: dial tcp: lookup proxy.golang.org: no such host", Trouble::Network),
            ("npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write", Trouble::Disk),
            ("OSError: [Errno 28] No space left on device", Trouble::Disk),
            ("npm error 404 Not Found", Trouble::Other),
        ] {
            assert_eq!(trouble(said), expected, "{said}");
        }
        let long = format!(
            "{}\nlast\n\nnpm error A complete log of this run can be found in: /x\n",
            "y".repeat(5000)
        );
        assert!(
            reason(&long).ends_with(" last") && reason(&long).len() <= MAX_REASON + 1,
            "{}",
            reason(&long)
        );
    }
}
