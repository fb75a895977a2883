//! The conversation: provider trait, session actor, upsert processor, journal, history.
//!
//! This crate knows no agent by name and speaks no HTTP: agents come in through [`Provider`], and whoever shows a
//! conversation holds a [`SessionService`] and reads [`Feed`]s.

#![warn(missing_docs)]

mod actor;
pub mod clock;
mod feed;
mod hash;
pub mod provider;
pub mod registry;
mod service;
pub mod store;
mod summary;
mod turns;
pub mod upsert;

mod pump;

#[cfg(any(test, feature = "fake-provider"))]
#[allow(clippy::panic, reason = "for tests only, where a panic is the failing assertion")]
pub mod fake;

pub use actor::{FolderCheck, Limits};
pub use clock::{Clock, Now};
pub use feed::{Feed, Frame};
pub use provider::{
    AgentHandle, CreateOptions, DiscoveredSession, History, KnownBy, LoadOptions, Provider, ProviderError,
    ProviderOutput, ProviderSession, SaidTurn,
};
pub use pump::Pump;
pub use registry::Registry;
pub use service::{NewSession, SessionService};
pub use store::{Store, StoreError};
pub use turns::{TurnPlace, TurnWatch};
pub use upsert::{ProcessorConfig, StreamOutput, UpsertProcessor};
