//! Screenshots of every screen, for the README and for a person to look at.

use crate::process::{self, cargo, command, root, target_dir};
use crate::tools;

pub(crate) fn run_script(script: &str, profile_dir: &str) -> anyhow::Result<()> {
    process::run(
        command("node")
            .arg(script)
            .env("CHARTROOM_TEST_TOOLS", tools::dir())
            .env("CHARTROOM_BIN_DIR", target_dir().join(profile_dir))
            .current_dir(root()),
    )
}

pub(crate) fn run() -> anyhow::Result<()> {
    tools::install(&["browser".to_owned(), "agents".to_owned(), "debian".to_owned()])?;
    run_cargo_build()?;
    run_script("ui/browser/pictures.mjs", "debug")
}

fn run_cargo_build() -> anyhow::Result<()> {
    process::run(cargo().args(["build", "--workspace", "--bins", "--all-features"]))
}
