//! The threads of searches, apart from those that parse and pack: a search does not queue behind a build.

use std::sync::LazyLock;

use rayon::ThreadPool;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let named = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("search-{at}"));
    named.build().inspect_err(|error| tracing::warn!(%error, "searches share the threads of builds")).ok()
});

/// Runs this, and what it does at the same time, on the threads of searches.
pub(crate) fn install<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match &*POOL {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
