//! The benchmarks: ours and a peer or a physical baseline in one run, as ratios.

mod table;

use std::fs;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::process::{self, cargo, command, root, target_dir};
use crate::tools;

pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    tools::install(&[])?;
    if names.is_empty() || names.iter().any(|name| name == "index") {
        tools::install(&[tools::SEMBLE.to_owned()])?;
    }
    // One build for all of them: each package alone would have other features and build half of the tree again. The
    // scripted model that the real agents speak to is a program of the testkit.
    process::run(cargo().args(["build", "--release", "--features", "chartroom-testkit/test-fakes"]).args([
        "--package",
        "chartroom",
        "--package",
        "chartroom-bench",
        "--package",
        "chartroom-testkit",
    ]))?;
    // The page is measured in its browser, by a script of its own; the rest by one program.
    let is_page = |name: &&String| *name == "page";
    let (mut lines, mut all_ran) = (String::new(), true);
    if names.is_empty() || !names.iter().all(|name| is_page(&name)) {
        let mut bench = command(target_dir().join("release/chartroom-bench"));
        bench.args(names.iter().filter(|name| !is_page(name)));
        let (printed, ok) = measure(bench.env("CHARTROOM_TEST_TOOLS", tools::dir()))?;
        lines.push_str(&printed);
        all_ran &= ok;
    }
    if names.is_empty() || names.iter().any(|name| is_page(&name)) {
        let mut figures = command("node");
        figures.arg("ui/browser/figures.mjs").env("CHARTROOM_TEST_TOOLS", tools::dir());
        figures.env("CHARTROOM_BIN_DIR", target_dir().join("release"));
        let (printed, ok) = measure(figures.current_dir(root()))?;
        lines.push_str(&printed);
        all_ran &= ok;
    }
    let table = table::markdown(&lines)?;
    eprintln!("{table}");
    if names.is_empty() {
        fs::write(root().join("docs/benchmarks.md"), table).context("writing docs/benchmarks.md")?;
    }
    anyhow::ensure!(all_ran, "a benchmark failed; what it said stands above, and its rows are missing");
    Ok(())
}

/// Runs a benchmark and returns what it printed, and whether it came to its end: the figures of the others are kept.
fn measure(command: &mut Command) -> anyhow::Result<(String, bool)> {
    let output = command.stderr(Stdio::inherit()).output().context("starting a benchmark")?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
}
