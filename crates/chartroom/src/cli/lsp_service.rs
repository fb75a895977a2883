//! `chartroom lsp-service`: the language service's own process. Hidden; only Chartroom starts it.

use std::process::ExitCode;

use chartroom_lsp::service::process;

use crate::app::language;
use crate::data::DataFolder;
use crate::logs;

/// Its exit codes are its own: whoever starts it reads them, not a person.
pub(super) fn run() -> ExitCode {
    let _logs = logs::to_stderr();
    process::run(|data_dir, root| {
        let launcher = match data_dir {
            Some(data_dir) => language::launcher(data_dir, root),
            None => DataFolder::default_path().map_err(Into::into).and_then(|path| {
                let data = DataFolder::open(&path)?;
                language::launcher(data.path(), root)
            }),
        };
        launcher.map_err(|error| format!("{error:#}"))
    })
}
