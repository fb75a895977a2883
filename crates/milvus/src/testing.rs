//! What the tests stand on: a server in memory that fails by script, the real one, and machines that share one of them.

mod bad_input;
mod claims;
mod machine;
mod machines;
mod model;
mod random;
mod real;
mod seed;
mod sequences;
mod suite;
mod sweeps;
