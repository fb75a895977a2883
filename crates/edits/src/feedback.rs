//! What follows a success message: the diagnostics, when there are any, and nothing else ever.

use std::collections::BTreeMap;

use chartroom_lsp::LspHandle;
use chartroom_lsp::render::{Limits, after_edit, after_write};
use chartroom_protocol::lsp::told::ARE_NEW;
use chartroom_protocol::lsp::{
    CheckParams, CheckResponse, CheckScope, Diagnostic, FileDiagnostics, FileText, LspConfig,
};

/// Whoever can check files: the language service, or nobody.
pub trait Checker: Send + Sync {
    /// Checks files; whatever goes wrong is nothing.
    fn check(&self, params: &CheckParams) -> impl Future<Output = Option<CheckResponse>> + Send;

    /// Tells whether telling it of removed files would start nothing.
    fn is_running(&self) -> bool;

    /// The user's settings, unless checking is off.
    fn config(&self) -> Option<&LspConfig>;
}

impl Checker for LspHandle {
    async fn check(&self, params: &CheckParams) -> Option<CheckResponse> {
        LspHandle::check(self, params).await
    }

    fn is_running(&self) -> bool {
        self.is_alive()
    }

    fn config(&self) -> Option<&LspConfig> {
        LspHandle::config(self)
    }
}

/// No language service.
#[derive(Debug, Clone, Copy)]
pub struct NoChecker;

impl Checker for NoChecker {
    async fn check(&self, _params: &CheckParams) -> Option<CheckResponse> {
        None
    }

    fn is_running(&self) -> bool {
        false
    }

    fn config(&self) -> Option<&LspConfig> {
        None
    }
}

/// What a tool changed, ours or an agent's own.
#[derive(Debug, Default)]
pub struct Changed {
    /// Files with new content, in the order of the change; without a text the one on the disk counts.
    pub written: Vec<FileText>,
    /// Files that are gone.
    pub removed: Vec<String>,
}

/// Diagnostics from before an edit, to tell which are new.
#[derive(Debug, Default)]
pub struct Baseline(Option<BTreeMap<String, Vec<Diagnostic>>>);

/// Looks at files before they are changed, if the user wants new errors told apart.
pub(crate) async fn baseline(checker: &impl Checker, files: &[String]) -> Baseline {
    if !checker.config().is_some_and(|config| config.mark_new) {
        return Baseline(None);
    }
    let files = files.iter().map(|file| FileText { file_path: file.clone(), text: None }).collect();
    let params = CheckParams { files, ..CheckParams::default() };
    let response = checker.check(&params).await;
    Baseline(
        response
            .map(|response| response.files.into_iter().map(|file| (file.file, file.diagnostics)).collect()),
    )
}

/// Returns the diagnostics after a change, which follow its success message; empty when there are none.
///
/// The one way to them, for our own tools, for Claude's after-tool hook and for `chartroom hook`.
pub async fn feedback(
    checker: &impl Checker,
    changed: Changed,
    scope: CheckScope,
    baseline: Baseline,
) -> String {
    let Some(limits) = checker.config().map(Limits::of) else { return String::new() };
    // Deletions and renames alone are not worth starting anything.
    if changed.written.is_empty() && (changed.removed.is_empty() || !checker.is_running()) {
        return String::new();
    }
    let params =
        CheckParams { files: changed.written, scope, removed: changed.removed, ..CheckParams::default() };
    let Some(response) = checker.check(&params).await else { return String::new() };
    let mut text = match scope {
        CheckScope::Files => after_edit(&response.files, limits),
        CheckScope::Project => after_write(&response.files, &response.others, limits),
    };
    if !text.is_empty()
        && let Some(n_new) = n_new(&baseline, &response.files)
    {
        text.push_str(&format!("\n{n_new}{ARE_NEW}"));
    }
    if !text.is_empty() && !response.unknown.is_empty() {
        let plural = if response.unknown.len() == 1 { "file" } else { "files" };
        let were = if response.unknown.len() == 1 { "was" } else { "were" };
        let n_unknown = response.unknown.len();
        text.push_str(&format!("\n{n_unknown} {plural} that may depend on it {were} not looked at"));
    }
    text
}

/// Counts what was not there before; positions move with an edit, so that they do not count.
fn n_new(baseline: &Baseline, files: &[FileDiagnostics]) -> Option<usize> {
    let before = baseline.0.as_ref()?;
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (file, diagnostics) in before {
        for diagnostic in diagnostics {
            *known.entry((file, &diagnostic.message)).or_default() += 1;
        }
    }
    let mut n_new = 0;
    for file in files {
        for diagnostic in &file.diagnostics {
            match known.get_mut(&(file.file.as_str(), diagnostic.message.as_str())) {
                Some(count) if *count > 0 => *count -= 1,
                _ => n_new += 1,
            }
        }
    }
    Some(n_new)
}
