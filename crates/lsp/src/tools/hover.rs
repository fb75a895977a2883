//! `lsp_hover`: the type and the documentation of something.

use serde_json::Value;

use super::places::{PlaceParams, ask_at};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Orchestrator, ToolError};

pub(super) const NAME: &str = "lsp_hover";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Show the type and documentation of the symbol at a place.",
        schema::<PlaceParams>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: PlaceParams) -> Result<ToolAnswer, ToolError> {
    let asked = ask_at(orchestrator, &params, "hover", Question::Hover, None).await?;
    let text = asked.answer.get("contents").map(contents).unwrap_or_default();
    let text = text.trim();
    Ok(ToolAnswer::ok(if text.is_empty() { "No hover information available" } else { text }))
}

/// Reads the four shapes that a hover has had over the years.
fn contents(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(contents).collect::<Vec<_>>().join("\n\n"),
        Value::Object(part) => {
            let text = part.get("value").and_then(Value::as_str).unwrap_or_default();
            match part.get("language").and_then(Value::as_str) {
                Some(language) => format!("```{language}\n{text}\n```"),
                None => text.to_owned(),
            }
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_of_a_hover_is_read() {
        assert_eq!(contents(&json!("a")), "a");
        assert_eq!(contents(&json!({ "kind": "markdown", "value": "b" })), "b");
        assert_eq!(contents(&json!([{ "language": "ts", "value": "c" }, "d"])), "```ts\nc\n```\n\nd");
        assert_eq!(contents(&json!(null)), "");
    }
}
