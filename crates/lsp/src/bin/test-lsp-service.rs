//! The language service as a program of its own, for tests: what `chartroom lsp-service` and `chartroom keeper` are.

use std::io::Write as _;
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
        // A service that is ready and then obeys nobody: it answers nothing, and lives on when its pipes close.
        Some("deaf") => {
            let ready = r#"{"jsonrpc":"2.0","method":"lsp/ready","params":{}}"#;
            let mut stdout = std::io::stdout().lock();
            drop(write!(stdout, "Content-Length: {}\r\n\r\n{ready}", ready.len()));
            drop(stdout.flush());
            loop {
                std::thread::park();
            }
        }
        // A service that says why it cannot start.
        Some("refuses") => {
            eprintln!("the settings are not to my taste");
            ExitCode::from(3)
        }
        _ => chartroom_lsp::service::process::run(launcher),
    }
}

fn launcher(data_dir: Option<&Path>, root: &CanonicalRoot) -> Result<GateLauncher, String> {
    let data_dir = data_dir.ok_or("the tests name their data folder")?;
    let trust = TrustStore::open(data_dir).map_err(|error| error.to_string())?;
    let keeper = Keeper::current_exe().map_err(|error| error.to_string())?;
    Ok(GateLauncher::new(SpawnGate::new(keeper, Arc::new(trust), data_dir), root.clone()))
}
