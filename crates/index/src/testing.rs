//! What the state's tests stand on: a store in memory that fails by script, simple content, and a bench to try things.

mod bench;
mod faults;
mod memory;
mod simple;

pub(crate) use bench::{Bench, Facts};
pub(crate) use faults::{Fault, FaultyStore, Killed};
pub(crate) use memory::MemoryStore;

mod fault_machine;
mod lifecycle_tests;
mod stability;
