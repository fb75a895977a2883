//! The state of the code index: which codebases are indexed, what proves it, who may change it, and the six tools.
//!
//! What is found in the code is the `chartroom-search` crate's; this one decides what may be answered and who may write.

#![warn(missing_docs)]

pub mod brief;
pub mod definitions;
mod service;
pub mod tools;

pub mod catalog;
pub mod gates;
mod lease;
mod lifecycle;
pub mod proof;
mod sync;
mod watcher;

mod commits;
mod core;
mod file_lock;
mod freshness;
pub mod git;
mod identity;
mod mutex;
mod process;
mod team;
mod wording;

pub use crate::core::IndexSettings;
pub use service::{IndexService, OpenError};

#[cfg(test)]
mod testing;
