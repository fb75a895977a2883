//! What the code says: chunks, embeddings, stores, proof, search, outline, call graph.
//!
//! The crate has two halves. The *state* half (catalog, proof, gates, lease, lifecycle, sync, tools) decides what
//! may be answered and who may write; the *content* half (chunk, symbols, graph, embed, embedded, manifest, query,
//! rank) reads source and finds things in it. They meet in [`store`], which is plain data and two small traits, and
//! in [`content`].

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

pub mod chunk;
pub mod content;
pub mod embed;
pub mod embedded;
pub mod graph;
pub mod manifest;
pub mod parser;
pub mod query;
pub mod rank;
pub mod store;
pub mod symbols;

pub use service::{IndexService, IndexSettings, OpenError};

#[cfg(test)]
mod testing;
