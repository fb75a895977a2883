//! One index for a team: what one machine has indexed is shared through Milvus, and every other machine fills its own
//! copy from there without parsing or embedding again. docs/team-index.md says what lies where, and why.

#![warn(missing_docs)]

mod bindings;
mod breaker;
mod claim;
mod grpc;
mod names;
mod objects;
mod overlay;
mod packing;
mod server;
mod share;
mod store;
mod sweep;
mod trouble;

pub use grpc::{Address, MilvusServer};
pub use server::{Columns, Kind, Row, Server};
pub use store::TeamStore;
pub use trouble::{Trouble, TroubleKind};

#[cfg(test)]
mod testing;
