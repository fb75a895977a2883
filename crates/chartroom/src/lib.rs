//! The front door: one binary for people who run coding agents.
//!
//! `main` parses and hands over; [`http::run`] takes the listener and the shutdown signal as arguments, so that a
//! test starts the real server on port 0.

#![warn(missing_docs)]

mod after_edit;
mod agents;
pub mod app;
pub mod cli;
pub mod config;
pub mod data;
pub mod exit;
pub mod http;
pub mod logs;
pub mod mcp;
pub mod projects;
mod tries;

use std::process::ExitCode;

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    cli::main()
}
