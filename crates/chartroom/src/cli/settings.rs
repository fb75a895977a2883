//! The config as the commands load it, and its schema.

use super::answer;
use crate::config::{self, Config, Loaded, Overrides};
use crate::data::DataFolder;
use crate::exit::{Failure, Outcome};

/// Loads the config with the environment and `overrides` of flags on top.
pub(super) fn load(overrides: Overrides) -> Result<Loaded, Failure> {
    let overrides = Overrides { token: Overrides::from_env().token, ..overrides };
    config::load(config::default_path().as_deref(), &overrides)
        .map_err(|error| Failure::impossible(error.to_string()))
}

/// Opens the data folder.
pub(super) fn data() -> Result<DataFolder, Failure> {
    DataFolder::default_path()
        .and_then(|path| DataFolder::open(&path))
        .map_err(|error| Failure::impossible(error.to_string()))
}

/// Opens the data folder, also where it cannot be written.
pub(super) fn data_to_read() -> Result<DataFolder, Failure> {
    DataFolder::default_path()
        .and_then(|path| DataFolder::open_to_read(&path))
        .map_err(|error| Failure::impossible(error.to_string()))
}

pub(super) fn print_schema() -> Result<Outcome, Failure> {
    let schema = serde_json::to_string_pretty(&Config::schema())
        .map_err(|error| Failure::impossible(format!("the schema cannot be written ({error})")))?;
    answer(&format!("{schema}\n"))?;
    Ok(Outcome::Done)
}
