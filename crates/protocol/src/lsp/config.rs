//! The user's `[lsp]` table. Only the user's own file can fill it, because it can name commands to run.

use std::collections::BTreeMap;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Severity;

/// The value of `lsp` in the config: `false` switches everything off, a table (or nothing) switches it on.
#[derive(Debug, Clone, PartialEq)]
pub enum LspSetting {
    /// `lsp = false`: no language service is started and no tool is offered.
    Disabled,
    /// A table, or nothing: what is not set has its default.
    Enabled(LspConfig),
}

impl LspSetting {
    /// Returns the table, unless the service is off.
    pub fn enabled(&self) -> Option<&LspConfig> {
        match self {
            Self::Disabled => None,
            Self::Enabled(config) => Some(config),
        }
    }
}

impl Default for LspSetting {
    fn default() -> Self {
        Self::Enabled(LspConfig::default())
    }
}

impl Serialize for LspSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Disabled => serializer.serialize_bool(false),
            Self::Enabled(config) => config.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for LspSetting {
    // By hand and not `untagged`: an unknown key must be named in the message, not become "no variant matched".
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FalseOrTable;

        impl<'de> Visitor<'de> for FalseOrTable {
            type Value = LspSetting;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`false` or a table of language service settings")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<LspSetting, E> {
                if value {
                    Err(E::invalid_value(de::Unexpected::Bool(true), &self))
                } else {
                    Ok(LspSetting::Disabled)
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LspSetting, A::Error> {
                LspConfig::deserialize(de::value::MapAccessDeserializer::new(map)).map(LspSetting::Enabled)
            }
        }

        deserializer.deserialize_any(FalseOrTable)
    }
}

impl schemars::JsonSchema for LspSetting {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LspSetting".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let table = generator.subschema_for::<LspConfig>();
        schemars::json_schema!({ "anyOf": [{ "const": false }, table] })
    }
}

/// How the language service behaves. Times are milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LspConfig {
    /// How long an edit waits for diagnostics.
    pub diagnostic_timeout: u64,
    /// How long it waits when the language server starts with this edit.
    pub first_touch_timeout: u64,
    /// More are counted and not listed.
    pub max_diagnostics_per_file: usize,
    /// How many other files a write reports.
    pub max_project_diagnostics_files: usize,
    /// Exactly these severities are reported; the default is errors alone.
    pub include_severities: Vec<Severity>,
    /// Whether agents get the navigation tools.
    pub navigation_tools: bool,
    /// A server that nobody asked for this long is stopped; it starts again with the next touch. 0 keeps it.
    pub idle_timeout: u64,
    /// All servers of the user together, in MiB; beyond it the least recently used is stopped. 0 is no limit; the default
    /// is a quarter of the machine's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_budget: Option<u64>,
    /// Adds the line `N of these are new` after an edit, which costs one more check before it.
    pub mark_new: bool,
    /// By server id, on top of what is built in.
    pub servers: BTreeMap<String, ServerSettings>,
}

impl Default for LspConfig {
    fn default() -> Self {
        Self {
            diagnostic_timeout: 3_000,
            first_touch_timeout: 10_000,
            max_diagnostics_per_file: 20,
            max_project_diagnostics_files: 5,
            include_severities: vec![Severity::Error],
            navigation_tools: true,
            idle_timeout: 30 * 60 * 1_000,
            memory_budget: None,
            mark_new: false,
            servers: BTreeMap::new(),
        }
    }
}

/// One language server: a built-in id with what differs, or a server of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerSettings {
    /// False switches this server off and leaves the others alone.
    pub enabled: bool,
    /// The program; a server that is not built in needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Instead of the built-in arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// File name endings with their dot, e.g. `[".foo"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    /// Added to the server's environment.
    pub env: BTreeMap<String, String>,
    /// Sent as it is with `initialize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization_options: Option<serde_json::Value>,
    /// What the server gets when it asks for `workspace/configuration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Value>,
    /// Files that mark a project's root; the nearest one above a file wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_markers: Option<Vec<String>>,
    /// The language id sent with a file; the default is the extension without its dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_id: Option<String>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            command: None,
            args: None,
            extensions: None,
            env: BTreeMap::new(),
            initialization_options: None,
            settings: None,
            root_markers: None,
            language_id: None,
        }
    }
}
