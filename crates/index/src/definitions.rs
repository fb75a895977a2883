//! The tools as a client sees them: names in their fixed order, schemas, and one function that calls any of them.

use std::sync::LazyLock;

use chartroom_protocol::index::{
    CallGraphParams, Detail, FileOutlineParams, IndexStatus, ListCodebasesParams, ManageIndexParams,
    ReadFileParams, ReadFileResponse, ReadMode, SearchCodebaseParams, input_schema,
};
use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::brief;
use crate::service::IndexService;
use crate::tools::{ToolError, list_codebases};

/// The six tools, in their order. Their schemas are made once.
pub fn definitions() -> &'static [ToolSpec] {
    static DEFINITIONS: LazyLock<Vec<ToolSpec>> = LazyLock::new(specs);
    &DEFINITIONS
}

fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec::changing(
            "manage_index",
            "Create, rebuild, sync, inspect, repair or clear the index of a folder. create and reindex run in the background; ask status for progress.",
            input_schema::<ManageIndexParams>(),
        ),
        ToolSpec::reading(
            "search_codebase",
            "Search an indexed codebase by words, by identifier or with the text of an issue. A budget gives one bundle of code. Then use file_outline, call_graph or read_file on what it finds.",
            input_schema::<SearchCodebaseParams>(),
        ),
        ToolSpec::reading(
            "call_graph",
            "Who calls a symbol and whom it calls, by its id or by its name in a file (symbolRef).",
            input_schema::<CallGraphParams>(),
        ),
        ToolSpec::reading(
            "file_outline",
            "The symbols of one indexed file with their lines, or one symbol exactly.",
            input_schema::<FileOutlineParams>(),
        ),
        ToolSpec::reading(
            "read_file",
            "Lines of a file inside a tracked codebase: a range, its beginning, or a symbol (open_symbol); mode annotated adds the outline.",
            input_schema::<ReadFileParams>(),
        ),
        ToolSpec::reading(
            "list_codebases",
            "Every tracked codebase by its state.",
            input_schema::<ListCodebasesParams>(),
        ),
    ]
}

/// Calls a tool by its name.
pub async fn call(service: &IndexService, name: &str, arguments: Value) -> ToolAnswer {
    let called = match name {
        "manage_index" => match parse::<ManageIndexParams>(name, arguments) {
            Ok(params) => {
                let response = service.manage(params).await;
                envelope(&response)
            }
            Err(error) => Err(error),
        },
        "search_codebase" => match parse::<SearchCodebaseParams>(name, arguments) {
            Ok(params) => {
                let detail = params.detail;
                let found = service.search(params).await;
                found.and_then(|response| answer(&response, response.status, detail, brief::search))
            }
            Err(error) => Err(error),
        },
        "call_graph" => match parse::<CallGraphParams>(name, arguments) {
            Ok(params) => {
                let detail = params.detail;
                let found = service.call_graph(params).await;
                found.and_then(|response| answer(&response, response.status, detail, brief::calls))
            }
            Err(error) => Err(error),
        },
        "file_outline" => match parse::<FileOutlineParams>(name, arguments) {
            Ok(params) => {
                let detail = params.detail;
                let found = service.outline(params).await;
                found.and_then(|response| answer(&response, response.status, detail, brief::outline))
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
                envelope(&response).map(|answer| ToolAnswer { text, ..answer })
            }
            Err(error) => Err(error),
        },
        unknown => {
            let names: Vec<_> = definitions().iter().map(|tool| tool.name).collect();
            Err(ToolError(format!("Unknown tool: {unknown}. Supported tools: {}", names.join(", "))))
        }
    };
    called.unwrap_or_else(|error| ToolAnswer::error(error.0))
}

fn parse<T: DeserializeOwned>(name: &str, arguments: Value) -> Result<T, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments)
        .map_err(|error| ToolError(format!("Invalid arguments for {name}: {error}.")))
}

/// A good answer is short text, with every field beside it when that was asked for. Any other is its envelope: what to do
/// next stands in its hints.
fn answer<T: Serialize>(
    response: &T,
    status: IndexStatus,
    detail: Detail,
    text: fn(&T) -> String,
) -> Result<ToolAnswer, ToolError> {
    match (status, detail) {
        (IndexStatus::Ok, Detail::Brief) => Ok(ToolAnswer::ok(text(response))),
        (IndexStatus::Ok, Detail::Full) => Ok(ToolAnswer { text: text(response), ..envelope(response)? }),
        _ => envelope(response),
    }
}

fn envelope(response: &impl Serialize) -> Result<ToolAnswer, ToolError> {
    let broken = |error: serde_json::Error| ToolError(format!("The answer cannot be written: {error}."));
    let structured = serde_json::to_value(response).map_err(broken)?;
    let text = serde_json::to_string_pretty(&structured).map_err(broken)?;
    Ok(ToolAnswer { structured: Some(structured), ..ToolAnswer::ok(text) })
}

/// A plain read answers with the text itself and nothing beside it.
fn read_answer(response: ReadFileResponse) -> Result<ToolAnswer, ToolError> {
    match (response.mode, &response.content) {
        (ReadMode::Plain, Some(content)) => Ok(ToolAnswer::ok(content.clone())),
        (ReadMode::Plain | ReadMode::Annotated, _) => envelope(&response),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::definitions;

    #[test]
    fn no_tool_can_name_an_address_a_key_or_a_command() {
        for tool in definitions() {
            let schema = Value::Object(tool.schema.clone());
            let properties = schema["properties"].as_object().into_iter().flatten();
            for (name, _) in properties {
                for word in
                    ["url", "address", "host", "endpoint", "key", "token", "command", "env", "program"]
                {
                    assert!(!name.to_lowercase().contains(word), "{}: {name}", tool.name);
                }
            }
        }
    }
}
