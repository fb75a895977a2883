//! The tools as an MCP server.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::{ToolSpec, Toolbox};

/// Speaks MCP for a toolbox.
#[derive(Clone)]
pub struct ToolServer {
    tools: Arc<Toolbox>,
}

impl ToolServer {
    pub fn new(tools: Arc<Toolbox>) -> Self {
        Self { tools }
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("chartroom", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Tools of the workspace: compiler diagnostics and navigation (lsp_*), edits that report the errors \
                 they bring (edit_file, write_file, apply_patch). Paths are absolute or relative to the workspace.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let tools = self.tools.tools().await.into_iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let arguments =
            request.arguments.map_or_else(|| Value::Object(serde_json::Map::new()), Value::Object);
        let Some(answer) = self.tools.call(&request.name, arguments).await else {
            let message = format!("there is no tool {}", request.name);
            return Err(rmcp::ErrorData::invalid_params(message, None));
        };
        let content = vec![ContentBlock::text(answer.text)];
        let mut result =
            if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = answer.structured;
        Ok(result.into())
    }
}

fn tool(spec: ToolSpec) -> Tool {
    let mut tool = Tool::new(spec.name, spec.description, spec.schema)
        .with_annotations(ToolAnnotations::default().read_only(spec.read_only));
    tool.output_schema = spec.output_schema.map(Arc::new);
    tool
}
