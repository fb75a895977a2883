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
    above(&record::living(data_dir), pid)
}

impl SpawnGate {
    /// Returns the label of the child below which a process runs, whichever gate on the same data folder started it.
    pub fn child_above(&self, pid: u32) -> Option<String> {
        above(&self.living(), pid)
    }

    /// Returns every process below the children of the gates on the same data folder.
    pub fn below_children(&self) -> Vec<u32> {
        let below = self.living().into_iter().flat_map(|child| {
            let below = process::descendants(child.keeper.pid()).into_iter();
            below.filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
        });
        below.collect()
    }

    /// Whether any child lives, of this gate or of another one on the same data folder.
    pub fn has_children(&self) -> bool {
        !self.living().is_empty()
    }

    /// Our own are known without their records, which whoever runs as the user can remove.
    fn living(&self) -> Vec<LivingChild> {
        let mut living: Vec<LivingChild> = {
            let mut state = self.shared.state();
            state.children.retain(|child| !child.kill.is_spent());
            let own = state.children.iter();
            own.filter_map(|child| Some(LivingChild { label: child.label.clone(), keeper: child.keeper? }))
                .collect()
        };
        living.extend(record::living(&self.shared.data_dir));
        living
    }
}

fn above(children: &[LivingChild], pid: u32) -> Option<String> {
    if children.is_empty() {
        return None;
    }
    process::ancestors(pid).into_iter().find_map(|pid| {
        let process = Process::of(pid)?;
        children.iter().find(|child| child.keeper == process).map(|child| child.label.clone())
    })
}
