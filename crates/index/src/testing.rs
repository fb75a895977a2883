//! What the state's tests stand on: a store in memory that fails by script, an embedder, and a bench to try things.

mod bench;
mod faults;
mod memory;
mod no_words;
mod simple;

pub(crate) use bench::{Bench, alpha};
pub(crate) use faults::{Fault, Killed};

mod fault_machine;
mod stability;
