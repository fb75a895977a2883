//! What the compiler knows: language servers, diagnostics, navigation.
//!
//! Two halves. The service ([`service`]) is a process of its own: it holds the [`orchestrator`], which starts
//! language servers, and answers over a pipe. The [`handle`] is what the rest of Chartroom holds: it starts that
//! process, shares it between all users of one root, and stays safe to call when it is dead.

#![warn(missing_docs)]

pub mod handle;
pub mod install;
pub mod launch;
pub mod mcp;
pub mod metrics;
pub mod orchestrator;
pub mod proposals;
pub mod registry;
pub mod render;
pub mod service;
pub mod tools;
pub mod uri;

mod client;
mod content;
mod disk_changes;
#[cfg(test)]
mod fake;
mod memory;
mod position;
mod symbols;

pub use handle::{LspHandle, ServiceOptions, ServicePool};
pub use install::{InstallError, Installed, Installer};
pub use launch::GateLauncher;
pub use orchestrator::Orchestrator;
