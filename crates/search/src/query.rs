//! What a query means: its operators, its words, and what sort of question it is. Pure.

pub mod forms;
pub mod operators;
pub mod plan;
pub mod stems;
pub mod weigh;
pub mod words;

pub use operators::{Operators, ParsedQuery};
pub use plan::{Confidence, Intent, Plan};
