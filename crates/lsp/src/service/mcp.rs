//! The tools of the service's second channel.

use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use serde_json::Value;

use crate::mcp::{Consent, Tools};
use crate::orchestrator::Orchestrator;
use crate::tools;

impl Tools for Orchestrator {
    fn name(&self) -> (&'static str, &'static str) {
        ("lsp-navigation", "0.1.0")
    }

    fn instructions(&self) -> Option<&'static str> {
        None
    }

    async fn list(&self) -> Vec<&'static ToolSpec> {
        tools::all().iter().collect()
    }

    async fn call(&self, name: &str, arguments: Value, _consent: &dyn Consent) -> Option<ToolAnswer> {
        tools::call(self, name, arguments).await
    }
}
