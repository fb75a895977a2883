//! What agents can ask: navigation, diagnostics and a check, one file each.
//!
//! A tool answers text. "Nothing found" is an answer; wrong arguments and a server that is not available are errors
//! with the reason.

use std::sync::LazyLock;
use std::time::Duration;

use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::orchestrator::{Orchestrator, ToolError};

mod calls;
mod check;
mod diagnostics;
mod document_symbols;
mod find_references;
mod goto_definition;
mod hover;
pub(crate) mod places;
mod workspace_symbols;

/// Returns the tools, by name. Their schemas are made once.
pub fn all() -> &'static [ToolSpec] {
    static ALL: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
        vec![
            calls::spec(),
            check::spec(),
            diagnostics::spec(),
            document_symbols::spec(),
            find_references::spec(),
            goto_definition::spec(),
            hover::spec(),
            workspace_symbols::spec(),
        ]
    });
    &ALL
}

/// Calls a tool by name; nothing when there is no such tool.
pub async fn call(orchestrator: &Orchestrator, name: &str, arguments: Value) -> Option<ToolAnswer> {
    let answer = match name {
        calls::NAME => with(arguments, |params| calls::call(orchestrator, params)).await,
        check::NAME => with(arguments, |params| check::call(orchestrator, params)).await,
        diagnostics::NAME => with(arguments, |params| diagnostics::call(orchestrator, params)).await,
        document_symbols::NAME => {
            with(arguments, |params| document_symbols::call(orchestrator, params)).await
        }
        find_references::NAME => with(arguments, |params| find_references::call(orchestrator, params)).await,
        goto_definition::NAME => with(arguments, |params| goto_definition::call(orchestrator, params)).await,
        hover::NAME => with(arguments, |params| hover::call(orchestrator, params)).await,
        workspace_symbols::NAME => {
            with(arguments, |params| workspace_symbols::call(orchestrator, params)).await
        }
        _ => return None,
    };
    Some(answer.unwrap_or_else(|error| ToolAnswer::error(error.to_string())))
}

/// How long a call may take beyond a check's own deadlines.
pub(crate) fn extra_time(name: &str) -> Duration {
    if name == diagnostics::NAME { diagnostics::FOLDER_LIMIT } else { Duration::ZERO }
}

/// Reads the arguments and calls; what is wrong with them is said to the model, who can correct it.
async fn with<P: DeserializeOwned, F: Future<Output = Result<ToolAnswer, ToolError>>>(
    arguments: Value,
    call: impl FnOnce(P) -> F,
) -> Result<ToolAnswer, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    match serde_json::from_value(arguments) {
        Ok(params) => call(params).await,
        Err(error) => Err(ToolError::InvalidArguments(format!("the arguments are wrong: {error}"))),
    }
}

/// Returns the schema of a parameter type, without what only tools of ours would read.
pub(crate) fn schema<P: JsonSchema>() -> Map<String, Value> {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    match generator.root_schema_for::<P>().to_value() {
        Value::Object(mut schema) => {
            schema.remove("title");
            schema.remove("description");
            let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
            properties.into_iter().flatten().for_each(|(_, property)| shorten(property));
            schema
        }
        _ => Map::new(),
    }
}

/// Leaves out of a property what a model need not be told with every list of tools: that what is optional may be null too, and
/// how wide our numbers are. The arguments are read as before.
fn shorten(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    if property.get("default").is_some_and(|default| default.is_null() || *default == Value::Bool(false)) {
        property.remove("default");
    }
    if property.remove("format").is_some() {
        property.remove("minimum");
    }
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".to_owned(), kind);
        }
    }
}

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileParams {
    /// Path of the file, absolute or relative to the workspace root.
    file_path: String,
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    // REQ-NAV-010
    #[test]
    fn the_tools_with_their_arguments() {
        let text: Vec<String> = all()
            .iter()
            .map(|tool| {
                let required = tool.schema.get("required").cloned().unwrap_or_default();
                let properties = tool.schema.get("properties").and_then(Value::as_object);
                let names: Vec<_> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                format!("{} [{}] required {required}", tool.name, names.join(" "))
            })
            .collect();
        expect![[r#"
            lsp_calls [filePath line character symbol direction] required ["filePath","direction"]
            lsp_check [filePath] required ["filePath"]
            lsp_diagnostics [path] required null
            lsp_document_symbols [filePath] required ["filePath"]
            lsp_find_references [filePath line character symbol] required ["filePath"]
            lsp_goto_definition [filePath line character symbol of] required ["filePath"]
            lsp_hover [filePath line character symbol] required ["filePath"]
            lsp_workspace_symbols [query] required ["query"]"#]]
        .assert_eq(&text.join("\n"));
    }

    #[test]
    fn what_every_list_of_tools_carries_says_nothing_of_nulls_and_widths() {
        for tool in all().iter().chain(crate::proposals::all()) {
            let schema = Value::Object(tool.schema.clone()).to_string();
            for word in ["null", "uint32", "minimum", "\"default\":false"] {
                assert!(!schema.contains(word), "{}: {schema}", tool.name);
            }
        }
    }

    // BR-30, REQ-CFG-080
    #[test]
    fn no_tool_can_name_a_command_or_its_environment() {
        for tool in all().iter().chain(crate::proposals::all()) {
            let schema = Value::Object(tool.schema.clone()).to_string();
            for word in ["command", "\"env\"", "\"args\"", "program", "server"] {
                assert!(!schema.contains(word), "{}: {schema}", tool.name);
            }
            assert_eq!(tool.schema["additionalProperties"], Value::Bool(false), "{}", tool.name);
        }
    }

    // REQ-EXCL-010, REQ-EXCL-020, REQ-EXCL-030, BR-77, BR-78
    #[test]
    fn nothing_completes_or_formats_and_nothing_that_is_only_asked_fixes() {
        for tool in all().iter().chain(crate::proposals::all()) {
            for word in ["complet", "format"] {
                assert!(!tool.name.contains(word), "{}", tool.name);
            }
        }
        for tool in all() {
            assert!(tool.read_only, "{}", tool.name);
        }
        for tool in crate::proposals::all() {
            assert!(!tool.read_only, "{}", tool.name);
        }
    }
}
