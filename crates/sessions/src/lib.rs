//! The conversation: provider trait, session actor, upsert processor, journal, history.
//!
//! This crate knows no agent by name and speaks no HTTP: agents come in through [`Provider`].

pub mod clock;
pub mod provider;
pub mod registry;
pub mod store;
pub mod upsert;

mod pump;

pub use clock::{Clock, Now};
pub use provider::{
    AgentHandle, CreateOptions, DiscoveredSession, History, LoadOptions, Provider, ProviderError,
    ProviderOutput, ProviderSession,
};
pub use pump::Pump;
pub use registry::Registry;
pub use store::{Store, StoreError};
pub use upsert::{ProcessorConfig, StreamOutput, UpsertProcessor};
