//! Changes that a language server works out: rename, edits of a symbol, code actions. Nothing is written here; the edit
//! tools make what is proposed, or do not.

use std::sync::LazyLock;

use chartroom_protocol::lsp::ProposeResponse;
use chartroom_protocol::tool::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::orchestrator::{Orchestrator, ToolError};

mod code_actions;
mod edit_symbol;
mod rename;
mod symbol_text;
mod workspace_edit;

/// Returns the tools that make such changes, by name. Their schemas are made once.
pub fn all() -> &'static [ToolSpec] {
    static ALL: LazyLock<Vec<ToolSpec>> =
        LazyLock::new(|| vec![code_actions::spec(), edit_symbol::spec(), rename::spec()]);
    &ALL
}

/// Tells whether a call with these arguments changes nothing, whatever comes of it: it looks only.
pub fn only_looks(name: &str, arguments: &Value) -> bool {
    match name {
        code_actions::NAME => arguments.get("apply").is_none_or(Value::is_null),
        rename::NAME | edit_symbol::NAME => arguments.get("preview") == Some(&Value::Bool(true)),
        _ => false,
    }
}

/// Works out the change that a tool was asked for.
pub async fn propose(orchestrator: &Orchestrator, name: &str, arguments: Value) -> ProposeResponse {
    let proposed = match name {
        code_actions::NAME => with(arguments, |params| code_actions::propose(orchestrator, params)).await,
        edit_symbol::NAME => with(arguments, |params| edit_symbol::propose(orchestrator, params)).await,
        rename::NAME => with(arguments, |params| rename::propose(orchestrator, params)).await,
        _ => Err(ToolError::InvalidArguments(format!("there is no tool {name}"))),
    };
    proposed.unwrap_or_else(|error| ProposeResponse::Refused { reason: error.to_string() })
}

async fn with<P: DeserializeOwned, F: Future<Output = Result<ProposeResponse, ToolError>>>(
    arguments: Value,
    propose: impl FnOnce(P) -> F,
) -> Result<ProposeResponse, ToolError> {
    match serde_json::from_value(arguments) {
        Ok(params) => propose(params).await,
        Err(error) => Err(ToolError::InvalidArguments(format!("the arguments are wrong: {error}"))),
    }
}

#[cfg(test)]
mod tests;
