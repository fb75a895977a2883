//! Running the tools of the trade: cargo, npm, pip, apt. Each command is printed before it runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, bail};

/// Returns the workspace root: the one that cargo runs xtask for, which need not be the one that it was compiled in.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        // Another program's, when somebody else than cargo starts it.
        let of_xtask = manifest.filter(|folder| folder.ends_with("xtask"));
        let folder = of_xtask.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        folder.parent().expect("xtask lies in the workspace").to_owned()
    })
}

/// Returns cargo's target folder.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Begins a command; xtask is a developer's tool and no part of the product, so it goes around the spawn gate.
#[allow(clippy::disallowed_methods)]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Begins a cargo command with the cargo that runs us.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs to the end with our own output; a failure names the command.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = describe(command);
    eprintln!("\n\x1b[1m→ {line}\x1b[0m");
    let started = Instant::now();
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    eprintln!("  {:.1} s", started.elapsed().as_secs_f64());
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs to the end and returns its standard output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let line = describe(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not UTF-8"))
}

/// Tells whether a program answers `--version` (or the like) at all.
pub(crate) fn answers(program: &str, argument: &str) -> bool {
    command(program)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
