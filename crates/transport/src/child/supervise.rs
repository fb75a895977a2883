//! The task that listens to a keeper: learns the child's pid and how it ended.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::watch;

use super::stderr::StderrTail;
use super::{Exit, State};
use crate::keeper::Report;

/// How long a stderr may stay open after everything below the keeper is gone. It is held open only by a
/// process that could not be killed.
const STDERR_GRACE: Duration = Duration::from_secs(2);

/// Follows the keeper's reports until it is gone, then tells those who wait.
pub(super) async fn run(
    mut keeper: tokio::process::Child,
    socket: UnixStream,
    state: watch::Sender<State>,
    stderr: StderrTail,
) {
    let mut exit = Exit::Lost;
    if let Err(error) = read_reports(socket, &state, &mut exit).await {
        tracing::debug!(%error, "the keeper's socket ended in an error");
    }
    match keeper.wait().await {
        Ok(status) if exit == Exit::Lost => tracing::warn!(%status, "a keeper went away without a report"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "a keeper could not be waited for"),
    }
    if tokio::time::timeout(STDERR_GRACE, stderr.ended()).await.is_err() {
        tracing::warn!("the stderr of a child that is gone is held open");
    }
    state.send_modify(|state| state.exit = Some(exit));
}

async fn read_reports(
    socket: UnixStream,
    state: &watch::Sender<State>,
    exit: &mut Exit,
) -> std::io::Result<()> {
    // This sets the shared open file to non-blocking for the writing clone too: orders are single bytes.
    socket.set_nonblocking(true)?;
    let mut lines = BufReader::new(tokio::net::UnixStream::from_std(socket)?).lines();
    while let Some(line) = lines.next_line().await? {
        match Report::parse(&line) {
            Some(Report::Started(pid)) => state.send_modify(|state| state.pid = Some(pid)),
            Some(Report::Ended(end)) => *exit = end,
            None => tracing::warn!(line, "a keeper said something unknown"),
        }
    }
    Ok(())
}
