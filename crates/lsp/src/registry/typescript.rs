//! TypeScript and JavaScript: one id, two programs, chosen by the version that the project has.

use std::path::{Path, PathBuf};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;
use serde_json::Value;

pub(super) const ID: &str = "typescript";

/// Which program serves a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flavour {
    /// TypeScript 7 and later: the compiler is the server.
    Native {
        /// The project's own compiler.
        tsc: PathBuf,
    },
    /// Before 7: a wrapper around tsserver, which refuses to start with 7.
    Wrapped,
}

/// Looks at the TypeScript that the project itself has, from its root up to the workspace.
pub fn flavour(project: &Path, workspace: &Path) -> Option<Flavour> {
    for folder in project.ancestors().take_while(|folder| folder.starts_with(workspace)) {
        let package = folder.join("node_modules/typescript");
        if let Some(version) = version(&package) {
            return Some(of_version(&version, package.join("bin/tsc")));
        }
    }
    None
}

/// Looks at a `tsc` found elsewhere: beside its real path is the package it belongs to.
pub(crate) fn flavour_of_tsc(tsc: &Path) -> Option<Flavour> {
    let real = tsc.canonicalize().ok()?;
    let version = real.ancestors().skip(1).take(3).find_map(version)?;
    Some(of_version(&version, tsc.to_owned()))
}

/// Returns the program that a `tsc` of TypeScript 7 would start: it is a script for node, which takes as long to start as the
/// compiler takes for a small project, and stays beside it. Nothing where the package is laid out in another way.
pub(crate) fn executable_of_tsc(tsc: &Path) -> Option<PathBuf> {
    let real = tsc.canonicalize().ok()?;
    let package = real.ancestors().skip(1).take(3).find(|folder| version(folder).is_some())?;
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let name = format!("@typescript/typescript-{platform}-{architecture}/lib/tsc");
    [package.join("node_modules"), package.parent()?.to_owned()]
        .into_iter()
        .filter_map(|modules| modules.join(&name).canonicalize().ok())
        .find(|program| program.is_file())
}

fn of_version(version: &str, tsc: PathBuf) -> Flavour {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok()).unwrap_or(0);
    if major >= 7 { Flavour::Native { tsc } } else { Flavour::Wrapped }
}

/// A manifest that is larger is none.
const MAX_MANIFEST: u64 = 1024 * 1024;

fn version(package: &Path) -> Option<String> {
    let package = CanonicalRoot::open(package).ok()?;
    let (bytes, _) = Inside::below(&package, "package.json")?.read(MAX_MANIFEST).ok()?;
    let json: Value = serde_json::from_slice(&bytes).ok()?;
    if json.get("name")?.as_str()? != "typescript" {
        return None;
    }
    Some(json.get("version")?.as_str()?.to_owned())
}
