//! Servers that nobody needs are stopped: after a while of silence, or when together they take too much memory.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::{Orchestrator, Slot};
use crate::client::Client;
use crate::memory;

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(15);

impl Orchestrator {
    /// Looks after the servers for as long as the orchestrator lives.
    pub async fn run_housekeeping(orchestrator: Weak<Self>) {
        let mut tick = tokio::time::interval(LOOK);
        loop {
            tick.tick().await;
            let Some(orchestrator) = orchestrator.upgrade() else { return };
            orchestrator.stop_idle(Instant::now()).await;
            if let Some(budget) = orchestrator.budget(memory::of_machine()) {
                // The budget is of the user, and each workspace has a service of its own.
                let elsewhere = orchestrator.launch.memory_elsewhere();
                orchestrator.stay_within(budget.saturating_sub(elsewhere), memory_of).await;
            }
        }
    }

    /// Stops servers that were not used for `idleTimeout`. They start again with the next touch.
    pub(super) async fn stop_idle(&self, now: Instant) {
        if self.config.idle_timeout == 0 {
            return;
        }
        let patience = Duration::from_millis(self.config.idle_timeout);
        let idle: Vec<_> = self
            .running_slots()
            .into_iter()
            .filter(|(_, client)| !is_answering(client) && now.duration_since(client.last_used()) >= patience)
            .map(|(slot, _)| slot)
            .collect();
        for slot in idle {
            tracing::debug!(server = slot.key.id, "stopped: nobody used it");
            self.stop_slot(&slot).await;
        }
    }

    /// Stops the least recently used servers until the rest fit into the memory budget. One that answers somebody at this
    /// moment stays, however much it takes.
    pub(super) async fn stay_within(&self, budget: u64, memory_of: impl Fn(&Client) -> u64) {
        let mut running: Vec<_> = self
            .running_slots()
            .into_iter()
            .map(|(slot, client)| (client.last_used(), memory_of(&client), is_answering(&client), slot))
            .collect();
        running.sort_by_key(|(used, ..)| *used);
        let mut total: u64 = running.iter().map(|(_, bytes, ..)| bytes).sum();
        // The last one is in use; stopping it would only start it again.
        running.pop();
        for (_, bytes, is_answering, slot) in running {
            if total <= budget {
                return;
            }
            if is_answering {
                continue;
            }
            tracing::debug!(server = slot.key.id, bytes, "stopped: the memory budget is used up");
            self.stop_slot(&slot).await;
            total = total.saturating_sub(bytes);
        }
    }

    /// The user's budget in bytes, or a quarter of what the machine has; nothing is no limit.
    pub(super) fn budget(&self, of_machine: Option<u64>) -> Option<u64> {
        match self.config.memory_budget {
            Some(0) => None,
            Some(mebibytes) => Some(mebibytes.saturating_mul(1024 * 1024)),
            None => of_machine.map(|bytes| bytes / 4),
        }
    }

    fn running_slots(&self) -> Vec<(Arc<Slot>, Arc<Client>)> {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        slots.into_iter().filter_map(|slot| slot.client().map(|client| (slot, client))).collect()
    }

    async fn stop_slot(&self, slot: &Arc<Slot>) {
        self.slots().remove(&slot.key);
        slot.stop().await;
    }
}

/// Whether a check or a question holds the client: its slot has one reference, and whoever looks here another.
fn is_answering(client: &Arc<Client>) -> bool {
    Arc::strong_count(client) > 2
}

fn memory_of(client: &Client) -> u64 {
    client.pid().and_then(memory::of_tree).unwrap_or(0)
}
