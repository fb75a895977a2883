//! `chartroom lsp-service`: the language service's own process. Hidden; only Chartroom starts it.

use std::path::Path;
use std::sync::Arc;

use chartroom_lsp::{GateLauncher, service};
use chartroom_transport::Keeper;
use chartroom_workspace::{SpawnGate, TrustStore};
use tokio::net::unix::pipe;

use super::block_on;
use crate::exit::{Failure, Outcome};
use crate::logs;

pub(super) fn run() -> Result<Outcome, Failure> {
    let _logs = logs::to_stderr();
    let value = std::env::var(service::BOOTSTRAP).ok();
    let (bootstrap, root) = match service::bootstrap(value.as_deref()) {
        Ok(bootstrap) => bootstrap,
        Err(reason) => {
            eprintln!("{reason}");
            return Ok(Outcome::NotOk);
        }
    };
    block_on(async move {
        let data_dir = Path::new(&bootstrap.data_dir);
        let trust = TrustStore::open(data_dir).map_err(|error| Failure::impossible(error.to_string()))?;
        let keeper = Keeper::current_exe().map_err(|error| Failure::impossible(error.to_string()))?;
        let gate = SpawnGate::new(keeper, Arc::new(trust), data_dir);
        let launch = Arc::new(GateLauncher::new(gate, root.clone()));
        let stdio = (tokio::io::stdin(), tokio::io::stdout());
        service::run(root, bootstrap, launch, stdio, tools()).await;
        // A read of stdin that nobody ends would hold the runtime; there is nothing left to do.
        std::process::exit(0)
    })
}

/// The second channel: it reads fd 3 and writes fd 4. Opened by name, which needs no unsafe code.
fn tools() -> Option<(pipe::Receiver, pipe::Sender)> {
    let read = pipe::OpenOptions::new().open_receiver("/dev/fd/3");
    let write = pipe::OpenOptions::new().open_sender("/dev/fd/4");
    match (read, write) {
        (Ok(read), Ok(write)) => Some((read, write)),
        (Err(error), _) | (_, Err(error)) => {
            tracing::debug!("there are no pipes for tools: {error}");
            None
        }
    }
}
