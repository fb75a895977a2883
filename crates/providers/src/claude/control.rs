//! The control protocol: what we write to Claude's stdin, and what its questions mean.

pub mod context;
mod grants;
mod permission;
mod placed;

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::session::{NamedOption, SendParams, SessionOptions};
use serde_json::{Value, json};

use crate::agent_tools::AgentTools;
use crate::json::{list, optional_text, text};

pub(super) use permission::Granted;
pub use permission::Permission;
pub(super) use placed::place;

/// The id under which the CLI calls us back after a tool.
const AFTER_TOOL: &str = "after-tool";

/// Writes a person's message. Its uuid is the turn's id: the CLI tells by it which message it begins with, and
/// keeps it in the session file.
pub fn user_line(turn_id: &TurnId, params: &SendParams) -> Value {
    let images = params.images.iter().map(|image| {
        json!({"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}})
    });
    let content: Vec<Value> = images.chain([json!({"type": "text", "text": params.message})]).collect();
    json!({"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null,
        "session_id": "", "uuid": turn_id})
}

/// Writes a request of ours.
pub fn request(request_id: &str, request: &Value) -> Value {
    json!({"type": "control_request", "request_id": request_id, "request": request})
}

/// Answers a request of theirs.
pub fn success(request_id: &str, response: &Value) -> Value {
    let response = json!({"subtype": "success", "request_id": request_id, "response": response});
    json!({"type": "control_response", "response": response})
}

/// Refuses a request of theirs.
pub fn failure(request_id: &str, error: &str) -> Value {
    let response = json!({"subtype": "error", "request_id": request_id, "error": error});
    json!({"type": "control_response", "response": response})
}

/// The first request: makes the process warm, and names our MCP servers and hooks.
pub fn initialize(agent_tools: Option<&dyn AgentTools>) -> Value {
    let Some(agent_tools) = agent_tools else { return json!({"subtype": "initialize"}) };
    json!({
        "subtype": "initialize",
        "sdkMcpServers": agent_tools.mcp_servers(),
        "hooks": {"PostToolUse": [{"matcher": agent_tools.after_tools(), "hookCallbackIds": [AFTER_TOOL]}]},
    })
}

/// Returns the `--mcp-config` that belongs to [`initialize`], if there is a server to name.
pub fn mcp_config(agent_tools: &dyn AgentTools) -> Option<String> {
    let servers: serde_json::Map<String, Value> = agent_tools
        .mcp_servers()
        .into_iter()
        .map(|name| (name.clone(), json!({"type": "sdk", "name": name})))
        .collect();
    (!servers.is_empty()).then(|| json!({"mcpServers": servers}).to_string())
}

/// Answers a hook: the text that the model reads after the tool's result.
pub fn after_tool(context: Option<String>) -> Value {
    match context {
        Some(context) => {
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": context}})
        }
        None => json!({}),
    }
}

/// What can be chosen, from the answer to `initialize`.
pub fn options(initialized: &Value) -> SessionOptions {
    let models = list(initialized, "/models")
        .iter()
        .filter_map(|model| named(model, "/value", "/displayName"))
        .collect();
    let commands = list(initialized, "/commands")
        .iter()
        .filter_map(|command| named(command, "/name", "/name"))
        .collect();
    SessionOptions { models, modes: modes(), commands, model: None, mode: None }
}

fn named(value: &Value, id: &str, name: &str) -> Option<NamedOption> {
    let id = optional_text(value, id)?;
    Some(NamedOption {
        id: id.to_owned(),
        name: optional_text(value, name).unwrap_or(id).to_owned(),
        description: text(value, "/description").to_owned(),
    })
}

/// The permission modes that work in every process; skipping all permissions must be asked for at its start.
fn modes() -> Vec<NamedOption> {
    [
        ("default", "Ask", "Asks before it changes a file or runs a command"),
        ("acceptEdits", "Accept edits", "Changes files of the project without asking"),
        ("plan", "Plan", "Reads and plans, changes nothing"),
    ]
    .map(|(id, name, description)| NamedOption {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
    })
    .into()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use chartroom_protocol::session::ImageData;

    use super::*;
    use crate::agent_tools::ToolUse;

    struct Charts;

    #[async_trait]
    impl AgentTools for Charts {
        fn mcp_servers(&self) -> Vec<String> {
            vec!["charts".to_owned()]
        }

        async fn mcp_message(&self, _server: &str, _message: Value) -> Option<Value> {
            None
        }

        async fn after_tool(&self, _use_of_tool: ToolUse) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_message_carries_its_turn_and_its_images() {
        let image = ImageData { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let params = SendParams { message: "what is this?".to_owned(), images: vec![image] };
        assert_eq!(
            user_line(&TurnId::from("t1"), &params),
            json!({"type": "user", "parent_tool_use_id": null, "session_id": "", "uuid": "t1",
            "message": {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "text", "text": "what is this?"},
            ]}}),
        );
    }

    #[test]
    fn agent_tools_are_named_at_initialize_and_on_the_command_line() {
        assert_eq!(initialize(None), json!({"subtype": "initialize"}));
        assert_eq!(
            initialize(Some(&Charts)),
            json!({"subtype": "initialize", "sdkMcpServers": ["charts"], "hooks": {"PostToolUse": [
                {"matcher": "Write|Edit|MultiEdit|NotebookEdit", "hookCallbackIds": ["after-tool"]}]}}),
        );
        assert_eq!(
            mcp_config(&Charts).as_deref(),
            Some(r#"{"mcpServers":{"charts":{"type":"sdk","name":"charts"}}}"#),
        );
    }

    #[test]
    fn what_can_be_chosen_comes_from_initialize() {
        let options = options(&json!({
            "models": [{"value": "default", "displayName": "Default", "description": "d"}, {"odd": 1}],
            "commands": [{"name": "review", "description": "looks"}],
        }));
        assert_eq!(options.models.len(), 1);
        assert_eq!(options.models[0].name, "Default");
        assert_eq!(options.commands[0].id, "review");
        assert_eq!(
            options.modes.iter().map(|mode| mode.id.as_str()).collect::<Vec<_>>(),
            ["default", "acceptEdits", "plan"]
        );
    }
}
