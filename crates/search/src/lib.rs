//! What the code says: search over a folder of source.
//!
//! [`scan`] finds the files, [`parser`] and [`chunk`] take them apart ([`symbols`], [`graph`]), [`embed`] gives chunks
//! their vectors, [`intake`] does all of that for a list of files, [`store`] says how all of that is kept and [`sqlite`] keeps it, [`query`] and [`rank`] find things in it.
//! Nothing here knows whether a folder *may* be searched, who else writes, or how an answer is wrapped: that is the
//! `chartroom-index` crate's.

#![warn(missing_docs)]

pub mod bundle;
pub mod chunk;
pub mod embed;
pub mod eval;
pub mod graph;
pub mod history;
pub mod intake;
pub mod nearest;
pub mod parser;
pub mod paths;
mod pool;
pub mod query;
pub mod rank;
pub mod request;
pub mod scan;
pub mod sqlite;
pub mod store;
pub mod symbols;
