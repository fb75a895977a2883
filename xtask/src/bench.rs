//! The benchmarks: ours and a peer or a physical baseline in one run, as ratios.

mod table;

use std::fs;

use anyhow::Context;

use crate::process::{self, cargo, command, output, root, target_dir};
use crate::tools;

pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    tools::install(&[])?;
    if names.is_empty() || names.iter().any(|name| name == "index") {
        tools::install(&[tools::SEMBLE.to_owned()])?;
    }
    process::run(cargo().args([
        "build",
        "--release",
        "--package",
        "chartroom",
        "--package",
        "chartroom-bench",
    ]))?;
    // The page is measured in its browser, by a script of its own; the rest by one program.
    let is_page = |name: &&String| *name == "page";
    let mut lines = String::new();
    if names.is_empty() || !names.iter().all(|name| is_page(&name)) {
        let mut bench = cargo();
        bench.args(["run", "--release", "--quiet", "--package", "chartroom-bench", "--"]);
        bench.args(names.iter().filter(|name| !is_page(name)));
        lines.push_str(&output(bench.env("CHARTROOM_TEST_TOOLS", tools::dir()))?);
    }
    if names.is_empty() || names.iter().any(|name| is_page(&name)) {
        // The scripted model that the real agents speak to is a program of the testkit.
        let model =
            ["--release", "--package", "chartroom-testkit", "--features", "test-fakes", "--bin", "model-api"];
        process::run(cargo().arg("build").args(model))?;
        let mut figures = command("node");
        figures.arg("ui/browser/figures.mjs").env("CHARTROOM_TEST_TOOLS", tools::dir());
        figures.env("CHARTROOM_BIN_DIR", target_dir().join("release"));
        lines.push_str(&output(figures.current_dir(root()))?);
    }
    let table = table::markdown(&lines)?;
    eprintln!("{table}");
    if names.is_empty() {
        fs::write(root().join("docs/benchmarks.md"), table).context("writing docs/benchmarks.md")?;
    }
    Ok(())
}
