//! A keeper for the tests of this crate, which must not depend on the `chartroom` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    // Accepts the subcommand's name, so that tests can use the same arguments as the real binary.
    args.next_if(|arg| arg == "keeper");
    chartroom_transport::keeper::run(args)
}
