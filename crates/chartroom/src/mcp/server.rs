//! The tools as an MCP server.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

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

impl ToolServer {
    /// Answers one JSON-RPC message of a client that needs no connection; nothing for a notification. Any order of
    /// messages will do, and `initialize` may come again.
    pub async fn answer(&self, message: Value) -> Option<Value> {
        let id = message.get("id")?.clone();
        let params = message.get("params").cloned().unwrap_or_default();
        let result = match message.get("method").and_then(Value::as_str).unwrap_or_default() {
            "initialize" => {
                let asked = params.get("protocolVersion").cloned();
                let version = asked.and_then(|asked| serde_json::from_value(asked).ok());
                let mut info = self.get_info();
                info.protocol_version = version.unwrap_or(info.protocol_version);
                Ok(json!(info))
            }
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!(self.list().await)),
            "tools/call" => match serde_json::from_value(params) {
                Ok(request) => self.call(request).await.map(|result| json!(result)),
                Err(error) => Err(rmcp::ErrorData::invalid_params(error.to_string(), None)),
            },
            method => {
                let message = format!("there is no method {method}");
                Err(rmcp::ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
            }
        };
        Some(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        })
    }

    async fn list(&self) -> ListToolsResult {
        ListToolsResult::with_all_items(self.tools.tools().await.into_iter().map(tool).collect())
    }

    async fn call(&self, request: CallToolRequestParams) -> Result<CallToolResult, rmcp::ErrorData> {
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
        Ok(result)
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("chartroom", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Tools of the workspace: compiler diagnostics and navigation (lsp_*), code search by meaning and by words \
                 with outline and call graph (search_codebase, file_outline, call_graph), and, where they are listed, \
                 edits that report the errors they bring (edit_file, write_file, apply_patch). Paths are absolute or \
                 relative to the workspace.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(self.list().await)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        Ok(self.call(request).await?.into())
    }
}

fn tool(spec: ToolSpec) -> Tool {
    let mut tool = Tool::new(spec.name, spec.description, spec.schema)
        .with_annotations(ToolAnnotations::default().read_only(spec.read_only));
    tool.output_schema = spec.output_schema.map(Arc::new);
    tool
}
