//! The six tools, one file each: from parameters to an envelope.
//!
//! The ones that read get a `core::ReadContext`, in which nothing can write.

pub(crate) mod answer;
pub(crate) mod call_graph;
mod doubts;
pub(crate) mod file_outline;
pub(crate) mod list_codebases;
pub(crate) mod read_file;
pub(crate) mod resolve;
pub(crate) mod search_codebase;

#[cfg(test)]
mod tests;

pub use list_codebases::render as render_list;

/// A call that cannot be answered with an envelope: the input is wrong, or the index itself broke.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);
