//! `chartroom trust DIR`, `--revoke DIR`, `--list`: the user's own act, which nothing in a workspace can do.

use std::path::{Path, PathBuf};

use chartroom_workspace::{CanonicalRoot, TrustStore};

use super::{answer, settings};
use crate::app::gate;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Args {
    /// The folder to trust: agents and language servers may run what is in it
    dir: Option<PathBuf>,
    /// Take trust back; what runs in the folder is ended
    #[arg(long, value_name = "DIR")]
    revoke: Option<PathBuf>,
    /// Show what is trusted
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    // Trust can be taken back where nothing can be written.
    let data = if args.dir.is_some() { settings::data()? } else { settings::data_to_read()? };
    let store = gate::open_trust(data.path()).map_err(|error| Failure::impossible(error.to_string()))?;
    if let Some(dir) = &args.revoke {
        revoke(&store, dir)
    } else if let Some(dir) = &args.dir {
        trust(&store, dir)
    } else {
        list(&store)
    }
}

fn trust(store: &TrustStore, dir: &Path) -> Result<Outcome, Failure> {
    let root = open(dir)?;
    store.trust(&root).map_err(|error| Failure::impossible(error.to_string()))?;
    answer(&format!("trusted {root}\n"))?;
    Ok(Outcome::Done)
}

fn revoke(store: &TrustStore, dir: &Path) -> Result<Outcome, Failure> {
    // A folder that is gone can still be trusted, and that must be possible to end.
    let path = match CanonicalRoot::open(dir) {
        Ok(root) => root.as_path().to_owned(),
        Err(_) => std::path::absolute(dir)
            .map_err(|error| Failure::impossible(format!("{} is no path ({error})", dir.display())))?,
    };
    let was_trusted = store.revoke(&path).map_err(|error| Failure::impossible(error.to_string()))?;
    if was_trusted {
        answer(&format!("no longer trusted {}\n", path.display()))?;
        Ok(Outcome::Done)
    } else {
        answer(&format!("was not trusted {}\n", path.display()))?;
        Ok(Outcome::NotOk)
    }
}

fn list(store: &TrustStore) -> Result<Outcome, Failure> {
    let trusted = store.list().map_err(|error| Failure::impossible(error.to_string()))?;
    let lines = trusted.iter().map(|entry| {
        let path = entry.path.display();
        match CanonicalRoot::open(&entry.path) {
            Ok(root) if store.is_trusted(&root) => format!("{path}\n"),
            Ok(_) => format!("{path} (replaced since: not trusted)\n"),
            Err(_) => format!("{path} (gone)\n"),
        }
    });
    answer(&lines.collect::<String>())?;
    Ok(Outcome::Done)
}

pub(super) fn open(dir: &Path) -> Result<CanonicalRoot, Failure> {
    CanonicalRoot::open(dir)
        .map_err(|error| Failure::impossible(format!("{error}; name a folder that exists")))
}
