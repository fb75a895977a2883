//! What the compiler knows: language servers, diagnostics, navigation.
//!
//! Two halves. The service ([`service`]) is a process of its own: it holds the [`orchestrator`], which starts
//! language servers, and answers over a pipe. The [`handle`] is what the rest of Chartroom holds: it starts that
//! process, shares it between all users of one root, and stays safe to call when it is dead.

pub mod render;
