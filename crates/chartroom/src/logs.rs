//! Logs: a little on stderr, more in daily files of the data folder. Never a secret: what is logged of a request is
//! its method, its path without the query, and the status.

use std::path::Path;

use anyhow::Context as _;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// How many daily files are kept.
const KEPT_FILES: usize = 7;

/// Writes what is left in the buffer when it is dropped.
#[derive(Debug, Default)]
pub struct Logs {
    _files: Option<WorkerGuard>,
}

/// Logs to stderr, for a command that ends soon: warnings only, unless `CHARTROOM_LOG` says otherwise.
pub fn to_stderr() -> Logs {
    let stderr = fmt::layer().with_writer(std::io::stderr).with_filter(filter("warn"));
    // A test may have set its own subscriber; then that one is the right one.
    if let Err(error) = tracing_subscriber::registry().with(stderr).try_init() {
        tracing::debug!("logs are set up already: {error}");
    }
    Logs::default()
}

/// Logs to stderr and to daily files in `folder`, for the server.
pub fn to_files(folder: &Path) -> anyhow::Result<Logs> {
    // The appender makes the folder too, but complains first that there are no old files in it.
    std::fs::create_dir_all(folder).with_context(|| {
        format!("the log folder {} cannot be made, mend its permissions", folder.display())
    })?;
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("chartroom")
        .filename_suffix("log")
        .max_log_files(KEPT_FILES)
        .build(folder)
        .with_context(|| {
            format!("the log folder {} cannot be written, mend its permissions", folder.display())
        })?;
    let (files, guard) = tracing_appender::non_blocking(files);
    let files = fmt::layer().with_ansi(false).with_writer(files).with_filter(filter("info"));
    let stderr = fmt::layer().with_writer(std::io::stderr).with_filter(filter("warn"));
    if let Err(error) = tracing_subscriber::registry().with(files).with(stderr).try_init() {
        tracing::debug!("logs are set up already: {error}");
    }
    Ok(Logs { _files: Some(guard) })
}

fn filter(default: &str) -> EnvFilter {
    match std::env::var("CHARTROOM_LOG") {
        Ok(directives) if !directives.is_empty() => EnvFilter::builder().parse_lossy(directives),
        Ok(_) | Err(_) => EnvFilter::new(default),
    }
}
