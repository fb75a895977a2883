//! The servers that use this data folder now, and how each is set up.
//!
//! One file per server, written once, so that no lock is needed; a dead server's file says nothing and is removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chartroom_protocol::index::RuntimeOwner;
use serde::{Deserialize, Serialize};

use crate::process;
use chartroom_search::store::Fingerprint;

/// The owners' folder.
#[derive(Debug, Clone)]
pub(crate) struct Owners {
    folder: PathBuf,
}

/// This server's own file, until dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    pid: u32,
    process_start_time: Option<String>,
    started_at: String,
    version: String,
    fingerprint: Fingerprint,
}

impl Owners {
    pub(crate) fn new(data: &Path) -> Self {
        Self { folder: data.join("runtime").join("owners") }
    }

    /// Writes this process down as a user of the data folder.
    pub(crate) fn register(&self, version: &str, fingerprint: &Fingerprint) -> io::Result<Owner> {
        fs::create_dir_all(&self.folder)?;
        let me = process::current();
        let record = Record {
            pid: me.pid,
            process_start_time: me.start.clone(),
            started_at: jiff::Timestamp::now().to_string(),
            version: version.into(),
            fingerprint: fingerprint.clone(),
        };
        let path = self.folder.join(format!("{}-{}.json", me.pid, uuid::Uuid::new_v4().simple()));
        fs::write(&path, serde_json::to_vec(&record)?)?;
        Ok(Owner { path })
    }

    /// The live servers that are set up differently, oldest first.
    pub(crate) fn conflicts(&self, version: &str, fingerprint: &Fingerprint) -> Vec<RuntimeOwner> {
        let Ok(files) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut conflicts = Vec::new();
        for path in files.filter_map(Result::ok).map(|file| file.path()) {
            let Some(record) =
                fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            else {
                continue;
            };
            if !process::is_alive(record.pid, record.process_start_time.as_deref()) {
                if let Err(error) = fs::remove_file(&path) {
                    tracing::debug!(%error, "a dead server's file could not be removed");
                }
                continue;
            }
            if record.version != version || record.fingerprint != *fingerprint {
                conflicts.push(RuntimeOwner {
                    pid: record.pid,
                    started_at: record.started_at,
                    version: record.version,
                    fingerprint: record.fingerprint.to_string(),
                });
            }
        }
        conflicts.sort_by(|a, b| (&a.started_at, a.pid).cmp(&(&b.started_at, b.pid)));
        conflicts
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "this server's owner file could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(model: &str) -> Fingerprint {
        Fingerprint {
            embedding_provider: "static".into(),
            embedding_model: model.into(),
            embedding_dimension: 1,
            vector_store_provider: "embedded".into(),
            schema_version: "hybrid_v3".into(),
        }
    }

    #[test]
    fn a_live_server_with_another_model_or_version_is_a_conflict_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let owners = Owners::new(dir.path());
        let owner = owners.register("1.0", &fingerprint("a")).unwrap();
        assert_eq!(owners.conflicts("1.0", &fingerprint("a")), []);
        assert_eq!(owners.conflicts("1.0", &fingerprint("b")).len(), 1);
        assert_eq!(owners.conflicts("1.1", &fingerprint("a"))[0].version, "1.0");
        drop(owner);
        assert_eq!(owners.conflicts("1.1", &fingerprint("b")), []);
    }
}
