//! The language service as a program of its own, for tests: what `chartroom lsp-service` and `chartroom keeper` are.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|first| first.to_str()) {
        Some("keeper") => chartroom_transport::keeper::run(args),
        // A service that never says that it is ready.
        Some("hangs") => loop {
            std::thread::park();
        },
        _ => chartroom_lsp::service::process::run(),
    }
}
