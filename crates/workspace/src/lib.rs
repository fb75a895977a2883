//! Where the code is: canonical roots, trust, boundary check, ignore rules, the one file walker.
//!
//! A [`CanonicalRoot`] is a folder a user has opened. Every path from outside goes through [`boundary`], every
//! process through the [`SpawnGate`], which asks the [`TrustStore`] each time.

#![warn(missing_docs)]

pub mod binary;
pub mod boundary;
pub mod gate;
pub mod git;
pub mod helper;
pub mod limits;
pub mod regular;
mod root;
pub mod roots;
pub mod sensitive;
pub mod trust;
pub mod walk;
pub mod watch;

pub use boundary::BoundaryError;
pub use gate::{ChildKind, GateError, ProgramQuery, ProgramSource, ResolvedProgram, SpawnGate, SpawnRequest};
pub use root::{CanonicalRoot, RootError};
pub use trust::{TrustError, TrustStore, TrustedRoot};
