//! The fake agents and the test keeper as programs: where they are, built when they are missing or older than
//! their source. A crate's tests cannot ask cargo for the binaries of another package, so this does.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::tools::workspace_root;

/// Returns `fake-claude`, a scripted agent that speaks stream-json.
#[track_caller]
pub fn claude() -> PathBuf {
    program("fake-claude")
}

/// Returns `fake-acp`, a scripted agent that speaks ACP.
#[track_caller]
pub fn acp() -> PathBuf {
    program("fake-acp")
}

/// Returns `fake-lsp`, a language server that misbehaves as told.
#[track_caller]
pub fn lsp() -> PathBuf {
    program("fake-lsp")
}

/// Returns `test-keeper`, which is to tests what `chartroom keeper` is to the server.
#[track_caller]
pub fn keeper() -> PathBuf {
    program("test-keeper")
}

/// Returns one of this crate's programs by name.
#[track_caller]
#[expect(clippy::panic, reason = "a test without its fake must fail, and say why")]
pub fn program(name: &str) -> PathBuf {
    let path = profile_dir().join(name);
    if is_fresh(&path) {
        return path;
    }
    // The lock keeps the test processes of one run from building at once; whoever comes second finds it fresh.
    let lock = lock();
    lock.lock().expect("the lock file can be locked");
    if !is_fresh(&path) {
        build();
    }
    if !path.is_file() {
        panic!(
            "{} was not built: run `cargo build -p chartroom-testkit --features test-fakes --bins`",
            path.display()
        );
    }
    path
}

fn lock() -> std::fs::File {
    let path = profile_dir().join(".test-fakes.lock");
    std::fs::File::create(path).expect("the target folder is writable")
}

#[expect(clippy::disallowed_methods, reason = "cargo builds the fakes; it is no child of the product")]
fn build() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command
        .current_dir(workspace_root())
        .args(["build", "--quiet", "--package", "chartroom-testkit", "--features", "test-fakes", "--bins"])
        .arg("--target-dir")
        .arg(profile_dir().parent().unwrap_or_else(|| Path::new("target")));
    if profile_dir().ends_with("release") {
        command.arg("--release");
    }
    let status = command.status().expect("cargo can be started");
    assert!(status.success(), "building the fakes failed");
    std::fs::write(stamp(), b"").expect("the target folder is writable");
}

/// Touched after each build: cargo leaves a program's time alone when only its neighbour changed.
fn stamp() -> PathBuf {
    profile_dir().join(".test-fakes.stamp")
}

/// Returns `target/debug` or `target/release`: the folder above the running test's `deps`, or an example's `examples`.
fn profile_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows its own program");
    let dir = exe.parent().unwrap_or_else(|| Path::new("."));
    if dir.ends_with("deps") || dir.ends_with("examples") {
        dir.parent().unwrap_or(dir).to_path_buf()
    } else {
        dir.to_path_buf()
    }
}

fn is_fresh(program: &Path) -> bool {
    let Ok(built) = stamp().metadata().and_then(|metadata| metadata.modified()) else { return false };
    let crates = workspace_root().join("crates");
    let newest = ["testkit/src", "transport/src"]
        .iter()
        .filter_map(|dir| newest_file(&crates.join(dir)))
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH);
    program.is_file() && newest <= built
}

fn newest_file(dir: &Path) -> Option<SystemTime> {
    std::fs::read_dir(dir)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            if path.is_dir() { newest_file(&path) } else { path.metadata().ok()?.modified().ok() }
        })
        .max()
}
