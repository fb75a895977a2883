//! The benchmarks: ours and a peer or a physical baseline in one run, as ratios.

mod table;

use std::fs;

use anyhow::Context;

use crate::process::{self, cargo, output, root};
use crate::tools;

pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    tools::install(&[])?;
    process::run(cargo().args([
        "build",
        "--release",
        "--package",
        "chartroom",
        "--package",
        "chartroom-bench",
    ]))?;
    let mut bench = cargo();
    bench.args(["run", "--release", "--quiet", "--package", "chartroom-bench", "--"]).args(names);
    let lines = output(bench.env("CHARTROOM_TEST_TOOLS", tools::dir()))?;
    let table = table::markdown(&lines)?;
    eprintln!("{table}");
    if names.is_empty() {
        fs::write(root().join("docs/benchmarks.md"), table).context("writing docs/benchmarks.md")?;
    }
    Ok(())
}
