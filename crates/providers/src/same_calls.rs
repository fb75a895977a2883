//! The narrowest "always": the same call again. Agents offer rules that let more through than was asked about, so this
//! one is remembered by us, by the call itself, for as long as the agent runs.

use std::collections::BTreeSet;

use chartroom_protocol::session::{Grant, GrantScope};
use serde_json::{Map, Value, json};

/// The id of the grant in a question.
pub(crate) const SAME_CALL: &str = "same";

/// What makes two calls the same to a person, with the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sameness {
    key: String,
    what: String,
    is_wider: bool,
}

impl Sameness {
    /// The same command, to the letter; `arguments` are all that change what it does.
    pub(crate) fn of_command(tool_name: &str, arguments: &Map<String, Value>) -> Self {
        Self::exact("exactly this command", tool_name, arguments)
    }

    /// The same tool with the same arguments.
    pub(crate) fn of_call(tool_name: &str, arguments: &Map<String, Value>) -> Self {
        Self::exact("exactly this call", tool_name, arguments)
    }

    /// Any change to the same files: a change is hardly ever made twice. `paths` are in order.
    pub(crate) fn of_changes(paths: &[&str]) -> Self {
        let what = match paths {
            [path] => format!("every change to `{path}`"),
            paths => format!("every change to `{}`", paths.join("`, `")),
        };
        Self { key: json!(["change", paths]).to_string(), what, is_wider: true }
    }

    fn exact(what: &str, tool_name: &str, arguments: &Map<String, Value>) -> Self {
        Self {
            key: json!(["call", tool_name, arguments]).to_string(),
            what: what.to_owned(),
            is_wider: false,
        }
    }

    pub(crate) fn grant(&self) -> Grant {
        Grant {
            grant_id: SAME_CALL.to_owned(),
            what: self.what.clone(),
            scope: GrantScope::Session,
            is_wider: self.is_wider,
        }
    }
}

/// The calls that need no second answer.
#[derive(Debug, Default)]
pub(crate) struct SameCalls(BTreeSet<String>);

impl SameCalls {
    pub(crate) fn allow(&mut self, sameness: &Sameness) {
        self.0.insert(sameness.key.clone());
    }

    pub(crate) fn allows(&self, sameness: &Sameness) -> bool {
        self.0.contains(&sameness.key)
    }
}
