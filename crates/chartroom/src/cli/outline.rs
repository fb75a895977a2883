//! `chartroom outline FILE`: the symbols of a file, by the index.

use std::path::PathBuf;

use chartroom_index::brief;
use chartroom_protocol::index::{FileOutlineParams, IndexStatus, ResolveMode};

use super::index::{open, print_json};
use super::words::{in_own_words, mending};
use super::{answer, block_on};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file, inside an indexed folder
    file: PathBuf,
    /// Print the tool's envelope
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    block_on(async {
        let service = open()?;
        let response =
            service.outline(params(&args.file)?).await.map_err(|error| Failure::impossible(error.0))?;
        if args.json {
            print_json(&response)?;
        } else {
            let text = in_own_words(&brief::outline(&response), &response.path);
            let mending = mending(response.hints.as_ref()).filter(|_| response.status != IndexStatus::Ok);
            answer(&format!(
                "{text}{}",
                mending.map(|command| format!("Try: {command}\n")).unwrap_or_default()
            ))?;
        }
        Ok(if response.status == IndexStatus::Ok { Outcome::Done } else { Outcome::NotOk })
    })
}

/// The whole outline of a file: its folder names the codebase.
pub(super) fn params(file: &std::path::Path) -> Result<FileOutlineParams, Failure> {
    let file = file.canonicalize().map_err(|error| {
        Failure::impossible(format!("{} cannot be opened ({error}); check its path", file.display()))
    })?;
    if file.is_dir() {
        return Err(Failure::Usage(format!(
            "{} is a folder; name one file in it (`chartroom search` looks in folders)",
            file.display()
        )));
    }
    let folder = file.parent().unwrap_or(&file).to_string_lossy().into_owned();
    Ok(FileOutlineParams {
        path: folder,
        file: file.to_string_lossy().into_owned(),
        start_line: None,
        end_line: None,
        limit_symbols: None,
        resolve_mode: ResolveMode::Outline,
        symbol_id_exact: None,
        symbol_label_exact: None,
        detail: Default::default(),
    })
}
