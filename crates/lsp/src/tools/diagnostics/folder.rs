//! The diagnostics of a folder: its files are checked in batches, and what was not looked at is told.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use chartroom_protocol::lsp::{
    CheckParams, CheckScope, Diagnostic, FileDiagnostics, FileText, Freshness, ServerOutcome,
};
use chartroom_workspace::boundary;
use tokio::time::Instant;

use super::{ToolAnswer, line};
use crate::orchestrator::{Orchestrator, ToolError, explain};
use crate::render::{doubt, escape};

/// No further batch is begun after this. A whole project is what a compiler is for.
pub(in crate::tools) const FOLDER_LIMIT: Duration = Duration::from_secs(30);
/// Files that are sent to the servers together; they keep no more than twice as many open.
const BATCH: usize = 50;
/// More lines would only fill the model's window.
const MAX_LINES: usize = 50;
/// Names of files that were not looked at.
const MAX_NAMES: usize = 5;

pub(super) async fn check(orchestrator: &Orchestrator, path: &str) -> Result<ToolAnswer, ToolError> {
    let place = boundary::inside_source(orchestrator.root(), Path::new(path)).map_err(|error| {
        ToolError::InvalidArguments(format!("File is outside workspace boundary: {error}"))
    })?;
    if !place.exists() {
        return Err(ToolError::InvalidArguments(format!("{path} does not exist")));
    }
    let files = orchestrator.checkable_below(&place.name()).await;
    if files.is_empty() {
        let why = "no language server knows a file there";
        return Err(ToolError::Unavailable(format!("{path} could not be checked: {why}")));
    }
    let began = Instant::now();
    let mut report = Report::default();
    for batch in files.chunks(BATCH) {
        if began.elapsed() >= FOLDER_LIMIT {
            report.not_known.extend(batch.iter().map(|file| orchestrator.display(file)));
            continue;
        }
        let text_of = |file: &std::path::PathBuf| FileText {
            file_path: file.to_string_lossy().into_owned(),
            text: None,
        };
        let params = CheckParams {
            files: batch.iter().map(text_of).collect(),
            scope: CheckScope::Files,
            ..CheckParams::default()
        };
        orchestrator.check(params).await.files.into_iter().for_each(|file| report.add(file));
    }
    if report.n_known == 0 && report.found.is_empty() {
        let why: Vec<String> = report.reasons.into_iter().collect();
        return Err(ToolError::Unavailable(format!("{path} could not be checked: {}", why.join("; "))));
    }
    Ok(ToolAnswer::ok(report.text(path)))
}

/// What the batches brought.
#[derive(Default)]
struct Report {
    found: Vec<Diagnostic>,
    /// Files of which a server said something current.
    n_known: usize,
    n_broken: usize,
    /// Files that may hold more than is said here.
    not_known: Vec<String>,
    /// Why, one for each server.
    reasons: BTreeSet<String>,
}

impl Report {
    fn add(&mut self, file: FileDiagnostics) {
        let mut is_current = false;
        for server in &file.servers {
            let reason = match &server.outcome {
                ServerOutcome::Answered { freshness, said } => {
                    is_current |= *freshness == Freshness::Current;
                    let Some(doubt) = doubt(&server.id, *freshness, said.as_deref()) else { continue };
                    escape(&doubt)
                }
                ServerOutcome::Absent { reason, hint, .. } => {
                    explain(&server.id, reason.as_deref().unwrap_or("it is not available"), hint.as_deref())
                }
            };
            self.reasons.insert(reason);
        }
        self.reasons.extend(file.refused.clone().map(|reason| format!("{}: {reason}", file.file)));
        if is_current {
            self.n_known += 1;
        } else {
            self.not_known.push(file.file.clone());
        }
        self.n_broken += usize::from(!file.diagnostics.is_empty());
        self.found.extend(file.diagnostics);
    }

    fn text(self, path: &str) -> String {
        let (n_found, n_known) = (self.found.len(), self.n_known);
        let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
        let mut lines: Vec<String> = self.found.iter().take(MAX_LINES).map(line).collect();
        if n_found > MAX_LINES {
            let n_more = n_found - MAX_LINES;
            lines.push(format!("... and {n_more} more; name a folder or file below {path} to see them"));
        }
        lines.push(match n_found {
            0 => format!("No diagnostics in {}", files(n_known)),
            n => format!("{n} in {} ({} checked)", files(self.n_broken), files(n_known)),
        });
        if !self.not_known.is_empty() {
            let mut names: Vec<&str> = self.not_known.iter().take(MAX_NAMES).map(String::as_str).collect();
            if self.not_known.len() > MAX_NAMES {
                names.push("...");
            }
            let n_files = files(self.not_known.len());
            lines.push(format!("[{n_files} not known, ask again: {}]", names.join(", ")));
        }
        lines.extend(self.reasons.iter().map(|reason| format!("[{reason}]")));
        lines.join("\n")
    }
}
