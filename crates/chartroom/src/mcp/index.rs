//! The code index's tools.

use chartroom_index::{IndexService, tools};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct IndexTools {
    index: IndexService,
}

impl IndexTools {
    pub(super) fn new(index: IndexService) -> Self {
        Self { index }
    }
}

impl ToolGroup for IndexTools {
    fn group(&self) -> Group {
        Group::Index
    }

    fn tools(&self) -> BoxFuture<'_, Vec<ToolSpec>> {
        let object = |schema: Value| match schema {
            Value::Object(object) => Some(object),
            _ => None,
        };
        let tools = tools::definitions().into_iter().map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            schema: object(tool.input_schema).unwrap_or_default(),
            output_schema: object(tool.output_schema),
            read_only: tool.read_only,
        });
        std::future::ready(tools.collect()).boxed()
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Value) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !tools::definitions().iter().any(|tool| tool.name == name) {
                return None;
            }
            let answer = tools::call(&self.index, name, arguments).await;
            // A non-ok envelope is an answer; only a call that makes no sense is an error.
            Some(ToolAnswer { text: answer.text, structured: answer.structured, is_error: answer.is_error })
        }
        .boxed()
    }
}
