//! The service as a process: its environment, its pipes, its exit code.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use chartroom_workspace::CanonicalRoot;
use tokio::net::unix::pipe;

use super::{BOOTSTRAP, bootstrap};
use crate::launch::GateLauncher;

/// Runs the service until its parent is done with it; `launcher` is made for a data folder (none: the user's own) and a root. A wrong bootstrap
/// is a line on stderr and exit code 1.
pub fn run(launcher: impl FnOnce(Option<&Path>, &CanonicalRoot) -> Result<GateLauncher, String>) -> ExitCode {
    let value = std::env::var(BOOTSTRAP).ok();
    let served = bootstrap(value.as_deref()).and_then(|(bootstrap, root)| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("the system gives no threads: {error}"))?;
        runtime.block_on(async {
            let launch = Arc::new(launcher(bootstrap.data_dir.as_deref().map(Path::new), &root)?);
            let stdio = (tokio::io::stdin(), tokio::io::stdout());
            super::run(root, bootstrap, launch, stdio, tools()).await;
            Ok::<(), String>(())
        })?;
        // A read of stdin that nobody ends would hold the runtime; there is nothing left to do.
        runtime.shutdown_background();
        Ok(())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// The second channel: it reads fd 3 and writes fd 4. Opened by name, which needs no unsafe code.
fn tools() -> Option<(pipe::Receiver, pipe::Sender)> {
    let read = pipe::OpenOptions::new().open_receiver("/dev/fd/3");
    let write = pipe::OpenOptions::new().open_sender("/dev/fd/4");
    match (read, write) {
        (Ok(read), Ok(write)) => Some((read, write)),
        (Err(error), _) | (_, Err(error)) => {
            tracing::debug!(%error, "there are no pipes for tools");
            None
        }
    }
}
