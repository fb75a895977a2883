//! How well search finds the place: runs the measurement and writes its tables into docs/search-quality.md.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::process::{cargo, output, root};

const BEGIN: &str = "<!-- figures: written by `cargo xtask eval` -->";
const END: &str = "<!-- end of the figures -->";

/// Measures. Without rows and repositories, on the history of the repository at hand, and nothing is written.
pub(crate) fn run(
    rows: Option<&Path>,
    repositories: Option<&Path>,
    beside: Option<&str>,
) -> anyhow::Result<()> {
    let (Some(rows), Some(repositories)) = (rows, repositories) else {
        let mut own = cargo();
        own.args(["run", "--release", "-p", "chartroom", "--", "index", "eval", ".", "--ablation"]);
        eprintln!("{}", output(&mut own)?);
        return Ok(());
    };
    let mut text = String::new();
    for half in ["check", "tune"] {
        let mut program = cargo();
        program.args(["run", "--release", "-p", "chartroom-search", "--example", "eval", "--"]);
        program.args([absolute(rows)?, absolute(repositories)?]);
        program.args(["--half", half, "--ablation"]);
        if half == "check" {
            program.arg("--plot").arg(root().join("docs/pictures/search-confidence.svg"));
        }
        if let Some(beside) = beside.filter(|_| half == "check") {
            program.args(["--beside", beside]);
        }
        text.push_str(&format!("## Figures, {half} half\n\n{}\n", output(&mut program)?.trim()));
        text.push('\n');
    }
    eprintln!("{text}");
    let page = root().join("docs/search-quality.md");
    let known = std::fs::read_to_string(&page).context("reading docs/search-quality.md")?;
    let written = replaced(&known, &text).context("docs/search-quality.md has no place for the figures")?;
    std::fs::write(&page, written).context("writing docs/search-quality.md")
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.display().to_string())
}

/// The page with other figures.
fn replaced(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", figures.trim()))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, replaced};

    #[test]
    fn only_the_figures_are_replaced() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let new = replaced(&page, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(replaced("no place", "new"), None);
    }
}
