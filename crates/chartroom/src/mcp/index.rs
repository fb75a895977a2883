//! The code index's tools.

use std::path::Path;

use chartroom_index::{IndexService, definitions, tools};
use chartroom_workspace::CanonicalRoot;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Consent, Group, ToolAnswer, ToolGroup, ToolSpec};

pub(super) struct IndexTools {
    root: CanonicalRoot,
    index: IndexService,
    /// Whether the user's other codebases are named.
    names_others: bool,
}

impl IndexTools {
    pub(super) fn new(root: CanonicalRoot, index: IndexService) -> Self {
        Self { root, index, names_others: true }
    }

    /// For an agent whose tools run without a question: where the user's other projects lie is not its business.
    pub(super) fn of_session(root: CanonicalRoot, index: IndexService) -> Self {
        Self { root, index, names_others: false }
    }

    /// Lists the codebases that have something to do with the root, and how many more there are.
    async fn list_own(&self) -> ToolAnswer {
        let mut response = self.index.list().await;
        let root = self.root.as_path();
        response.codebases.retain(|codebase| {
            let path = Path::new(&codebase.path);
            path.starts_with(root) || root.starts_with(path)
        });
        let n_others = response.total - response.codebases.len() as u64;
        response.total = response.codebases.len() as u64;
        if n_others > 0 {
            response.notices.push(format!("{n_others} more are tracked outside of this project"));
        }
        let structured = serde_json::to_value(&response).ok();
        ToolAnswer { structured, ..ToolAnswer::ok(tools::render_list(&response)) }
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
        std::future::ready(definitions::definitions()).boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
        _consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Option<ToolAnswer>> {
        async move {
            if !definitions::definitions().iter().any(|tool| tool.name == name) {
                return None;
            }
            if name == "list_codebases" && !self.names_others {
                return Some(self.list_own().await);
            }
            Some(definitions::call(&self.index, name, from_root(&self.root, arguments)).await)
        }
        .boxed()
    }
}
