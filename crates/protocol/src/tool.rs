//! A tool as every client sees it, whichever room it lives in: what is told of it, and what it says.

use serde_json::{Map, Value};

/// What a client is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What a client calls it by.
    pub name: &'static str,
    /// What it is for, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// The JSON schema of its structured answer, where a tool has one.
    pub output_schema: Option<Map<String, Value>>,
    /// It changes nothing.
    pub read_only: bool,
}

impl ToolSpec {
    /// A tool that only reads.
    pub fn reading(name: &'static str, description: &'static str, schema: Map<String, Value>) -> Self {
        Self { name, description, schema, output_schema: None, read_only: true }
    }

    /// A tool that changes something.
    pub fn changing(name: &'static str, description: &'static str, schema: Map<String, Value>) -> Self {
        Self { read_only: false, ..Self::reading(name, description, schema) }
    }

    /// The same tool, whose answer is data too.
    pub fn answering(self, schema: Map<String, Value>) -> Self {
        Self { output_schema: Some(schema), ..self }
    }
}

/// What a tool says. "Nothing found" is an answer like any other: only a call that could not be answered is an error, so
/// that no client retries what retrying cannot change.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// What the model reads.
    pub text: String,
    /// The same as data, where a tool has it.
    pub structured: Option<Value>,
    /// The call could not be answered.
    pub is_error: bool,
}

impl ToolAnswer {
    /// Returns an answer of text alone.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: false }
    }

    /// Returns an answer that says why the call could not be answered.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::ok(text) }
    }
}
