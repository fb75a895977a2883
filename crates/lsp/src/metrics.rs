//! Counters of the language service: shown in debug logs and on /metrics, sent nowhere.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chartroom_protocol::lsp::LspMetrics;

/// The counters, shared by everything in one orchestrator.
#[derive(Debug, Default)]
pub struct Metrics {
    starts: AtomicU64,
    failed_starts: AtomicU64,
    crashes: AtomicU64,
    checks: AtomicU64,
    timeouts: AtomicU64,
    diagnostics: AtomicU64,
    checked_files: AtomicU64,
    latencies: Mutex<Latencies>,
}

#[derive(Debug, Default)]
struct Latencies {
    total_ms: u64,
    longest_ms: u64,
}

impl Metrics {
    pub(crate) fn started(&self, server: &str) {
        self.starts.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "chartroom::lsp::metrics", server, "language server started");
    }

    pub(crate) fn start_failed(&self, server: &str, reason: &str) {
        self.failed_starts.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "chartroom::lsp::metrics", server, reason, "language server did not start");
    }

    pub(crate) fn crashed(&self, server: &str, reason: &str) {
        self.crashes.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "chartroom::lsp::metrics", server, reason, "language server crashed");
    }

    pub(crate) fn collected(&self, server: &str, latency: Duration, timed_out: bool) {
        let ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        self.checks.fetch_add(1, Ordering::Relaxed);
        if timed_out {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
        }
        let mut latencies = self.latencies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        latencies.total_ms = latencies.total_ms.saturating_add(ms);
        latencies.longest_ms = latencies.longest_ms.max(ms);
        drop(latencies);
        tracing::debug!(target: "chartroom::lsp::metrics", server, ms, timed_out, "diagnostics collected");
    }

    pub(crate) fn checked(&self, file: &str, n_diagnostics: usize) {
        self.checked_files.fetch_add(1, Ordering::Relaxed);
        self.diagnostics.fetch_add(n_diagnostics as u64, Ordering::Relaxed);
        tracing::debug!(target: "chartroom::lsp::metrics", file, n_diagnostics, "file checked");
    }

    /// Reads the counters.
    pub fn snapshot(&self) -> LspMetrics {
        let latencies = self.latencies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        LspMetrics {
            server_starts: self.starts.load(Ordering::Relaxed),
            server_start_failures: self.failed_starts.load(Ordering::Relaxed),
            server_crashes: self.crashes.load(Ordering::Relaxed),
            collections: self.checks.load(Ordering::Relaxed),
            collection_timeouts: self.timeouts.load(Ordering::Relaxed),
            collection_ms_total: latencies.total_ms,
            collection_ms_longest: latencies.longest_ms,
            checked_files: self.checked_files.load(Ordering::Relaxed),
            diagnostics: self.diagnostics.load(Ordering::Relaxed),
        }
    }
}
