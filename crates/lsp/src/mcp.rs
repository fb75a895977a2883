//! Tools as an MCP server: the one that speaks MCP for a set of tools, in the language service and in the binary.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ElicitationAction, ElicitationSchema, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, ServerRequest, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A set of tools that a server can offer.
pub trait Tools: Send + Sync + 'static {
    /// What the server calls itself, with its version.
    fn name(&self) -> (&'static str, &'static str);

    /// What a client is told about the tools together.
    fn instructions(&self) -> Option<&'static str>;

    /// Returns the tools that are there now.
    fn list(&self) -> impl Future<Output = Vec<&'static ToolSpec>> + Send;

    /// Calls a tool; nothing when there is none of that name. `consent` is asked before it does what needs a person's.
    fn call(
        &self,
        name: &str,
        arguments: Value,
        consent: &dyn Consent,
    ) -> impl Future<Output = Option<ToolAnswer>> + Send;
}

/// Asks a person before something is done that a tool must not do on its own.
pub trait Consent: Send + Sync {
    /// Waits for their answer. What is no agreement comes with the reason, as the end of a sentence.
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// There is no person who could be asked.
#[derive(Debug, Clone, Copy)]
pub struct NobodyToAsk;

impl Consent for NobodyToAsk {
    fn ask<'a>(&'a self, _question: &'a str) -> BoxFuture<'a, Result<(), String>> {
        std::future::ready(Err("nobody can be asked from here".to_owned())).boxed()
    }
}

/// The person at an MCP client that can ask them (`elicitation`).
struct AtTheClient(Peer<RoleServer>);

impl Consent for AtTheClient {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Result<(), String>> {
        async move {
            if self.0.peer_info().is_none_or(|client| client.capabilities.elicitation.is_none()) {
                return Err("this client cannot ask them".to_owned());
            }
            match self.0.send_request(ServerRequest::ElicitRequest(elicitation(question))).await {
                Ok(ClientResult::ElicitResult(result)) if result.action == ElicitationAction::Accept => {
                    Ok(())
                }
                Ok(_) => Err("they did not agree".to_owned()),
                Err(error) => Err(format!("they could not be asked ({error})")),
            }
        }
        .boxed()
    }
}

/// Returns the method and the parameters with which a client is asked to ask its person.
pub fn asking(question: &str) -> Value {
    json!(elicitation(question))
}

fn elicitation(question: &str) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.to_owned(),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    })
}

/// Speaks MCP for a set of tools. Cheap to clone.
pub struct ToolServer<T> {
    tools: Arc<T>,
    /// The calls under way of a client without a connection, by their ids. Dropping the sender cancels one.
    calls: Arc<Mutex<BTreeMap<String, oneshot::Sender<()>>>>,
}

impl<T> Clone for ToolServer<T> {
    fn clone(&self) -> Self {
        Self { tools: self.tools.clone(), calls: self.calls.clone() }
    }
}

impl<T: Tools> ToolServer<T> {
    /// Makes the server of these tools.
    pub fn new(tools: Arc<T>) -> Self {
        Self { tools, calls: Arc::default() }
    }

    /// Answers one JSON-RPC message of a client that needs no connection; nothing for a notification. Any order of
    /// messages will do, and `initialize` may come again.
    pub async fn answer(&self, message: Value) -> Option<Value> {
        self.answer_asking(message, &NobodyToAsk).await
    }

