//! Diagnostics as text for a model: one line each, in file blocks, in a fixed order, cut to the caps.
//!
//! Everything here is pure; the bytes are a promise that the golden tests hold.

mod blocks;
mod doubt;
mod escape;
mod status;

pub use blocks::{Limits, Reader, after_edit, after_write, blocks, line};
pub use doubt::doubt;
pub use escape::{escape, one_line, path_attribute};
pub use status::{DISABLED, status_lines, unavailable};
