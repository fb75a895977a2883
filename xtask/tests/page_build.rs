//! What the build says when the page cannot be built.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "a build script is compiled and run as cargo does it")]

use std::path::Path;
use std::process::Command;

/// Compiles the page's build script, runs it in an environment of its own, and returns what it tells cargo.
fn build_script(environment: &[(&str, &str)]) -> Vec<String> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/web-ui");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("build-script");
    let compiled = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "-o"])
        .arg(&program)
        .arg(crate_dir.join("build.rs"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // A checkout of its own: the script must not find the packages that are installed in this one.
    let checkout = folder.path().join("checkout");
    std::fs::create_dir_all(checkout.join("crates/web-ui")).unwrap();
    std::fs::create_dir_all(checkout.join("ui")).unwrap();
    std::fs::write(checkout.join("ui/package-lock.json"), "{}").unwrap();
    let output = Command::new(&program)
        .env_clear()
        .env("CARGO_MANIFEST_DIR", checkout.join("crates/web-ui"))
        .env("OUT_DIR", folder.path().join("out"))
        .env("CARGO_FEATURE_PAGE", "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines().filter(|line| !line.starts_with("cargo::rerun")).map(str::to_owned).collect()
}

#[test]
fn a_missing_npm_is_one_sentence_that_says_how_to_mend_it() {
    let said = build_script(&[("PATH", "/nowhere")]);
    assert_eq!(
        said,
        [
            "cargo::error=npm could not be started (No such file or directory (os error 2)): install Node.js 20 or newer, \
          or set CHARTROOM_UI_DIST to a built page, or build with --no-default-features"
        ]
    );
}

#[test]
fn a_built_page_that_is_none_is_one_sentence_too() {
    let said = build_script(&[("CHARTROOM_UI_DIST", "/nowhere")]);
    assert_eq!(
        said,
        [
            "cargo::error=CHARTROOM_UI_DIST names /nowhere, which holds no index.html; build the page first (npm run \
          build in ui/)"
        ]
    );
}