    /// The same for a client that may have a person who can be asked.
    pub async fn answer_asking(&self, message: Value, consent: &dyn Consent) -> Option<Value> {
        let params = message.get("params").cloned().unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if method == "notifications/cancelled" {
            let call = params.get("requestId").map(Value::to_string).unwrap_or_default();
            drop(self.calls().remove(&call));
        }
        let id = message.get("id")?.clone();
        let result = match method {
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
                Ok(request) => self.call_as(&id, request, consent).await.map(|result| json!(result)),
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

    /// Calls a tool until its client has heard enough.
    async fn call_as(
        &self,
        id: &Value,
        request: CallToolRequestParams,
        consent: &dyn Consent,
    ) -> Result<CallToolResult, rmcp::ErrorData> {
        let (going_on, stopped) = oneshot::channel();
        self.calls().insert(id.to_string(), going_on);
        let result = tokio::select! {
            biased;
            _dropped = stopped => Err(cancelled()),
            result = self.call(request, consent) => result,
        };
        self.calls().remove(&id.to_string());
        result
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<()>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn list(&self) -> ListToolsResult {
        ListToolsResult::with_all_items(self.tools.list().await.into_iter().map(tool).collect())
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        consent: &dyn Consent,
    ) -> Result<CallToolResult, rmcp::ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let Some(answer) = self.tools.call(&request.name, arguments, consent).await else {
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
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let consent = AtTheClient(context.peer);
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(cancelled()),
            result = self.call(request, &consent) => Ok(result?.into()),
        }
    }
}

fn cancelled() -> rmcp::ErrorData {
    rmcp::ErrorData::internal_error("the call was cancelled", None)
}

fn tool(spec: &ToolSpec) -> Tool {
    let mut tool = Tool::new(spec.name, spec.description, spec.sent_schema())
        .with_annotations(ToolAnnotations::default().read_only(spec.read_only));
    tool.output_schema = spec.output_schema.clone().map(Arc::new);
    tool
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::sync::mpsc;

    use super::*;

    /// A tool that never answers, and says when it begins and when it is dropped.
    struct Endless(mpsc::UnboundedSender<&'static str>);

    struct OnDrop(mpsc::UnboundedSender<&'static str>);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.send("stopped").ok();
        }
    }

    impl Tools for Endless {
        fn name(&self) -> (&'static str, &'static str) {
            ("endless", "1")
        }

        fn instructions(&self) -> Option<&'static str> {
            None
        }

        async fn list(&self) -> Vec<&'static ToolSpec> {
            Vec::new()
        }

        async fn call(&self, _name: &str, _arguments: Value, _consent: &dyn Consent) -> Option<ToolAnswer> {
            let _guard = OnDrop(self.0.clone());
            self.0.send("begun").ok();
            std::future::pending().await
        }
    }

    fn call(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "x", "arguments": {} } })
    }

    fn cancel(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
    }

    /// What the tool tells next. The clock is paused: when everybody waits, the time is up.
    async fn next(heard: &mut mpsc::UnboundedReceiver<&'static str>) -> &'static str {
        let told = tokio::time::timeout(std::time::Duration::from_secs(60), heard.recv()).await;
        told.map_or("nothing: it goes on", |told| told.unwrap_or("nothing: it is gone"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_its_client_cancels_is_stopped() {
        let (told, mut heard) = mpsc::unbounded_channel();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let server = tokio::spawn(async move {
            let running = rmcp::serve_server(ToolServer::new(Arc::new(Endless(told))), (read, write)).await;
            drop(running.unwrap().waiting().await);
        });
        let (read, mut write) = tokio::io::split(ours);
        let mut lines = BufReader::new(read).lines();
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        for message in [hello, ready, call(2)] {
            write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        assert!(lines.next_line().await.unwrap().unwrap().contains("endless"));
        assert_eq!(next(&mut heard).await, "begun");
        write.write_all(format!("{}\n", cancel(2)).as_bytes()).await.unwrap();
        assert_eq!(next(&mut heard).await, "stopped");
        drop((write, lines));
        server.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_a_connection_is_cancelled_too_and_answered() {
        let (told, mut heard) = mpsc::unbounded_channel();
        let server = ToolServer::new(Arc::new(Endless(told)));
        let answer = tokio::spawn({
            let server = server.clone();
            async move { server.answer(call(7)).await }
        });
        assert_eq!(next(&mut heard).await, "begun");
        assert_eq!(server.answer(cancel(8)).await, None, "another call's");
        assert_eq!(server.answer(cancel(7)).await, None);
        assert_eq!(next(&mut heard).await, "stopped");
        assert_eq!(answer.await.unwrap().unwrap()["error"]["message"], "the call was cancelled");
        assert!(server.calls().is_empty());
    }
}
