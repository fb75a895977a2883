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

    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        std::future::ready(tools::definitions()).boxed()
    }

    fn call<'a>(&'a self, name: &'a str, arguments: Value) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !tools::definitions().iter().any(|tool| tool.name == name) {
                return None;
            }
            Some(tools::call(&self.index, name, arguments).await)
        }
        .boxed()
    }
}
