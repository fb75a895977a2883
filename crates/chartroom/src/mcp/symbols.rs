//! The tools whose changes a language server works out.

use chartroom_edits::{Edits, FileLocks, SymbolEdits};
use chartroom_lsp::LspHandle;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::edits::IfTrusted;
use super::{Consent, Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct SymbolTools {
    root: CanonicalRoot,
    gate: SpawnGate,
    service: LspHandle,
    edits: SymbolEdits<LspHandle>,
}

impl SymbolTools {
    pub(super) fn new(
        root: &CanonicalRoot,
        gate: &SpawnGate,
        service: &LspHandle,
        locks: &FileLocks,
    ) -> Self {
        let edits = SymbolEdits::new(Edits::new(root.clone(), service.clone(), locks.clone()));
        Self { root: root.clone(), gate: gate.clone(), service: service.clone(), edits }
    }
}

impl ToolGroup for SymbolTools {
    fn group(&self) -> Group {
        Group::Edits
    }

    /// There are none without a language service, or when its tools are switched off.
    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        async { if self.service.has_tools().await { SymbolEdits::<LspHandle>::all() } else { &[] } }.boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !self.service.config()?.navigation_tools {
                return None;
            }
            let consent = IfTrusted { gate: &self.gate, root: &self.root, person: consent };
            self.edits.call(name, arguments, &consent).await
        }
        .boxed()
    }
}
