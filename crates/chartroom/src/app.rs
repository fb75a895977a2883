//! The wiring: the only place that constructs concrete implementations.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::data::DataFolder;
use crate::http::{Access, Secret};

/// Everything a running server has, shared by all its requests.
#[derive(Debug, Clone)]
pub struct App {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    data: DataFolder,
    access: Arc<Access>,
    started: Instant,
    closing: CancellationToken,
}

impl App {
    /// Opens the stores in `data` and puts the parts together.
    pub fn open(config: Config, data: DataFolder) -> anyhow::Result<Self> {
        let token = match &config.server.token {
            Some(token) => Secret::new(token),
            None => Secret::random()?,
        };
        metrics_handle();
        Ok(Self {
            inner: Arc::new(Inner {
                access: Arc::new(Access::new(token)),
                started: Instant::now(),
                closing: CancellationToken::new(),
                config,
                data,
            }),
        })
    }

    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    pub fn data(&self) -> &DataFolder {
        &self.inner.data
    }

    pub fn access(&self) -> &Arc<Access> {
        &self.inner.access
    }

    pub fn uptime(&self) -> Duration {
        self.inner.started.elapsed()
    }

    /// Returns the counters in Prometheus' text format.
    pub fn render_metrics(&self) -> String {
        metrics_handle().map(PrometheusHandle::render).unwrap_or_default()
    }

    /// Is cancelled when the server stops: whoever holds a socket open watches it.
    pub fn closing(&self) -> &CancellationToken {
        &self.inner.closing
    }

    /// Ends sockets, sessions and every child. Called once, when the server stops.
    pub async fn close(&self) {
        self.inner.closing.cancel();
    }
}

/// The recorder is the process's own: tests run several servers in one.
fn metrics_handle() -> Option<&'static PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    HANDLE
        .get_or_init(|| match PrometheusBuilder::new().install_recorder() {
            Ok(handle) => Some(handle),
            Err(error) => {
                tracing::warn!("there will be no metrics: {error}");
                None
            }
        })
        .as_ref()
}
