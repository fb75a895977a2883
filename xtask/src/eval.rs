//! How well search finds the place: runs the measurement and writes its tables into docs/search-quality.md.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::process::{cargo, output, root};

const BEGIN: &str = "<!-- figures: written by `cargo xtask eval` -->";
const END: &str = "<!-- end of the figures -->";

/// What is measured, on what, beside what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Texts with the files that they led to, an object a line; without it this repository's own history
    rows: Option<PathBuf>,
    /// Bare repositories, `owner+name/repo` for each that the rows name
    #[arg(requires = "rows")]
    repositories: Option<PathBuf>,
    /// Programs that are asked too: ripgrep, semble
    #[arg(long, value_delimiter = ',')]
    beside: Vec<String>,
    /// Keep indexes and the answers of those programs here, and take them from here the next time
    #[arg(long, requires = "rows")]
    keep: Option<PathBuf>,
}

/// Measures. Without rows and repositories, on the history of the repository at hand, and nothing is written.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (Some(rows), Some(repositories)) = (&args.rows, &args.repositories) else {
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
        if !args.beside.is_empty() {
            program.arg("--beside").arg(args.beside.join(","));
        }
        if let Some(keep) = &args.keep {
            let keep = absolute(keep)?;
            let answers = keep.join(format!("answers-{half}.jsonl"));
            program.arg("--keep").arg(&keep);
            if !args.beside.is_empty() {
                program.arg("--answers").arg(answers);
            } else if answers.is_file() {
                program.arg("--add").arg(answers);
            }
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
