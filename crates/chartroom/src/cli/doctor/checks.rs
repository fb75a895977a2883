//! The checks themselves, in the order a person would mend them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use chartroom_protocol::agent::AgentStatus;
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::gate::find_program;

use super::{Check, State, index, language_servers, sandbox};
use crate::app::{agents, gate};
use crate::config::{self, Config, Overrides};
use crate::data::DataFolder;

pub(super) fn all() -> Vec<Check> {
    let (config, mut checks) = config();
    let data = data(&mut checks);
    checks.push(git());
    checks.extend(agents(&config));
    let root = std::env::current_dir().ok().and_then(|folder| CanonicalRoot::open(folder).ok());
    if let (Some(data), Some(root)) = (data, root) {
        checks.push(trust(&data, &root));
        checks.extend(sandbox::checks(&config, &data, &root));
        if let Some(lsp) = config.lsp.enabled() {
            checks.extend(language_servers::checks(lsp, &config, &data, &root));
        }
        checks.push(index::check(&config, &data, &root));
        checks.extend(index::server(&config, &data));
    }
    checks
}

fn config() -> (Config, Vec<Check>) {
    let Some(path) = config::default_path() else {
        let detail = "no home folder is known".to_owned();
        let mend = Some("set CHARTROOM_CONFIG to a config file".to_owned());
        return (
            Config::default(),
            vec![Check {
                area: "config".to_owned(),
                name: "config.toml".to_owned(),
                state: State::Missing,
                detail,
                mend,
            }],
        );
    };
    let name = path.display().to_string();
    let wrong = |detail: String, mend: &str| Check {
        area: "config".to_owned(),
        name: name.clone(),
        state: State::Wrong,
        detail,
        mend: Some(mend.to_owned()),
    };
    let mut checks = match config::problems(&path) {
        Ok(problems) => problems
            .iter()
            .map(|problem| wrong(format!("line {}: {}", problem.line, problem.message), "correct this line"))
            .collect(),
        Err(error) => vec![wrong(error.to_string(), "make the file readable")],
    };
    let loaded = config::load(Some(&path), &Overrides::from_env()).unwrap_or_default();
    if checks.is_empty() {
        let detail = if loaded.file.is_some() { "read, no mistakes" } else { "not there; all defaults" };
        let (state, mend) = (State::Ok, None);
        checks.push(Check {
            area: "config".to_owned(),
            name: name.clone(),
            state,
            detail: detail.to_owned(),
            mend,
        });
    }
    let readable_by_others =
        || path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    if loaded.file.is_some() && loaded.config.server.token.is_some() && readable_by_others() {
        checks
            .push(wrong("holds a token and can be read by others".to_owned(), &format!("chmod 600 {name}")));
    }
    (loaded.config, checks)
}

fn data(checks: &mut Vec<Check>) -> Option<DataFolder> {
    match DataFolder::default_path().and_then(|path| DataFolder::open(&path)) {
        Ok(data) => {
            let detail = match data.running_server() {
                Some(origin) => format!("writable; a server runs at {origin}"),
                None => "writable; no server runs".to_owned(),
            };
            let name = data.path().display().to_string();
            checks.push(Check { area: "data".to_owned(), name, state: State::Ok, detail, mend: None });
            Some(data)
        }
        Err(error) => {
            let mend = Some("set CHARTROOM_HOME to a folder you can write".to_owned());
            let (name, detail) = ("data folder".to_owned(), error.to_string());
            checks.push(Check { area: "data".to_owned(), name, state: State::Wrong, detail, mend });
            None
        }
    }
}

fn git() -> Check {
    let found = find_program(Path::new("git"), std::env::var_os("PATH").as_ref());
    let (state, detail, mend) = match found {
        Some(path) => (State::Ok, path.display().to_string(), None),
        None => (State::Missing, "not on PATH".to_owned(), Some("sudo apt install git".to_owned())),
    };
    Check { area: "git".to_owned(), name: "git".to_owned(), state, detail, mend }
}

fn agents(config: &Config) -> Vec<Check> {
    agents::list(config)
        .into_iter()
        .map(|agent| match agent.status {
            AgentStatus::Found => Check {
                area: "agent".to_owned(),
                name: agent.name,
                state: State::Ok,
                detail: agent.path.unwrap_or_default(),
                mend: None,
            },
            AgentStatus::Missing => Check {
                area: "agent".to_owned(),
                name: agent.name,
                state: State::Missing,
                detail: "not on PATH".to_owned(),
                mend: Some(agent.install),
            },
        })
        .collect()
}

/// Whether agents may run in the current folder.
fn trust(data: &DataFolder, root: &CanonicalRoot) -> Check {
    let (state, detail, mend) = match gate::open_trust(data.path()) {
        Ok(store) if store.is_trusted(root) => (State::Ok, "trusted".to_owned(), None),
        Ok(_) => (
            State::Missing,
            "not trusted: no agent and no language server runs here".to_owned(),
            Some("chartroom trust .".to_owned()),
        ),
        Err(error) => (State::Wrong, error.to_string(), Some("make the data folder yours again".to_owned())),
    };
    Check { area: "trust".to_owned(), name: root.to_string(), state, detail, mend }
}
