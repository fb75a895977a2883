//! Models, modes and commands as an ACP agent offers them.

use chartroom_protocol::session::{NamedOption, SessionOptions};
use serde_json::Value;

use crate::json::{list, optional_text, text};

/// What can be chosen in one session, gathered from its start and its updates.
#[derive(Debug, Clone, Default)]
pub(super) struct Offered {
    pub(super) options: SessionOptions,
    /// The config option that chooses the model, where the agent has one.
    pub(super) model_config: Option<String>,
}

impl Offered {
    /// Takes the answer of `session/new` or `session/load`, or an update that changes it.
    pub(super) fn take(&mut self, value: &Value) {
        if value.pointer("/modes/availableModes").is_some() {
            self.options.modes = named(list(value, "/modes/availableModes"), "/id");
        }
        for pointer in ["/modes/currentModeId", "/currentModeId"] {
            if let Some(mode) = optional_text(value, pointer) {
                self.options.mode = Some(mode.to_owned());
            }
        }
        if value.pointer("/models/availableModels").is_some() {
            self.options.models = named(list(value, "/models/availableModels"), "/modelId");
            self.options.model = optional_text(value, "/models/currentModelId").map(str::to_owned);
        }
        for option in list(value, "/configOptions") {
            self.config_option(option);
        }
        if value.get("availableCommands").is_some() {
            self.options.commands = named(list(value, "/availableCommands"), "/name");
        }
    }

    fn config_option(&mut self, option: &Value) {
        let current = optional_text(option, "/currentValue").map(str::to_owned);
        match text(option, "/category") {
            "model" => {
                self.model_config = optional_text(option, "/id").map(str::to_owned);
                self.options.models = named(list(option, "/options"), "/value");
                self.options.model = current;
            }
            "mode" => {
                self.options.modes = named(list(option, "/options"), "/value");
                self.options.mode = current;
            }
            _ => {}
        }
    }
}

fn named(values: &[Value], id: &str) -> Vec<NamedOption> {
    values
        .iter()
        .filter_map(|value| {
            let id = optional_text(value, id)?;
            Some(NamedOption {
                id: id.to_owned(),
                name: optional_text(value, "/name").unwrap_or(id).to_owned(),
                description: text(value, "/description").to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn config_options_give_models_and_modes_and_updates_change_them() {
        let mut offered = Offered::default();
        offered.take(&json!({"modes": {"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Default"}]},
            "configOptions": [{"id": "model", "category": "model", "currentValue": "gpt-5.4",
                "options": [{"value": "gpt-5.5", "name": "GPT-5.5"}, {"value": "gpt-5.4", "name": "gpt-5.4"}]}]}));
        assert_eq!(offered.options.model.as_deref(), Some("gpt-5.4"));
        assert_eq!(offered.options.models.len(), 2);
        assert_eq!(offered.options.mode.as_deref(), Some("auto"));
        offered.take(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "read-only"}));
        offered.take(&json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "review", "description": "r"}]}));
        assert_eq!(offered.options.mode.as_deref(), Some("read-only"));
        assert_eq!(offered.options.commands[0].id, "review");
        assert_eq!(offered.model_config.as_deref(), Some("model"));
    }
}
