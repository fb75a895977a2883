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
            orchestrator.stay_within(memory_of).await;
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
            .filter(|(_, client)| now.duration_since(client.last_used()) >= patience)
            .map(|(slot, _)| slot)
            .collect();
        for slot in idle {
            tracing::debug!(server = slot.key.id, "stopped: nobody used it");
            self.stop_slot(&slot).await;
        }
    }

    /// Stops the least recently used servers until the rest fit into the memory budget.
    pub(super) async fn stay_within(&self, memory_of: impl Fn(&Client) -> u64) {
        if self.config.memory_budget == 0 {
            return;
        }
        let budget = self.config.memory_budget.saturating_mul(1024 * 1024);
        let mut running: Vec<_> = self
            .running_slots()
            .into_iter()
            .map(|(slot, client)| (client.last_used(), memory_of(&client), slot))
            .collect();
        running.sort_by_key(|(used, _, _)| *used);
        let mut total: u64 = running.iter().map(|(_, bytes, _)| bytes).sum();
        // The last one is in use; stopping it would only start it again.
        running.pop();
        for (_, bytes, slot) in running {
            if total <= budget {
                return;
            }
            tracing::debug!(server = slot.key.id, bytes, "stopped: the memory budget is used up");
            self.stop_slot(&slot).await;
            total = total.saturating_sub(bytes);
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

fn memory_of(client: &Client) -> u64 {
    client.pid().and_then(memory::of_tree).unwrap_or(0)
}
