//! The front door: everything lives in the library, so that a test can open it too.

/// A hundred small things are taken and given back for each event of a session, on threads that share them: with the
/// system's allocator that is a tenth of what an event costs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    chartroom::main()
}
