//! The navigation tools: their answers come from the language service.

use chartroom_lsp::{LspHandle, tools};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Consent, Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct LspTools {
    service: LspHandle,
}

impl LspTools {
    pub(super) fn new(service: LspHandle) -> Self {
        Self { service }
    }
}

impl ToolGroup for LspTools {
    fn group(&self) -> Group {
        Group::Lsp
    }

    /// There are none when they are switched off, or when the service did not start.
    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        async { if self.service.has_tools().await { tools::all() } else { &[] } }.boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        _consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !tools::all().iter().any(|tool| tool.name == name) || !self.service.config()?.navigation_tools
            {
                return None;
            }
            Some(self.service.call_tool(name, arguments).await)
        }
        .boxed()
    }
}
