//! Work that takes long, in a task that must not keep others waiting.

use tokio::runtime::{Handle, RuntimeFlavor};

/// So many bytes take a millisecond or more to be read as values, or to be compared.
pub const LONG: usize = 64 * 1024;

/// Does work on `n_bytes` here and now. If they are many, what else waits for this thread of the runtime goes on meanwhile on
/// another: a small machine has one such thread.
pub fn aside<T>(n_bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_threads =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if n_bytes > LONG && has_threads() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Blocks until another task has run; that takes no time.
    async fn waits_for_another(n_bytes: usize) {
        let (send, receive) = mpsc::channel();
        let waits = tokio::spawn(async move {
            aside(n_bytes, || {
                tokio::spawn(async move { send.send(()).ok() });
                receive.recv_timeout(Duration::from_secs(60)).expect("the other task has run");
            });
        });
        waits.await.expect("it has not panicked");
    }

    #[test]
    fn other_tasks_go_on_while_the_only_thread_works_long() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(waits_for_another(LONG + 1));
    }

    #[tokio::test]
    async fn without_other_threads_and_without_a_runtime_it_is_done_all_the_same() {
        assert_eq!(aside(LONG + 1, || 7), 7);
        let outside = std::thread::spawn(|| aside(LONG + 1, || 8));
        assert_eq!(outside.join().unwrap(), 8);
    }
}
