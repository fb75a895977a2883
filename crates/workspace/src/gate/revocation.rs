//! The task that ends children whose workspace is no longer trusted.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::broadcast;

use super::WeakShared;

/// How often trust is looked at again: another process may have taken it back, or the folder was replaced.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Runs as long as the gate exists.
pub(super) async fn run(gate: WeakShared, mut revocations: broadcast::Receiver<PathBuf>) {
    let mut tick = tokio::time::interval(LOOK_AGAIN);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut store_lives = true;
    loop {
        tokio::select! {
            _now = tick.tick() => {}
            revoked = revocations.recv(), if store_lives => {
                // Having missed some is no matter: everything is looked at.
                store_lives = !matches!(revoked, Err(broadcast::error::RecvError::Closed));
            }
        }
        let Some(gate) = gate.upgrade() else { return };
        for child in gate.take_revoked() {
            tracing::info!(label = child.label, root = %child.root, "ended: the workspace is no longer trusted");
            tokio::spawn(async move { child.kill.kill().await });
        }
    }
}
