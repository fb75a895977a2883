//! The one test command, step by step. A failing step stops it; nothing is tried twice to get green.

use crate::process::{self, cargo, command, root};
use crate::{pictures, tools, trace, types};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Leaves out what needs downloads.
    Quick,
    Everything,
}

/// Stories with real agents, servers and browsers: integration tests whose file starts with `real_`, and unit tests in a
/// module `real`.
const REAL: &str = "(binary(/^real_/) or test(/(^|::)real::/))";

pub(crate) fn run(scope: Scope) -> anyhow::Result<()> {
    process::run(cargo().args(["fmt", "--all", "--check"]))?;
    page()?;
    if scope == Scope::Everything {
        tools::install(&[])?;
        process::run(&mut command(tools::shear()))?;
    }
    process::run(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    process::run(
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--all-features", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    types::run(types::Mode::Check)?;

    // The fakes that tests start are programs of the workspace; nextest alone does not build another crate's.
    process::run(cargo().args(["build", "--workspace", "--bins", "--all-features"]))?;
    nextest(&format!("not {REAL}"), &[])?;
    process::run(cargo().args(["test", "--doc", "--workspace", "--all-features", "--quiet"]))?;
    if scope == Scope::Everything {
        // Real programs take the machine for themselves: one story at a time.
        nextest(REAL, &["--profile", "real"])?;
        pictures::run_script("ui/browser/run.mjs", "debug")?;
    }
    trace::run()
}

fn nextest(filter: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let mut nextest = cargo();
    nextest.args(["nextest", "run", "--workspace", "--all-features", "--no-fail-fast", "-E", filter]);
    process::run(nextest.args(arguments).env("CHARTROOM_TEST_TOOLS", tools::dir()))
}

fn page() -> anyhow::Result<()> {
    let ui = root().join("ui");
    if !ui.join("node_modules/.package-lock.json").exists() || lock_is_newer(&ui) {
        process::run(
            command("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&ui),
        )?;
    }
    process::run(command("npm").args(["run", "--silent", "check"]).current_dir(&ui))?;
    process::run(command("npm").args(["run", "--silent", "test"]).current_dir(&ui))
}

fn lock_is_newer(ui: &std::path::Path) -> bool {
    let changed = |path: &str| ui.join(path).metadata().and_then(|metadata| metadata.modified()).ok();
    changed("package-lock.json") > changed("node_modules/.package-lock.json")
}
