//! The tools as an MCP server.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use crate::orchestrator::Orchestrator;
use crate::tools;

/// The MCP server of the service's second channel.
pub struct ToolServer {
    orchestrator: Arc<Orchestrator>,
}

impl ToolServer {
    pub fn new(orchestrator: Arc<Orchestrator>) -> Self {
        Self { orchestrator }
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("lsp-navigation", "0.1.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let tools = tools::all().into_iter().map(|tool| {
            Tool::new(tool.name, tool.description, tool.schema)
                .with_annotations(ToolAnnotations::default().read_only(true))
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        match tools::call(&self.orchestrator, &request.name, arguments).await {
            None => {
                let message = format!("there is no tool {}", request.name);
                Err(rmcp::ErrorData::invalid_params(message, None))
            }
            Some(answer) => {
                let content = vec![ContentBlock::text(answer.text)];
                let result = if answer.is_error {
                    CallToolResult::error(content)
                } else {
                    CallToolResult::success(content)
                };
                Ok(result.into())
            }
        }
    }
}
