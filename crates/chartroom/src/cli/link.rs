//! `chartroom link`: a new one-time link to the workbench that runs already, for another browser; and the list of the
//! browsers that were let in, with the end of it.

use anyhow::Context as _;
use chartroom_protocol::agent::LaunchResponse;
use chartroom_protocol::device::{Device, DeviceListResponse, RevokeDevicesParams, RevokeDevicesResponse};

use super::{answer, running, settings, trust};
use crate::data::DataFolder;
use crate::exit::{Failure, Outcome};
use crate::http::{DeviceFile, list_in, revoke_in};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the browsers that were let in
    #[arg(long, conflicts_with_all = ["revoke", "all"])]
    list: bool,
    /// Put out the browser of this ID, or without one every browser and every link that was not used yet
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    revoke: Option<Option<String>>,
    /// Put out every browser and every link that was not used yet
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let data = settings::data_to_read()?;
    match (&args.revoke, args.all) {
        (Some(Some(_)), true) => {
            Err(Failure::Usage("--revoke takes an ID or --all, not both; try '--help'".to_owned()))
        }
        (Some(Some(id)), false) => revoke(&data, Some(id)),
        (Some(None), _) | (None, true) => revoke(&data, None),
        (None, false) if args.list => list(&data),
        (None, false) => link(&data),
    }
}

fn link(data: &DataFolder) -> Result<Outcome, Failure> {
    trust::refuse_agents(data.path())?;
    let Some(origin) = data.running_server() else {
        return Err(Failure::impossible("no Chartroom is running here; start one with `chartroom serve`"));
    };
    let text = running::post(data, &origin, "/api/launch", "").with_context(|| silent(&origin))?;
    let launch: LaunchResponse = serde_json::from_str(&text).context("the answer is no launch code")?;
    answer(&format!("{origin}/?token={}\n", launch.code))?;
    Ok(Outcome::Done)
}

fn list(data: &DataFolder) -> Result<Outcome, Failure> {
    let devices = match data.running_server() {
        Some(origin) => {
            let text = running::get(data, &origin, "/api/devices").with_context(|| silent(&origin))?;
            let list: DeviceListResponse = serde_json::from_str(&text).context("the answer is no list")?;
            list.devices
        }
        None => list_in(&file(data)?),
    };
    answer(&devices.iter().map(line).collect::<String>())?;
    Ok(Outcome::Done)
}

fn line(device: &Device) -> String {
    let left = device.expires_at.saturating_sub(now()).div_ceil(24 * 60 * 60);
    let days = if left == 1 { "day" } else { "days" };
    let browser = if device.browser.is_empty() { "a browser without a name" } else { &device.browser };
    format!("{}  {left} {days} left  {browser}\n", device.device_id)
}

fn revoke(data: &DataFolder, device: Option<&str>) -> Result<Outcome, Failure> {
    let n_revoked = match data.running_server() {
        Some(origin) => {
            let params = RevokeDevicesParams { device_id: device.map(str::to_owned) };
            let body = serde_json::to_string(&params).context("writing the request")?;
            let text = running::post(data, &origin, "/api/devices/revoke", &body)
                .with_context(|| silent(&origin))?;
            let done: RevokeDevicesResponse =
                serde_json::from_str(&text).context("the answer does not say what was done")?;
            done.revoked
        }
        None => {
            // A server that starts meanwhile would write what it has read before.
            let _lock = data.hold_server().map_err(|error| Failure::impossible(error.to_string()))?;
            revoke_in(&file(data)?, device).map_err(|error| Failure::impossible(error.to_string()))?
        }
    };
    match device {
        Some(id) if n_revoked == 0 => {
            answer(&format!("no browser {id} was let in\n"))?;
            Ok(Outcome::NotOk)
        }
        _ => {
            let browsers = if n_revoked == 1 { "browser" } else { "browsers" };
            answer(&format!("signed out {n_revoked} {browsers}\n"))?;
            Ok(Outcome::Done)
        }
    }
}

fn file(data: &DataFolder) -> Result<DeviceFile, Failure> {
    DeviceFile::of(data).map_err(|error| Failure::impossible(error.to_string()))
}

fn silent(origin: &str) -> String {
    format!("the Chartroom at {origin} did not answer; stop it and start it again with `chartroom serve`")
}

fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_secs())
}
