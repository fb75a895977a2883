//! The index: tool inputs, envelopes, hints.
//!
//! Six tools, one file each for what they take and give; what they share (statuses, reasons, hints, warnings,
//! freshness) beside them.

pub mod bundle;
pub mod call_graph;
pub mod config;
pub mod detail;
pub mod freshness;
pub mod hints;
pub mod list;
pub mod manage;
pub mod navigation;
pub mod outline;
pub mod read;
pub mod schema;
pub mod search;
pub mod skipped;
pub mod team;

pub use bundle::*;
pub use call_graph::*;
pub use config::*;
pub use detail::*;
pub use freshness::*;
pub use hints::*;
pub use list::*;
pub use manage::*;
pub use navigation::*;
pub use outline::*;
pub use read::*;
pub use schema::*;
pub use search::*;
pub use skipped::*;
pub use team::*;

#[cfg(test)]
mod tests;
