//! `chartroom trust DIR`, `--revoke DIR`, `--list`: the user's own act, which nothing in a workspace can do.

use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use chartroom_workspace::gate::child_above;
use chartroom_workspace::{CanonicalRoot, TrustStore};

use super::{answer, settings};
use crate::app::agent_tools::AGENT_MARK;
use crate::app::gate;
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to trust: agents and language servers may run what is in it
    #[arg(required_unless_present_any = ["revoke", "list"], conflicts_with_all = ["revoke", "list"])]
    dir: Option<PathBuf>,
    /// Do not ask on the terminal; an agent that Chartroom started is refused all the same
    #[arg(short, long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,
    /// Take trust back; what runs in the folder is ended
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
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
        refuse_agents(data.path())?;
        trust(&store, dir, args.yes)
    } else {
        list(&store)
    }
}

fn trust(store: &TrustStore, dir: &Path, yes: bool) -> Result<Outcome, Failure> {
    let root = open(dir)?;
    // A script has no terminal, and says what it wants by calling us at all.
    if !yes && io::stdin().is_terminal() && io::stderr().is_terminal() {
        let agreed = ask(&root, &mut io::stdin().lock(), &mut io::stderr().lock())
            .map_err(|error| Failure::impossible(format!("the terminal does not answer ({error})")))?;
        if !agreed {
            answer(&format!("not trusted {root}\n"))?;
            return Ok(Outcome::NotOk);
        }
    }
    store.trust(&root).map_err(|error| Failure::impossible(error.to_string()))?;
    answer(&format!("trusted {root}\n"))?;
    Ok(Outcome::Done)
}

/// Asks the person at the terminal about the real path. Only a clear yes is one.
fn ask(root: &CanonicalRoot, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    write!(output, "Programs of {root} may then run as you. Trust it? [y/N] ")?;
    output.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

/// An agent's environment carries a mark, and an agent that takes it off still runs below a child of the server on this
/// data folder. docs/security.md says what this is worth.
pub(super) fn refuse_agents(data: &Path) -> Result<(), Failure> {
    let is_ours = || child_above(data, std::process::id()).is_some();
    if std::env::var_os(AGENT_MARK).is_none() && !is_ours() {
        return Ok(());
    }
    Err(Failure::impossible(
        "an agent that Chartroom started cannot trust a folder or let a browser in; do it on the page or in a terminal of your own",
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_names_the_real_path_and_only_a_yes_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = CanonicalRoot::open(folder.path()).unwrap();
        for (said, expected) in [
            ("y\n", true),
            ("YES\n", true),
            ("\n", false),
            ("n\n", false),
            ("yesterday\n", false),
            ("", false),
        ] {
            let mut asked = Vec::new();
            assert_eq!(ask(&root, &mut said.as_bytes(), &mut asked).unwrap(), expected, "{said:?}");
            let asked = String::from_utf8(asked).unwrap();
            assert_eq!(asked, format!("Programs of {root} may then run as you. Trust it? [y/N] "));
        }
    }
}
