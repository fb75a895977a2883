//! The tools as a client sees them: names in their fixed order, schemas, and one function that calls any of them.

use chartroom_protocol::index::{
    CallGraphParams, CallGraphResponse, FileOutlineParams, FileOutlineResponse, IndexStatus,
    ListCodebasesParams, ListCodebasesResponse, ManageIndexParams, ManageIndexResponse, ReadFileParams,
    ReadFileResponse, ReadMode, SearchCodebaseParams, SearchCodebaseResponse, input_schema, json_schema,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ToolError, list_codebases};
use crate::service::IndexService;

/// One tool for `tools/list`.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// What it is for, for a model.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured answer.
    pub output_schema: Value,
    /// Whether it changes nothing.
    pub read_only: bool,
}

/// What a tool answers. A non-ok envelope is an answer like any other: only a call that could not be answered at all
/// is an error, so that no client retries what retrying cannot change.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The text.
    pub text: String,
    /// The envelope.
    pub structured: Option<Value>,
    /// The call itself was wrong.
    pub is_error: bool,
    /// Whether the envelope says ok.
    pub ok: bool,
}

/// The six tools, in their order.
pub fn definitions() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition {
            name: "manage_index",
            description: "Create, rebuild, sync, inspect, repair or clear the index of a folder. create and reindex run in the background; ask status for progress.",
            input_schema: input_schema::<ManageIndexParams>(),
            output_schema: json_schema::<ManageIndexResponse>(),
            read_only: false,
        },
        ToolDefinition {
            name: "search_codebase",
            description: "Search an indexed codebase by meaning or by identifier. Operators at the start of the query: lang: path: -path: must: exclude:. Then use file_outline, call_graph or read_file on what it finds.",
            input_schema: input_schema::<SearchCodebaseParams>(),
            output_schema: json_schema::<SearchCodebaseResponse>(),
            read_only: true,
        },
        ToolDefinition {
            name: "call_graph",
            description: "Who calls a symbol and whom it calls, from the symbolRef that search_codebase and file_outline give.",
            input_schema: input_schema::<CallGraphParams>(),
            output_schema: json_schema::<CallGraphResponse>(),
            read_only: true,
        },
        ToolDefinition {
            name: "file_outline",
            description: "The symbols of one indexed file with their lines, or one symbol exactly.",
            input_schema: input_schema::<FileOutlineParams>(),
            output_schema: json_schema::<FileOutlineResponse>(),
            read_only: true,
        },
        ToolDefinition {
            name: "read_file",
            description: "Lines of a file inside a tracked codebase: a range, its beginning, or a symbol (open_symbol); mode annotated adds the outline.",
            input_schema: input_schema::<ReadFileParams>(),
            output_schema: json_schema::<ReadFileResponse>(),
            read_only: true,
        },
        ToolDefinition {
            name: "list_codebases",
            description: "Every tracked codebase by its state.",
            input_schema: input_schema::<ListCodebasesParams>(),
            output_schema: json_schema::<ListCodebasesResponse>(),
            read_only: true,
        },
    ]
}

/// Calls a tool by its name.
pub async fn call(service: &IndexService, name: &str, arguments: Value) -> ToolAnswer {
    let called = match name {
        "manage_index" => match parse::<ManageIndexParams>(name, arguments) {
            Ok(params) => {
                let response = service.manage(params).await;
                envelope(&response, response.status)
            }
            Err(error) => Err(error),
        },
        "search_codebase" => match parse::<SearchCodebaseParams>(name, arguments) {
            Ok(params) => {
                service.search(params).await.and_then(|response| envelope(&response, response.status))
            }
            Err(error) => Err(error),
        },
        "call_graph" => match parse::<CallGraphParams>(name, arguments) {
            Ok(params) => {
                service.call_graph(params).await.and_then(|response| envelope(&response, response.status))
            }
            Err(error) => Err(error),
        },
        "file_outline" => match parse::<FileOutlineParams>(name, arguments) {
            Ok(params) => {
                service.outline(params).await.and_then(|response| envelope(&response, response.status))
            }
            Err(error) => Err(error),
        },
        "read_file" => match parse::<ReadFileParams>(name, arguments) {
            Ok(params) => service.read_file(params).await.and_then(read_answer),
            Err(error) => Err(error),
        },
        "list_codebases" => match parse::<ListCodebasesParams>(name, arguments) {
            Ok(ListCodebasesParams {}) => {
                let response = service.list().await;
                let text = list_codebases::render(&response);
                envelope(&response, IndexStatus::Ok).map(|answer| ToolAnswer { text, ..answer })
            }
            Err(error) => Err(error),
        },
        unknown => {
            let names: Vec<_> = definitions().iter().map(|tool| tool.name).collect();
            Err(ToolError(format!("Unknown tool: {unknown}. Supported tools: {}", names.join(", "))))
        }
    };
    called.unwrap_or_else(|error| ToolAnswer { text: error.0, structured: None, is_error: true, ok: false })
}

fn parse<T: DeserializeOwned>(name: &str, arguments: Value) -> Result<T, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments)
        .map_err(|error| ToolError(format!("Invalid arguments for {name}: {error}.")))
}

fn envelope(response: &impl Serialize, status: IndexStatus) -> Result<ToolAnswer, ToolError> {
    let broken = |error: serde_json::Error| ToolError(format!("The answer cannot be written: {error}."));
    let structured = serde_json::to_value(response).map_err(broken)?;
    let text = serde_json::to_string_pretty(&structured).map_err(broken)?;
    Ok(ToolAnswer { text, structured: Some(structured), is_error: false, ok: status == IndexStatus::Ok })
}

/// A plain read answers with the text itself.
fn read_answer(response: ReadFileResponse) -> Result<ToolAnswer, ToolError> {
    let answer = envelope(&response, response.status)?;
    match (response.mode, response.content) {
        (ReadMode::Plain, Some(content)) => Ok(ToolAnswer { text: content, ..answer }),
        (ReadMode::Plain | ReadMode::Annotated, _) => Ok(answer),
    }
}
