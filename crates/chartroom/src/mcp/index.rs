//! The code index's tools.

use chartroom_index::{IndexService, tools};
use chartroom_workspace::CanonicalRoot;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Consent, Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct IndexTools {
    root: CanonicalRoot,
    index: IndexService,
}

impl IndexTools {
    pub(super) fn new(root: CanonicalRoot, index: IndexService) -> Self {
        Self { root, index }
    }
}

/// Takes a relative path from the root: the index knows every codebase of the user's, and would take it from the folder
/// that this process happens to be in.
fn from_root(root: &CanonicalRoot, mut arguments: Value) -> Value {
    if let Some(Value::String(path)) = arguments.get_mut("path")
        && !path.trim().is_empty()
        && let Some(absolute) = root.as_path().join(&*path).to_str()
    {
        *path = absolute.to_owned();
    }
    arguments
}

impl ToolGroup for IndexTools {
    fn group(&self) -> Group {
        Group::Index
    }

    fn tools(&self) -> BoxFuture<'_, &'static [ToolSpec]> {
        std::future::ready(tools::definitions()).boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        _consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !tools::definitions().iter().any(|tool| tool.name == name) {
                return None;
            }
            Some(tools::call(&self.index, name, from_root(&self.root, arguments)).await)
        }
        .boxed()
    }
}
