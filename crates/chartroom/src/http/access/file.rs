//! `devices.json`: the browsers that were let in, as hashes, for the owner alone. Any doubt about it lets nobody in.

use std::io;

use super::devices::Entered;
use crate::data::{DataError, DataFolder};

const NAME: &str = "devices.json";
const VERSION: u32 = 1;

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    devices: Vec<Entered>,
}

/// The file in one data folder.
#[derive(Debug)]
pub(crate) struct DeviceFile {
    data: DataFolder,
}

impl DeviceFile {
    pub(crate) fn of(data: &DataFolder) -> Result<Self, DataError> {
        data.file(NAME).map(|_| Self { data: data.clone() })
    }

    /// Returns who was let in; nobody when the file is missing, damaged, a link, or one that others could write.
    pub(super) fn read(&self) -> Vec<Entered> {
        match self.load() {
            Ok(entered) => entered,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::warn!("{NAME} cannot be used ({error}); browsers must be let in again");
                Vec::new()
            }
        }
    }

    fn load(&self) -> io::Result<Vec<Entered>> {
        let contents: Contents = serde_json::from_str(&self.data.read_private(NAME)?)?;
        if contents.version == VERSION {
            Ok(contents.devices)
        } else {
            let why = format!("its version is {}, ours is {VERSION}", contents.version);
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
    }

    pub(super) fn write(&self, entered: &[Entered]) -> Result<(), DataError> {
        let contents = Contents { version: VERSION, devices: entered.to_vec() };
        let text = serde_json::to_string_pretty(&contents).map_err(|error| DataError::Unwritable {
            path: self.data.path().join(NAME),
            source: error.into(),
        })?;
        self.data.write_private(NAME, &text)
    }

    /// Writes after a revocation. Where there is no room for the rest, all are forgotten: who was put out stays out.
    pub(super) fn write_or_forget(&self, entered: &[Entered]) -> Result<(), DataError> {
        let Err(error) = self.write(entered) else { return Ok(()) };
        tracing::warn!("{error}; every browser is forgotten instead");
        self.data.remove(NAME)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;
    use crate::http::access::Access;
    use crate::http::secret::Secret;

    fn folder() -> (tempfile::TempDir, DataFolder) {
        let home = tempfile::tempdir().unwrap();
        let data = DataFolder::open(home.path()).unwrap();
        (home, data)
    }

    fn open(data: &DataFolder) -> Access {
        Access::open(Secret::new("token"), data).unwrap()
    }

    /// Returns the cookie of a browser that was let in.
    fn let_in(access: &Access) -> Secret {
        let code = access.new_launch_code().unwrap();
        let arrival = access.redeem(code.expose(), "Browser", None).unwrap().unwrap();
        let device = access.device_of(arrival.cookie.expose()).unwrap();
        access.enter(&device, arrival.code.expose()).unwrap().unwrap();
        arrival.cookie
    }

    #[test]
    fn a_browser_stays_in_over_a_restart_and_a_revoked_one_stays_out() {
        let (_home, data) = folder();
        let cookie = let_in(&open(&data));
        let again = open(&data);
        assert!(again.device_of(cookie.expose()).is_some());
        let mode = data.path().join(NAME).metadata().unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(again.revoke(None).unwrap(), 1);
        assert!(open(&data).device_of(cookie.expose()).is_none());
    }

    #[test]
    fn a_file_that_is_damaged_linked_or_open_to_others_lets_nobody_in() {
        let (home, data) = folder();
        let path = data.path().join(NAME);
        let cookie = let_in(&open(&data));
        let good = std::fs::read(&path).unwrap();

        std::fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
        assert!(open(&data).device_of(cookie.expose()).is_none(), "others could write it");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(home.path().join("elsewhere"), &good).unwrap();
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &path).unwrap();
        assert!(open(&data).device_of(cookie.expose()).is_none(), "a link");
        std::fs::remove_file(&path).unwrap();
        for damaged in ["", "{", "{\"version\":2,\"devices\":[]}"] {
            std::fs::write(&path, damaged).unwrap();
            assert!(open(&data).device_of(cookie.expose()).is_none(), "{damaged}");
        }
        let_in(&open(&data));
        assert_eq!(open(&data).list().len(), 1, "and the next browser is kept");
    }
}
