//! `chartroom lsp install [ID]`: one language server into the data folder, or the list of those that there are.

use chartroom_lsp::{InstallError, Installer};
use chartroom_protocol::lsp::{InstallListResponse, InstallResponse, Installable};
use serde::Serialize;

use crate::app::gate;
use crate::cli::{answer, block_on, settings};
use crate::config::{Overrides, nearest};
use crate::exit::{Failure, Outcome};
use crate::logs;

pub(super) fn run(id: Option<&str>, json: bool) -> Result<Outcome, Failure> {
    let _logs = logs::to_stderr();
    let config = settings::load(Overrides::default())?.config;
    let data = settings::data()?;
    let text = block_on(async move {
        let installer = Installer::new(gate::open(data.path(), &config.sandbox)?);
        match id {
            None => list(installer.list(), json),
            Some(id) => install(&installer, id, json).await,
        }
    })?;
    answer(&format!("{text}\n"))?;
    Ok(Outcome::Done)
}

async fn install(installer: &Installer, id: &str, json: bool) -> Result<String, Failure> {
    let installed = installer.install(id).await.map_err(|error| failure(&error))?;
    let path = installed.program.to_string_lossy().into_owned();
    let manager = installed.manager.name().to_owned();
    if json {
        return written(&InstallResponse { id: installed.id, manager, path });
    }
    Ok(format!("{id} was installed with {manager} and answers: {path}"))
}

/// An id that does not exist is wrong usage; everything else could not be done.
fn failure(error: &InstallError) -> Failure {
    match error {
        InstallError::Unknown { .. } => Failure::Usage(unknown(error)),
        InstallError::NoWay { .. }
        | InstallError::Busy { .. }
        | InstallError::Folder { .. }
        | InstallError::Gate(_)
        | InstallError::Failed { .. }
        | InstallError::NotStarting { .. } => Failure::impossible(error.to_string()),
    }
}

/// The sentence for an unknown id, with the one that was probably meant.
pub(crate) fn unknown(error: &InstallError) -> String {
    let InstallError::Unknown { id } = error else { return error.to_string() };
    let known = chartroom_lsp::registry::built_in().iter().map(|server| server.id.as_str());
    match nearest(id, known) {
        Some(nearest) => format!("{error}; did you mean {nearest}?"),
        None => error.to_string(),
    }
}

fn list(servers: Vec<Installable>, json: bool) -> Result<String, Failure> {
    if json {
        return written(&InstallListResponse { servers });
    }
    let lines = servers.iter().map(|server| {
        let how = match (&server.manager, server.installed) {
            (_, true) => "installed".to_owned(),
            (Some(manager), false) => format!("chartroom lsp install {} ({manager})", server.id),
            (None, false) => server.hints.first().cloned().unwrap_or_default(),
        };
        format!("{:<24} {:<18} {how}", server.id, server.language)
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn written(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::impossible(format!("the answer cannot be written ({error})")))
}
