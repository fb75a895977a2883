//! Where the real programs are that the `real_` tests drive. A missing one ends the test with the command that
//! installs it; nothing is skipped silently.

use std::path::{Path, PathBuf};

/// Returns the folder of the test tools: `CHARTROOM_TEST_TOOLS`, or `target/test-tools` of this workspace.
pub fn dir() -> PathBuf {
    match std::env::var_os("CHARTROOM_TEST_TOOLS") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir),
        _ => workspace_root().join("target").join("test-tools"),
    }
}

/// Returns the real `claude`: its native binary, which needs no node.
#[track_caller]
pub fn claude() -> PathBuf {
    let modules = dir().join("agents").join("node_modules");
    first_existing(
        "claude",
        &[
            modules.join("@anthropic-ai/claude-code-linux-x64/claude"),
            modules.join("@anthropic-ai/claude-code-linux-arm64/claude"),
            modules.join(".bin/claude"),
        ],
    )
}

/// Returns the real `codex-acp`: its native binary, which needs no node.
#[track_caller]
pub fn codex_acp() -> PathBuf {
    let modules = dir().join("agents").join("node_modules");
    first_existing(
        "codex-acp",
        &[
            modules.join("@zed-industries/codex-acp-linux-x64/bin/codex-acp"),
            modules.join("@zed-industries/codex-acp-linux-arm64/bin/codex-acp"),
            modules.join(".bin/codex-acp"),
        ],
    )
}

/// Returns a program of one npm set, e.g. `npm_bin("ts6", "typescript-language-server")`.
#[track_caller]
pub fn npm_bin(set: &str, name: &str) -> PathBuf {
    first_existing(name, &[dir().join(set).join("node_modules").join(".bin").join(name)])
}

/// Returns a program of the Python environment, e.g. `py_bin("ty")`.
#[track_caller]
pub fn py_bin(name: &str) -> PathBuf {
    first_existing(name, &[dir().join("py").join("bin").join(name)])
}

/// Returns the lite Milvus server.
#[track_caller]
pub fn milvus_lite() -> PathBuf {
    first_existing("milvus-lite", &[dir().join("milvus").join("bin").join("milvus-lite")])
}

/// Returns a program of the system's own packages: on PATH, or where Debian and rustup put it.
#[track_caller]
pub fn system_bin(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates: Vec<PathBuf> =
        std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).collect();
    candidates.push(Path::new("/usr/bin").join(name));
    first_existing(name, &candidates)
}

/// Returns the root of this workspace.
pub fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

#[expect(clippy::panic, reason = "a test without its tool must fail, and say how to install it")]
#[track_caller]
fn first_existing(name: &str, candidates: &[PathBuf]) -> PathBuf {
    for candidate in candidates {
        if candidate.is_file() {
            return candidate.clone();
        }
    }
    panic!(
        "{name} is not installed for the tests: run `cargo xtask tools` to install it into {} (looked for {})",
        dir().display(),
        candidates.first().map(|path| path.display().to_string()).unwrap_or_default(),
    );
}
