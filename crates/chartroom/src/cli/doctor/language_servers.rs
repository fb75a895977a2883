//! The language servers for what is in the current folder.

use chartroom_lsp::launch::Launch as _;
use chartroom_lsp::registry::{Registry, Server, When};
use chartroom_protocol::lsp::{LspConfig, ServerState};
use chartroom_workspace::CanonicalRoot;

use super::{Check, State};
use crate::app::language;
use crate::config::Config;
use crate::data::DataFolder;

pub(super) fn checks(
    lsp: &LspConfig,
    config: &Config,
    data: &DataFolder,
    root: &CanonicalRoot,
) -> Vec<Check> {
    let registry = Registry::new(lsp);
    let servers = language::servers_of(&registry, root);
    // A trust store that cannot be opened has a line of its own.
    let Ok(launcher) = language::launcher(data.path(), root, config) else { return Vec::new() };
    servers
        .into_values()
        .filter_map(|server| match launcher.find(server, root.as_path()) {
            Ok(found) => Some(check(server, State::Ok, found.program.display().to_string(), None)),
            // A second choice that is not there is no finding.
            Err(_) if server.when != When::Always => None,
            Err(absent) => {
                let mend = absent.hint.unwrap_or_else(|| server.install.clone());
                let state = match absent.status {
                    ServerState::Untrusted => State::Untrusted,
                    _ => State::Missing,
                };
                Some(check(server, state, absent.reason, Some(mend)))
            }
        })
        .collect()
}

fn check(server: &Server, state: State, detail: String, mend: Option<String>) -> Check {
    Check {
        area: "server".to_owned(),
        name: format!("{} ({})", server.id, server.language),
        state,
        detail,
        mend,
    }
}
