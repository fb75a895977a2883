//! Providers with fake agents as real processes: what happens between spawn and the last process of the tree.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "process/acp.rs"]
mod acp;
#[path = "process/claude.rs"]
mod claude;
#[path = "process/spares.rs"]
mod spares;
#[path = "process/stage.rs"]
mod stage;
