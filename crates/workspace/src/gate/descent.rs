//! Whether a process runs below a child of ours: an act that is for a person alone must not come from there.
//!
//! A keeper takes in whatever its command leaves behind, so that a process which was made a daemon is still below it.

use std::path::Path;

use chartroom_transport::process;

use super::SpawnGate;
use super::record::{self, Process};

/// A child of a gate, as far as others can know it.
#[derive(Clone, Debug)]
pub(super) struct LivingChild {
    pub(super) label: String,
    pub(super) keeper: Process,
}

/// Returns the label of the child below which a process runs, whichever gate on this data folder started it.
pub fn child_above(data_dir: &Path, pid: u32) -> Option<String> {
    above(&[], data_dir, pid)
}

impl SpawnGate {
    /// Returns the label of the child below which a process runs, whichever gate on the same data folder started it.
    pub fn child_above(&self, pid: u32) -> Option<String> {
        above(&self.own(), &self.shared.data_dir, pid)
    }

    /// Returns every process below the children of the gates on the same data folder.
    pub fn below_children(&self) -> Vec<u32> {
        let living = self.own().into_iter().chain(record::living(&self.shared.data_dir));
        let below = living.flat_map(|child| {
            let below = process::descendants(child.keeper.pid()).into_iter();
            below.filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
        });
        below.collect()
    }

    /// Whether any child lives, of this gate or of another one on the same data folder.
    pub fn has_children(&self) -> bool {
        !self.own().is_empty() || record::living(&self.shared.data_dir).next().is_some()
    }

    /// Our own are known without their records, which whoever runs as the user can remove.
    fn own(&self) -> Vec<LivingChild> {
        let mut state = self.shared.state();
        state.children.retain(|child| !child.kill.is_spent());
        let own = state.children.iter();
        own.filter_map(|child| Some(LivingChild { label: child.label.clone(), keeper: child.keeper? }))
            .collect()
    }
}

/// Costs as much as the process has ancestors, however many children there are: a record is found by its keeper.
fn above(own: &[LivingChild], data_dir: &Path, pid: u32) -> Option<String> {
    process::ancestors(pid).into_iter().filter_map(Process::of).find_map(|keeper| {
        let ours = own.iter().find(|child| child.keeper == keeper).map(|child| child.label.clone());
        ours.or_else(|| record::label(data_dir, keeper))
    })
}
