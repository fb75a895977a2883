//! How well search finds the place, measured: texts with the files that they led to, asked of an index of the tree as it
//! was before.
//!
//! Rows come from a file (issues of public repositories) or from a repository's own history (see [`mine`]). Every system
//! answers the same rows, so that two can be compared row by row.

mod beside;
mod calibration;
mod figures;
mod mine;
mod questions;
mod report;
mod rows;
mod run;
mod scores;
mod stages;
mod tree;

pub use beside::{Plain, plain_ranking};
pub use calibration::{Bin, bins, plot};
pub use figures::{Difference, Figures, difference, place_of};
pub use mine::{MinedRow, mine};
pub use questions::{Question, names, sentences, without_lines};
pub use report::{Summary, report, summary};
pub use rows::{Leak, Row, leak_of, read_rows};
pub use run::{Answer, Beside, EvalError, Kind, OURS, Objects, Options, evaluate};
pub use scores::{Scores, scores};
pub use tree::{Tree, TreeError};
