//! `chartroom install --client claude|codex`: registers the MCP server (and the hook) in the client's own config.
//!
//! Everything else in the file stays. Doing it twice changes nothing; a file that cannot be understood is left alone. What was
//! put in is remembered, so that uninstalling leaves the file as it was, byte for byte.

mod claude;
mod codex;
mod file;
mod insert;
mod record;

use std::path::PathBuf;

use super::{answer, settings};
use crate::exit::{Failure, Outcome};
use file::Change;
use record::Record;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Whose config to change
    #[arg(long, value_enum)]
    client: Client,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Client {
    Claude,
    Codex,
}

/// Whether to put ourselves in or take ourselves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Install,
    Uninstall,
}

pub(super) fn run(args: &Args, act: Act) -> Result<Outcome, Failure> {
    let home = dirs::home_dir().ok_or_else(|| Failure::impossible("no home folder is known; set HOME"))?;
    let program = std::env::current_exe().map_err(|error| {
        Failure::impossible(format!("this program cannot find itself ({error}); call it by its path"))
    })?;
    let folder =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A dry run makes no folder.
    let data = if args.dry_run { settings::data_to_read() } else { settings::data() }.ok();
    let mut record = Record::read(data.as_ref());
    let changes = match args.client {
        Client::Claude => claude::changes(&home, folder("CLAUDE_CONFIG_DIR"), &program, act, &record),
        Client::Codex => codex::changes(&home, folder("CODEX_HOME"), &program, act, &record),
    }
    .map_err(Failure::impossible)?;
    let mut report = String::new();
    for change in changes {
        report.push_str(&describe(&change, args.dry_run));
        if !args.dry_run {
            change.write(&mut record).map_err(Failure::impossible)?;
        }
    }
    if let (false, Some(data)) = (args.dry_run, &data) {
        record.write(data).map_err(Failure::impossible)?;
    }
    answer(&report)?;
    Ok(Outcome::Done)
}

fn describe(change: &Change, dry_run: bool) -> String {
    let path = change.path.display();
    match (change.is_needed(), dry_run) {
        (false, _) => format!("unchanged {path}\n"),
        (true, true) => format!("would write {path}: {}\n", change.what),
        (true, false) => format!("wrote {path}: {}\n", change.what),
    }
}
