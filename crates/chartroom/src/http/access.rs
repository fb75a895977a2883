//! Who may come in: the bearer token, one-time launch codes, and the browsers that they let in.
//!
//! A browser has two halves of a key. Its cookie goes to every port of the host, so that it proves little; the key of
//! its page is kept by the browser for our origin alone, port included. Only both together open the API.

mod devices;
mod file;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chartroom_protocol::device::Device;
use tokio::sync::watch;

use super::secret::Secret;
use crate::data::{DataError, DataFolder};
use devices::Devices;
pub(super) use devices::{Arrival, DeviceId};
pub(crate) use file::DeviceFile;

/// A token that a person chose must at least not be guessable at once.
pub const MIN_TOKEN_LENGTH: usize = 16;
/// How long a browser that was let in may come back, from the day on which it was.
pub(super) const DEVICE_LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The keys of one running server.
#[derive(Debug)]
pub struct Access {
    token: Secret,
    devices: Mutex<Devices>,
    /// Without it, browsers are forgotten at the end.
    file: Option<DeviceFile>,
    /// Told after each revocation; whoever holds a connection open looks whether it may stay.
    revoked: watch::Sender<()>,
}

impl Access {
    /// Returns the doorkeeper of one token, which remembers nobody.
    pub fn new(token: Secret) -> Self {
        Self { token, devices: Mutex::default(), file: None, revoked: watch::Sender::new(()) }
    }

    /// Returns the doorkeeper of one token, with the browsers that were let in before.
    pub fn open(token: Secret, data: &DataFolder) -> Result<Self, DataError> {
        let file = DeviceFile::of(data)?;
        let devices = Mutex::new(Devices::known(file.read()));
        Ok(Self { devices, file: Some(file), ..Self::new(token) })
    }

    /// The bearer token, for the 0600 file that scripts read.
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// Tells whether this is the token, in constant time.
    pub fn is_token(&self, given: &str) -> bool {
        self.token.matches(given)
    }

    /// Makes a link that lets in one browser, once.
    pub fn new_launch_code(&self) -> anyhow::Result<Secret> {
        let code = Secret::random()?;
        self.devices().add_launch_code(code.clone(), now());
        Ok(code)
    }

    /// Uses up a launch code and returns what its browser gets; nothing when it is wrong, used or too old. `before` is
    /// what the same browser was until now.
    pub(super) fn redeem(
        &self,
        code: &str,
        browser: &str,
        before: Option<DeviceId>,
    ) -> anyhow::Result<Option<Arrival>> {
        self.devices().redeem(code, browser, before, now())
    }

    /// Gives the page its key for the code that the launch left to it; nothing when the code is wrong, used or too old.
    pub(super) fn enter(&self, device: &DeviceId, code: &str) -> anyhow::Result<Option<Secret>> {
        let (key, entered) = {
            let mut devices = self.devices();
            let Some(key) = devices.enter(device, code, now())? else { return Ok(None) };
            (key, devices.entered().to_vec())
        };
        if let Some(Err(error)) = self.file.as_ref().map(|file| file.write(&entered)) {
            tracing::warn!("this browser must be let in again after a restart: {error}");
        }
        Ok(Some(key))
    }

    /// Returns whose cookie this is.
    pub(super) fn device_of(&self, cookie: &str) -> Option<DeviceId> {
        self.devices().device_of(cookie, now())
    }

    /// Tells whether this is the key of that browser's page, in constant time.
    pub(super) fn is_key(&self, device: &DeviceId, key: &str) -> bool {
        self.devices().is_key(device, key, now())
    }

    /// Tells whether a browser may still be here.
    pub(super) fn is_inside(&self, device: &DeviceId) -> bool {
        self.devices().is_inside(device, now())
    }

    /// Returns the browsers that were let in, the first one first.
    pub(super) fn list(&self) -> Vec<Device> {
        self.devices().list(now())
    }

    /// Puts out one browser, or all of them with every unused link; returns how many. They are out even when that cannot be
    /// written down, which is the error then.
    pub(super) fn revoke(&self, device: Option<&str>) -> Result<usize, DataError> {
        let (n_revoked, entered) = {
            let mut devices = self.devices();
            (devices.revoke(device), devices.entered().to_vec())
        };
        self.revoked.send_replace(());
        match &self.file {
            Some(file) => file.write_or_forget(&entered).map(|()| n_revoked),
            None => Ok(n_revoked),
        }
    }

    /// Is changed after each revocation.
    pub(super) fn revocations(&self) -> watch::Receiver<()> {
        self.revoked.subscribe()
    }

    fn devices(&self) -> MutexGuard<'_, Devices> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Revokes in the file of a server that does not run; returns how many browsers were put out.
pub(crate) fn revoke_in(file: &DeviceFile, device: Option<&str>) -> Result<usize, DataError> {
    let mut devices = Devices::known(file.read());
    let n_revoked = devices.revoke(device);
    file.write_or_forget(devices.entered())?;
    Ok(n_revoked)
}

/// Lists the file of a server that does not run.
pub(crate) fn list_in(file: &DeviceFile) -> Vec<Device> {
    Devices::known(file.read()).list(now())
}

/// Seconds since 1970, which a restart does not change.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_opens_and_nothing_like_it() {
        let access = Access::new(Secret::new("token"));
        let code = access.new_launch_code().unwrap();
        for wrong in ["", "t", "tokem", "token ", "TOKEN", code.expose()] {
            assert!(!access.is_token(wrong), "{wrong} is not the token");
        }
        for wrong in ["", "token", code.expose()] {
            assert_eq!(access.device_of(wrong), None, "{wrong} is not a cookie");
        }
        for wrong in ["", "token", &code.expose()[1..]] {
            assert!(access.redeem(wrong, "Browser", None).unwrap().is_none(), "{wrong} is not the code");
        }
        assert!(access.is_token("token"));
    }

    #[test]
    fn who_holds_a_connection_open_is_told_of_a_revocation() {
        let access = Access::new(Secret::new("token"));
        let revocations = access.revocations();
        access.revoke(None).unwrap();
        assert!(revocations.has_changed().unwrap());
    }
}
