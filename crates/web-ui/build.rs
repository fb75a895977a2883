//! Builds the page of `ui/` into OUT_DIR, from where `lib.rs` embeds it.
//!
//! In this order: a built folder named by CHARTROOM_UI_DIST; a `dist/` shipped inside the published crate; a
//! placeholder for docs.rs or with the feature `page` off; npm. Without npm the build stops with one sentence.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Result<T> = std::result::Result<T, String>;

const PLACEHOLDER: &str = "<!doctype html><meta charset=\"utf-8\"><title>Chartroom</title>\
    <p>This build of Chartroom carries no page: it was built without the feature <code>page</code>.</p>\n";

/// What the page is made of, below `ui/`: a change in any of these builds it again.
const SOURCES: [&str; 6] =
    ["src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts"];

fn main() {
    if let Err(message) = build() {
        println!("cargo::error={message}");
    }
}

fn build() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CHARTROOM_UI_DIST");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    let crate_dir = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let dist = PathBuf::from(variable("OUT_DIR")?).join("dist");

    if let Some(built) = env::var_os("CHARTROOM_UI_DIST").filter(|value| !value.is_empty()) {
        return take_built(Path::new(&built), &dist, "CHARTROOM_UI_DIST");
    }
    let shipped = crate_dir.join("dist");
    if shipped.join("index.html").is_file() {
        return take_built(&shipped, &dist, "the crate's dist folder");
    }
    if env::var_os("DOCS_RS").is_some() || env::var_os("CARGO_FEATURE_PAGE").is_none() {
        empty(&dist)?;
        return write(&dist.join("index.html"), PLACEHOLDER.as_bytes());
    }
    build_with_npm(&crate_dir.join("../../ui"), &dist)
}

fn take_built(built: &Path, dist: &Path, named_by: &str) -> Result<()> {
    println!("cargo::rerun-if-changed={}", built.display());
    if !built.join("index.html").is_file() {
        return Err(format!(
            "{named_by} names {}, which holds no index.html; build the page first (npm run build in ui/)",
            built.display()
        ));
    }
    empty(dist)?;
    copy(built, dist)
}

fn build_with_npm(ui: &Path, dist: &Path) -> Result<()> {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", ui.join(source).display());
    }
    let ui = ui
        .canonicalize()
        .map_err(|error| format!("the page's sources are not at {}: {error}", ui.display()))?;
    install_packages(&ui)?;
    empty(dist)?;
    npm(&ui, ["run", "build", "--", "--logLevel", "warn", "--emptyOutDir", "--outDir"], Some(dist))
}

/// Installs the packages, unless the lock is still the one that was installed last.
fn install_packages(ui: &Path) -> Result<()> {
    let lock = fs::read(ui.join("package-lock.json"))
        .map_err(|error| format!("reading ui/package-lock.json: {error}"))?;
    let installed = ui.join("node_modules/.chartroom-lock");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    npm(
        ui,
        ["ci", "--ignore-scripts", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"],
        None,
    )?;
    write(&installed, &lock)
}

#[allow(
    clippy::disallowed_methods,
    reason = "a build script runs npm on our own sources, before any workspace exists"
)]
fn npm<const N: usize>(ui: &Path, arguments: [&str; N], last: Option<&Path>) -> Result<()> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(npm)
        .args(arguments)
        .args(last.map(Path::as_os_str).into_iter().collect::<Vec<&OsStr>>())
        .current_dir(ui)
        .env_remove("NODE_ENV")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!(
                "npm could not be started ({error}): install Node.js 20 or newer, or set CHARTROOM_UI_DIST to a \
                 built page, or build with --no-default-features"
            )
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    for line in String::from_utf8_lossy(&said).lines().filter(|line| !line.trim().is_empty()) {
        println!("cargo::warning={line}");
    }
    Err(format!("`npm {}` failed in {} ({})", arguments.join(" "), ui.display(), output.status))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let told = |error: std::io::Error| format!("copying {}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(told)? {
        let entry = entry.map_err(told)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(told)?.is_dir() {
            fs::create_dir_all(&target).map_err(told)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target).map_err(told)?;
        }
    }
    Ok(())
}

fn empty(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(|error| format!("emptying {}: {error}", dir.display()))?;
    }
    fs::create_dir_all(dir).map_err(|error| format!("making {}: {error}", dir.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|error| format!("writing {}: {error}", path.display()))
}

fn variable(name: &str) -> Result<std::ffi::OsString> {
    env::var_os(name).ok_or_else(|| format!("cargo did not set {name}"))
}
