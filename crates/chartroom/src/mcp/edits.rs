//! The mutation tools.

use chartroom_edits::{Edits, FileLocks};
use chartroom_lsp::LspHandle;
use chartroom_workspace::CanonicalRoot;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct EditTools {
    edits: Edits<LspHandle>,
}

impl EditTools {
    pub(super) fn new(root: CanonicalRoot, service: LspHandle, locks: FileLocks) -> Self {
        Self { edits: Edits::new(root, service, locks) }
    }
}

impl ToolGroup for EditTools {
    fn group(&self) -> Group {
        Group::Edits
    }

    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        std::future::ready(chartroom_edits::all()).boxed()
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Value) -> BoxFuture<'a, Option<ToolAnswer>> {
        self.edits.call(name, arguments).boxed()
    }
}
