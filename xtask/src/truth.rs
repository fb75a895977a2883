//! `cargo xtask truth`: the truth machine of crates/lsp over the real language servers.

use crate::process::{self, cargo};
use crate::tools;

pub(crate) fn run(steps: u32, seed: u64, language: Option<&str>) -> anyhow::Result<()> {
    tools::install(&[])?;
    process::run(cargo().args(["build", "--workspace", "--bins", "--all-features"]))?;
    let (steps, seed) = (steps.to_string(), seed.to_string());
    let run = ["run", "-p", "chartroom-lsp", "--all-features", "--example", "truth", "--", &steps, &seed];
    process::run(cargo().args(run).args(language).env("CHARTROOM_TEST_TOOLS", tools::dir()))
}
