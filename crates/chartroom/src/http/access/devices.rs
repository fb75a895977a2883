//! Launch codes, browsers on their way in, and browsers that were let in. The clock is an argument.

use std::collections::VecDeque;
use std::time::Duration;

use chartroom_protocol::device::Device;

use super::DEVICE_LIFE;
use crate::http::secret::{Secret, SecretHash, random_hex};

/// As many browsers as one person has; the one that was let in first must be let in again.
const MAX_DEVICES: usize = 64;
/// Unused links; asking for more makes the oldest useless.
const MAX_CODES: usize = 8;
/// Browsers that followed a link and whose page has not asked for its key yet.
const MAX_ARRIVING: usize = 8;
/// A person reads the link in a terminal and opens it, perhaps on another machine.
const CODE_LIFE: Duration = Duration::from_secs(60 * 60);
/// A page loads and asks by itself.
const ARRIVAL_LIFE: Duration = Duration::from_secs(5 * 60);
/// What a browser calls itself is shown in a list.
const BROWSER_NAME: usize = 200;

/// Names a browser, and opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(in crate::http) struct DeviceId(String);

/// What a browser gets that followed a link.
#[derive(Debug)]
pub(in crate::http) struct Arrival {
    /// Goes to every port of the host.
    pub(in crate::http) cookie: Secret,
    /// Buys the page its key, once.
    pub(in crate::http) code: Secret,
}

/// A browser that was let in, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Entered {
    device_id: DeviceId,
    browser: String,
    cookie: SecretHash,
    key: SecretHash,
    entered_at: u64,
}

#[derive(Debug)]
struct Arriving {
    device_id: DeviceId,
    browser: String,
    cookie: SecretHash,
    code: Secret,
    /// What this browser was before, and no longer is when it has entered.
    before: Option<DeviceId>,
    since: u64,
}

#[derive(Debug, Default)]
pub(super) struct Devices {
    codes: VecDeque<(Secret, u64)>,
    arriving: VecDeque<Arriving>,
    entered: Vec<Entered>,
}

impl Devices {
    pub(super) fn known(entered: Vec<Entered>) -> Self {
        Self { entered, ..Self::default() }
    }

    /// What outlives the server.
    pub(super) fn entered(&self) -> &[Entered] {
        &self.entered
    }

    pub(super) fn add_launch_code(&mut self, code: Secret, now: u64) {
        push_bounded(&mut self.codes, (code, now), MAX_CODES);
    }

    pub(super) fn redeem(
        &mut self,
        given: &str,
        browser: &str,
        before: Option<DeviceId>,
        now: u64,
    ) -> anyhow::Result<Option<Arrival>> {
        let Some(position) = self.codes.iter().position(|(code, _)| code.matches(given)) else {
            return Ok(None);
        };
        let made = self.codes.remove(position).map_or(0, |(_, made)| made);
        if is_over(made, CODE_LIFE, now) {
            return Ok(None);
        }
        let arrival = Arrival { cookie: Secret::random()?, code: Secret::random()? };
        let arriving = Arriving {
            device_id: DeviceId(random_hex::<6>()?),
            browser: browser.chars().filter(|letter| !letter.is_control()).take(BROWSER_NAME).collect(),
            cookie: arrival.cookie.hash(),
            code: arrival.code.clone(),
            before,
            since: now,
        };
        push_bounded(&mut self.arriving, arriving, MAX_ARRIVING);
        Ok(Some(arrival))
    }

    pub(super) fn enter(
        &mut self,
        device: &DeviceId,
        code: &str,
        now: u64,
    ) -> anyhow::Result<Option<Secret>> {
        let is_it = |one: &Arriving| {
            one.device_id == *device && one.code.matches(code) && !is_over(one.since, ARRIVAL_LIFE, now)
        };
        let Some(arrived) =
            self.arriving.iter().position(is_it).and_then(|position| self.arriving.remove(position))
        else {
            return Ok(None);
        };
        let key = Secret::random()?;
        self.entered.retain(|one| is_alive(one, now) && Some(&one.device_id) != arrived.before.as_ref());
        if self.entered.len() >= MAX_DEVICES {
            self.entered.remove(0);
        }
        self.entered.push(Entered {
            device_id: arrived.device_id,
            browser: arrived.browser,
            cookie: arrived.cookie,
            key: key.hash(),
            entered_at: now,
        });
        Ok(Some(key))
    }

    /// All are looked at, so that the time does not tell which one was near.
    pub(super) fn device_of(&self, cookie: &str, now: u64) -> Option<DeviceId> {
        let entered = self.entered.iter().filter(|one| is_alive(one, now));
        let entered = entered.map(|one| (&one.cookie, &one.device_id));
        let arriving = self.arriving.iter().filter(|one| !is_over(one.since, ARRIVAL_LIFE, now));
        let arriving = arriving.map(|one| (&one.cookie, &one.device_id));
        entered.chain(arriving).fold(
            None,
            |found, (hash, id)| {
                if hash.matches(cookie) { Some(id.clone()) } else { found }
            },
        )
    }

    pub(super) fn is_key(&self, device: &DeviceId, key: &str, now: u64) -> bool {
        self.entered.iter().any(|one| one.device_id == *device && is_alive(one, now) && one.key.matches(key))
    }

    pub(super) fn is_inside(&self, device: &DeviceId, now: u64) -> bool {
        self.entered.iter().any(|one| one.device_id == *device && is_alive(one, now))
    }

    pub(super) fn list(&self, now: u64) -> Vec<Device> {
        let alive = self.entered.iter().filter(|one| is_alive(one, now));
        let shown = alive.map(|one| Device {
            device_id: one.device_id.0.clone(),
            browser: one.browser.clone(),
            entered_at: one.entered_at,
            expires_at: one.entered_at.saturating_add(DEVICE_LIFE.as_secs()),
        });
        shown.collect()
    }

    pub(super) fn revoke(&mut self, device: Option<&str>) -> usize {
        let n_before = self.entered.len();
        match device {
            Some(id) => self.entered.retain(|one| one.device_id.0 != id),
            None => {
                self.codes.clear();
                self.arriving.clear();
                self.entered.clear();
            }
        }
        n_before - self.entered.len()
    }
}

fn is_alive(entered: &Entered, now: u64) -> bool {
    !is_over(entered.entered_at, DEVICE_LIFE, now)
}

fn is_over(since: u64, life: Duration, now: u64) -> bool {
    now >= since.saturating_add(life.as_secs())
}

fn push_bounded<T>(list: &mut VecDeque<T>, one: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(one);
}

#[cfg(test)]
mod tests;
