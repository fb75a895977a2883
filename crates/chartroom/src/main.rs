//! The front door: everything lives in the library, so that a test can open it too.

fn main() -> std::process::ExitCode {
    chartroom::main()
}
