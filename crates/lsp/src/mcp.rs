//! Tools as an MCP server: the one that speaks MCP for a set of tools, in the language service and in the binary.

use std::sync::Arc;

use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

/// A set of tools that a server can offer.
pub trait Tools: Send + Sync + 'static {
    /// What the server calls itself, with its version.
    fn name(&self) -> (&'static str, &'static str);

    /// What a client is told about the tools together.
    fn instructions(&self) -> Option<&'static str>;

    /// Returns the tools that are there now.
    fn list(&self) -> impl Future<Output = Vec<&'static ToolSpec>> + Send;

    /// Calls a tool; nothing when there is none of that name.
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = Option<ToolAnswer>> + Send;
}

/// Speaks MCP for a set of tools. Cheap to clone.
pub struct ToolServer<T> {
    tools: Arc<T>,
}

impl<T> Clone for ToolServer<T> {
    fn clone(&self) -> Self {
        Self { tools: self.tools.clone() }
    }
}

impl<T: Tools> ToolServer<T> {
    /// Makes the server of these tools.
    pub fn new(tools: Arc<T>) -> Self {
        Self { tools }
    }

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
        ListToolsResult::with_all_items(self.tools.list().await.into_iter().map(tool).collect())
    }

    async fn call(&self, request: CallToolRequestParams) -> Result<CallToolResult, rmcp::ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
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

impl<T: Tools> ServerHandler for ToolServer<T> {
    fn get_info(&self) -> ServerConfig {
        let (name, version) = self.tools.name();
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, version));
        match self.tools.instructions() {
            Some(instructions) => info.with_instructions(instructions),
            None => info,
        }
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

fn tool(spec: &ToolSpec) -> Tool {
    let mut tool = Tool::new(spec.name, spec.description, spec.schema.clone())
        .with_annotations(ToolAnnotations::default().read_only(spec.read_only));
    tool.output_schema = spec.output_schema.clone().map(Arc::new);
    tool
}
