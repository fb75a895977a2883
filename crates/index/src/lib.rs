//! The state of the code index: which codebases are indexed, what proves it, who may change it, and the six tools.
//!
//! What is found in the code is the `chartroom-search` crate's; this one decides what may be answered and who may write.

#![warn(missing_docs)]

mod service;
pub mod tools;

pub mod catalog;
pub mod gates;
mod identity;
mod lease;
mod lifecycle;
pub mod proof;
mod sync;
mod watcher;

pub use service::{IndexService, IndexSettings, OpenError};

#[cfg(test)]
mod testing;
