//! `chartroom check FILE…`: diagnostics in the tool format; 0 clean, 1 some, 3 a file could not be checked.

use std::path::PathBuf;

use chartroom_lsp::render::{Limits, Reader, blocks, doubt};
use chartroom_protocol::lsp::{
    CheckParams, CheckResponse, FileDiagnostics, FileText, Freshness, ServerOutcome, Severity,
};

use super::{answer, settings, trust, workspace};
use crate::exit::{Failure, Outcome};
use crate::logs;

/// How long a server may take, in milliseconds: it may start cold, and a person waits for an answer, not for an edit.
const PATIENCE: u64 = 60_000;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Trust the workspace first: its language servers may run what is in it
    #[arg(long)]
    trust: bool,
    /// The workspace [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Which severities: error, warning, info, hint
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    severity: Vec<Severity>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if args.trust {
        trust::refuse_agents(settings::data()?.path())?;
    }
    let _logs = logs::to_stderr();
    let (response, limits) = workspace::within(args.root.as_deref(), async |opened| {
        let workspace = &opened.workspace;
        if args.trust {
            let trusted = workspace.gate.trust().trust(&workspace.root);
            trusted.map_err(|error| Failure::impossible(error.to_string()))?;
        }
        // Named as the shell completes them: from the current folder.
        let files = args.files.iter().map(|file| {
            std::path::absolute(file).unwrap_or_else(|_| file.clone()).to_string_lossy().into_owned()
        });
        let files = files.map(|file_path| FileText { file_path, text: None }).collect();
        // Wishes of this one check: the service may be another process's, and stays as its users have it.
        let params = CheckParams {
            files,
            include_severities: args.severity.clone(),
            patience_ms: Some(PATIENCE),
            ..CheckParams::default()
        };
        let response = workspace.lsp.check(&params).await;
        let why = workspace.lsp.unavailable();
        let limits = workspace.lsp.config().map(Limits::of).unwrap_or_default();
        let Some(response) = response else {
            let why = why.unwrap_or_else(|| "the language service does not answer".to_owned());
            return Err(Failure::impossible(why));
        };
        Ok((response, limits))
    })?;
    report(&response, limits, args.json)
}

fn report(response: &CheckResponse, limits: Limits, as_json: bool) -> Result<Outcome, Failure> {
    if as_json {
        let json = serde_json::to_string(response)
            .map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))?;
        answer(&format!("{json}\n"))?;
    } else {
        let text = blocks(&response.files, limits, Reader::Person);
        if !text.is_empty() {
            answer(&format!("{text}\n"))?;
        }
    }
    if let Some(reason) = unchecked(response) {
        return Err(Failure::impossible(reason));
    }
    let clean = response.files.iter().all(|file| file.diagnostics.is_empty());
    Ok(if clean { Outcome::Done } else { Outcome::NotOk })
}

/// Returns which files were not checked and why, if one was not.
fn unchecked(response: &CheckResponse) -> Option<String> {
    let reasons: Vec<String> = response
        .files
        .iter()
        .filter_map(|file| Some(format!("{}: {}", file.file, why_unchecked(file)?)))
        .collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Returns why nothing is known of a file now, unless one of its servers has looked at it as it is.
fn why_unchecked(file: &FileDiagnostics) -> Option<String> {
    if let Some(reason) = &file.refused {
        return Some(reason.clone());
    }
    let mut reasons = Vec::new();
    for server in &file.servers {
        reasons.push(match &server.outcome {
            ServerOutcome::Answered { freshness: Freshness::Current, .. } => return None,
            ServerOutcome::Answered { freshness, said } => {
                let doubt = doubt(&server.id, *freshness, said.as_deref()).unwrap_or_default();
                // One that cannot load the project says so again until that is mended.
                if *freshness == Freshness::Failed { doubt } else { format!("{doubt}; try again") }
            }
            ServerOutcome::Absent { reason, hint, .. } => {
                let reason = reason.as_deref().unwrap_or("it is not available");
                let hint = hint.as_deref().map(|hint| format!(", try `{hint}`")).unwrap_or_default();
                format!("{}: {reason}{hint}", server.id)
            }
        });
    }
    Some(if reasons.is_empty() {
        "no language server is there for this file".to_owned()
    } else {
        reasons.join("; ")
    })
}
