//! The rehearsal: fixtures, scripted fakes, scripted model APIs. For tests only, so it may panic with a clear word.

#![warn(missing_docs)]

pub mod fake_lsp;
pub mod fakes;
pub mod hostile;
pub mod hostile_files;
pub mod milvus;
pub mod model_api;
pub mod project;
pub mod proxy;
pub mod tools;
