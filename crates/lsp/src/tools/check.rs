//! `lsp_check`: the diagnostics of one file, now.

use chartroom_protocol::lsp::{CheckParams, FileText, Freshness, ServerOutcome};

use super::{FileParams, ToolAnswer, ToolSpec, schema};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::render::{Limits, Reader, blocks, doubt, escape};

pub(super) const NAME: &str = "lsp_check";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Check one file with its language servers and show its diagnostics. Starts the servers when needed.",
        schema::<FileParams>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: FileParams) -> Result<ToolAnswer, ToolError> {
    let (file, _) = orchestrator.source_file(&params.file_path)?;
    let file = FileText { file_path: file.to_string_lossy().into_owned(), text: None };
    let params = CheckParams { files: vec![file], ..CheckParams::default() };
    let response = orchestrator.check(params).await;
    let Some(checked) = response.files.first() else {
        return Err(ToolError::Unavailable("nothing was checked".to_owned()));
    };
    if let Some(reason) = &checked.refused {
        return Err(ToolError::InvalidArguments(format!("{}: {reason}", checked.file)));
    }
    let mut current = Vec::new();
    let mut others = Vec::new();
    for server in &response.servers {
        match &server.outcome {
            ServerOutcome::Answered { freshness, said } => {
                if *freshness == Freshness::Current {
                    current.push(server.id.clone());
                }
                others.extend(doubt(&server.id, *freshness, said.as_deref()).map(|doubt| escape(&doubt)));
            }
            ServerOutcome::Absent { reason, hint, .. } => {
                let reason = reason.as_deref().unwrap_or("it is not available");
                let hint = hint.as_deref().map(|hint| format!(" (try: {hint})")).unwrap_or_default();
                others.push(format!("{}: {reason}{hint}", server.id));
            }
        }
    }
    if current.is_empty() && checked.diagnostics.is_empty() {
        return Err(ToolError::Unavailable(format!(
            "{} could not be checked: {}",
            checked.file,
            others.join("; ")
        )));
    }
    let limits = Limits::of(orchestrator.config());
    let mut text = blocks(std::slice::from_ref(checked), limits, Reader::Model);
    if text.is_empty() {
        text = format!("No diagnostics in {} ({})", checked.file, current.join(", "));
    }
    for other in others {
        text.push_str(&format!("\n[{other}]"));
    }
    Ok(ToolAnswer::ok(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_told_with_how_far_it_can_be_believed() {
        for (freshness, said, expected) in [
            (Freshness::Current, None, None),
            (Freshness::Current, Some("x"), Some("gopls says: x")),
            (Freshness::Loading, None, Some("gopls is still loading")),
            (Freshness::TimedOut, Some("x"), Some("gopls did not answer in time; it says: x")),
            (Freshness::Failed, Some("x"), Some("gopls cannot load the project: x")),
        ] {
            assert_eq!(doubt("gopls", freshness, said).as_deref(), expected);
        }
    }
}
