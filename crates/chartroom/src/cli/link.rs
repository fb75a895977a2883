//! `chartroom link`: a new one-time link to the workbench that runs already, for another browser.

use anyhow::Context as _;
use chartroom_protocol::agent::LaunchResponse;

use super::{answer, running, settings};
use crate::exit::{Failure, Outcome};

pub(super) fn run() -> Result<Outcome, Failure> {
    let data = settings::data()?;
    let Some(origin) = data.running_server() else {
        return Err(Failure::impossible("no Chartroom is running here; start one with `chartroom serve`"));
    };
    let text = running::post(&data, &origin, "/api/launch", "").with_context(|| {
        format!("the Chartroom at {origin} did not answer; stop it and start it again with `chartroom serve`")
    })?;
    let launch: LaunchResponse = serde_json::from_str(&text).context("the answer is no launch code")?;
    answer(&format!("{origin}/?token={}\n", launch.code))?;
    Ok(Outcome::Done)
}
