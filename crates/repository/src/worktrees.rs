//! Worktrees of our making: each in a folder below the data folder, on a branch of its own, with a record of what it is.

mod add;
mod bring;
mod record;
mod remove;
mod run;

pub use add::{Preparation, add, add_for, branch_of};
pub use bring::bring;
pub use record::{Record, find, list, name_of, of_folder, was_of_folder};
pub use remove::{remove, would_lose};
pub use run::{Command, last_run, run};
