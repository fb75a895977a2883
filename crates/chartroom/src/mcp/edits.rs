//! The mutation tools.

use chartroom_edits::Edits;
use chartroom_lsp::LspHandle;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Consent, Group, ToolAnswer, ToolGroup, ToolSpec};
use crate::app::language::Workspace;

pub(super) struct EditTools {
    root: CanonicalRoot,
    gate: SpawnGate,
    edits: Edits<LspHandle>,
}

impl EditTools {
    pub(super) fn new(workspace: &Workspace) -> Self {
        let Workspace { root, gate, lsp, locks } = workspace;
        let edits = Edits::new(root.clone(), lsp.clone(), locks.clone());
        Self { root: root.clone(), gate: gate.clone(), edits }
    }
}

impl ToolGroup for EditTools {
    fn group(&self) -> Group {
        Group::Edits
    }

    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        std::future::ready(chartroom_edits::all()).boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            let consent = IfTrusted { gate: &self.gate, root: &self.root, person: consent };
            self.edits.call(name, arguments, &consent).await
        }
        .boxed()
    }
}

/// A folder that is not trusted gets nothing that could run, whoever agrees.
pub(super) struct IfTrusted<'a> {
    pub(super) gate: &'a SpawnGate,
    pub(super) root: &'a CanonicalRoot,
    pub(super) person: &'a dyn Consent,
}

impl Consent for IfTrusted<'_> {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Result<(), String>> {
        if self.gate.is_trusted(self.root) {
            self.person.ask(question)
        } else {
            std::future::ready(Err("this folder is not trusted".to_owned())).boxed()
        }
    }
}
