//! The language service as a program of its own, for tests: what `chartroom lsp-service` and `chartroom keeper` are.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use chartroom_lsp::GateLauncher;
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|first| first.to_str()) {
        Some("keeper") => chartroom_transport::keeper::run(args),
        // A service that never says that it is ready.
        Some("hangs") => loop {
            std::thread::park();
        },
        _ => chartroom_lsp::service::process::run(launcher),
    }
}

fn launcher(data_dir: Option<&Path>, root: &CanonicalRoot) -> Result<GateLauncher, String> {
    let data_dir = data_dir.ok_or("the tests name their data folder")?;
    let trust = TrustStore::open(data_dir).map_err(|error| error.to_string())?;
    let keeper = Keeper::current_exe().map_err(|error| error.to_string())?;
    Ok(GateLauncher::new(SpawnGate::new(keeper, Arc::new(trust), data_dir), root.clone()))
}
