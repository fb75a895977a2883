//! What a command on one workspace sets up and takes down: config, data folder, runtime, language service.

use std::path::Path;

use chartroom_index::IndexService;

use super::{block_on, settings};
use crate::app::index;
use crate::app::language::Workspace;
use crate::config::{Config, Overrides};
use crate::data::DataFolder;
use crate::exit::Failure;
use crate::mcp::{Group, Toolbox};

/// A workspace with the user's config; its language service starts with the first question.
pub(super) struct Opened {
    pub(super) workspace: Workspace,
    config: Config,
    data: DataFolder,
}

impl Opened {
    /// Puts the tools together that are served; `only` names the groups, none means all.
    pub(super) fn served_tools(&self, only: &[Group]) -> Toolbox {
        Toolbox::open(&self.workspace, self.index(true), only)
    }

    /// Puts the tools together for one call of one of them.
    pub(super) fn tools_once(&self) -> Toolbox {
        Toolbox::open(&self.workspace, self.index(false), &[])
    }

    fn index(&self, long_running: bool) -> Option<IndexService> {
        index::for_tools(&self.config, &self.data, &self.workspace.gate, long_running)
    }
}

/// Does something in a workspace (the current folder unless `root` names another), then leaves its language service.
pub(super) fn within<T>(
    root: Option<&Path>,
    work: impl AsyncFnOnce(&Opened) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    block_on(async move {
        let workspace = Workspace::open(root.unwrap_or(Path::new(".")), &config, &data)?;
        let opened = Opened { workspace, config, data };
        let result = work(&opened).await;
        opened.workspace.lsp.shutdown().await;
        result
    })
}
