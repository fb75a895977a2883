//! `chartroom completions SHELL`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, answer};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete in
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "chartroom", &mut script);
    answer(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
