//! A language server for tests, well-behaved or chaotic: `fake-lsp [MODE]`.
//!
//! It finds an error wherever a line holds `ERR message` and pushes it. A mode is one way to misbehave; see
//! `chartroom_testkit::fake_lsp::MODES`.

fn main() -> std::process::ExitCode {
    chartroom_testkit::fake_lsp::run(std::env::args().nth(1).as_deref().unwrap_or("good"))
}
