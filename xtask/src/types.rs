//! The page's TypeScript types: written from the Rust ones, or checked for drift.

use std::fs;

use anyhow::{Context, bail};

use crate::process::{cargo, output, root};

pub(crate) enum Mode {
    Write,
    Check,
}

pub(crate) fn run(mode: Mode) -> anyhow::Result<()> {
    let path = root().join("ui/src/protocol.ts");
    let made = output(cargo().args([
        "run",
        "--quiet",
        "--all-features",
        "--package",
        "chartroom-protocol",
        "--example",
        "bindings",
    ]))?;
    match mode {
        Mode::Write => fs::write(&path, made).with_context(|| format!("writing {}", path.display())),
        Mode::Check => {
            let kept = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            if kept != made {
                bail!(
                    "ui/src/protocol.ts differs from the Rust types: run `cargo xtask types` and commit it"
                );
            }
            Ok(())
        }
    }
}
