//! Who calls whom: references and imports of each file, resolved when asked.
//!
//! A file's own facts are stored with it and never depend on another file, so that a change touches one file's facts
//! and nothing is rebuilt. Which definition a name means is decided at the query, over names, scopes and imports, with
//! a confidence that says how it was decided.

mod callbacks;
mod configured;
mod declared;
mod dispatch;
mod exports;
mod infer;
pub(crate) mod lookup;
mod members;
mod names;
mod objects;
mod overrides;
mod parts;
pub(crate) mod project;
pub(crate) mod resolve;
mod results;
mod traverse;
mod types;

pub use crate::symbols::{Binding, Import, Reference, Use};
pub use traverse::{Direction, Neighbourhood, traverse};
