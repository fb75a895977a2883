//! A child's stderr: into the log line by line, and its last lines kept for messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::watch;

const KEPT_LINES: usize = 40;
const LINE_LENGTH: usize = 2048;

/// The last lines of a child's stderr.
#[derive(Clone, Debug)]
pub(crate) struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    ended: watch::Receiver<bool>,
}

impl StderrTail {
    /// Reads a stderr until it ends.
    pub(crate) fn follow(label: &str, stderr: Option<impl AsyncRead + Send + Unpin + 'static>) -> Self {
        let (end, ended) = watch::channel(false);
        let tail = StderrTail { lines: Arc::default(), ended };
        if let Some(stderr) = stderr {
            let (label, tail) = (label.to_owned(), tail.clone());
            tokio::spawn(async move {
                read(&label, stderr, &tail).await;
                end.send_replace(true);
            });
        }
        tail
    }

    /// Waits until everything was read.
    pub(crate) async fn ended(&self) {
        // An error means that the reading task is gone, which is an end too.
        self.ended.clone().wait_for(|ended| *ended).await.ok();
    }

    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn push(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

async fn read(label: &str, stderr: impl AsyncRead + Unpin, tail: &StderrTail) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        let chunk = match reader.fill_buf().await {
            Ok(chunk) => chunk,
            Err(error) => {
                tracing::debug!(label, %error, "stderr ended in an error");
                b""
            }
        };
        let at_end = chunk.is_empty();
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        // A line without end must not grow without end: the rest of it is dropped.
        line.extend_from_slice(&part[..part.len().min(LINE_LENGTH.saturating_sub(line.len()))]);
        let consumed = newline.map_or(chunk.len(), |newline| newline + 1);
        reader.consume(consumed);
        if newline.is_some() || (at_end && !line.is_empty()) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            tracing::debug!(target: "chartroom::child", label, "{text}");
            tail.push(text);
            line.clear();
        }
        if at_end {
            return;
        }
    }
}
