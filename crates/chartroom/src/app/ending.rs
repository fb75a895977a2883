//! How long the parts get to end by themselves when the server stops: with the connections' time and the runtime's it
//! stays within the 5 s that are promised.

use std::time::Duration;

/// For agents, language servers, the index and terminals together: they end at the same time.
pub(crate) const LIMIT: Duration = Duration::from_secs(3);
/// For threads that are in the middle of something when everything else has ended.
pub(crate) const THREADS: Duration = Duration::from_millis(500);

/// Ends the four parts at once. What does not end in time is killed with the process: agents, language servers and shells
/// by their keepers, an index build by being cut short, which it survives by design.
pub(super) async fn all<A, S, I, T>(
    agents: impl Future<Output = A>,
    language_services: impl Future<Output = S>,
    index: impl Future<Output = I>,
    terminals: impl Future<Output = T>,
) {
    tokio::join!(
        in_time("agents", agents),
        in_time("language servers", language_services),
        in_time("an index build", index),
        in_time("terminals", terminals)
    );
}

async fn in_time<T>(what: &'static str, end: impl Future<Output = T>) {
    if tokio::time::timeout(LIMIT, end).await.is_err() {
        tracing::warn!("{what} did not end within {} s: killed with the server", LIMIT.as_secs());
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::http::limits;

    #[tokio::test(start_paused = true)]
    async fn whatever_hangs_the_server_stops_within_five_seconds() {
        let started = Instant::now();
        all(pending::<()>(), pending::<()>(), pending::<()>(), pending::<()>()).await;
        let stopped = started.elapsed() + limits::DRAIN + THREADS;
        assert!(stopped < Duration::from_secs(5), "{stopped:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_that_hangs_takes_no_time_from_the_others() {
        let ended = AtomicBool::new(false);
        let slow = async {
            sleep(LIMIT - Duration::from_millis(1)).await;
            ended.store(true, Ordering::SeqCst);
        };
        all(pending::<()>(), slow, ready(()), pending::<()>()).await;
        assert!(ended.load(Ordering::SeqCst));
    }
}
