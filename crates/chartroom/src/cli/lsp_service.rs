//! `chartroom lsp-service`: the language service's own process. Hidden; only Chartroom starts it.

use std::process::ExitCode;

use chartroom_lsp::service::process;

use crate::app::language;
use crate::config::{self, Overrides};
use crate::data::DataFolder;
use crate::logs;

/// Its exit codes are its own: whoever starts it reads them, not a person.
pub(super) fn run() -> ExitCode {
    let _logs = logs::to_stderr();
    process::run(|data_dir, root| {
        // The sandbox of the servers is the user's own word, which a service reads where the others do.
        let config = config::load(config::default_path().as_deref(), &Overrides::default())
            .map_err(|error| error.to_string())?
            .config;
        let launcher = match data_dir {
            Some(data_dir) => language::launcher(data_dir, root, &config),
            None => DataFolder::default_path().map_err(Into::into).and_then(|path| {
                let data = DataFolder::open(&path)?;
                language::launcher(data.path(), root, &config)
            }),
        };
        launcher.map_err(|error| format!("{error:#}"))
    })
}
