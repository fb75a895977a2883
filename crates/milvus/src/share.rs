//! Making this machine's published generation the team's.

use std::time::Duration;

use serde_json::json;

use crate::claim::Claim;
use crate::names::Names;
use crate::objects::{Objects, Sent};
use crate::overlay::{self, FILES_ROW, Files, MARKER_ROW};
use crate::packing;
use crate::server::{Kind, Row, Server};
use crate::sweep::{GARBAGE_ROW, Garbage, Sweep, Sweeping};
use chartroom_search::store::team::{ShareError, Shared};
use chartroom_search::store::{FileRecord, GenerationReader, MarkerDoc, StoreError};

/// Files whose content is read and sent together.
const BATCH_FILES: usize = 64;

/// What is needed for it.
pub(crate) struct Share<'a> {
    pub(crate) server: &'a dyn Server,
    pub(crate) project: &'a str,
    pub(crate) owner: &'a str,
    pub(crate) term: Duration,
    pub(crate) sweeping: Sweeping,
}

impl Share<'_> {
    /// Sends what the team does not have, in this order: vectors, files, list of files, marker, swap. Killed anywhere
    /// before the swap, the former generation answers; what was sent is there for the next share.
    pub(crate) fn run(
        &self,
        reader: &dyn GenerationReader,
        marker: &MarkerDoc,
    ) -> Result<Shared, ShareError> {
        let names = Names::of(self.project);
        let ours = files_of(reader)?;
        let theirs = self.theirs(&names, marker)?;
        if let Some((generation, theirs)) = &theirs
            && *theirs == ours
        {
            return Ok(Shared { generation: *generation, files: ours.len() as u64, ..Shared::default() });
        }
        let mut claim = Claim::take(self.server, &names, self.owner, self.term)?;
        match self.fill(&mut claim, &names, reader, marker, &ours, theirs.map(|(_, files)| files)) {
            Ok(sent) => {
                let generation = claim.publish()?;
                Ok(Shared {
                    generation,
                    files: ours.len() as u64,
                    files_sent: sent.files,
                    vectors_sent: sent.vectors,
                    bytes_sent: sent.bytes,
                })
            }
            Err(error) => {
                claim.give_up();
                Err(error)
            }
        }
    }

    /// The number and the files of what the team has, when it was made as ours was.
    fn theirs(&self, names: &Names, ours: &MarkerDoc) -> Result<Option<(u64, Files)>, ShareError> {
        let found = overlay::marker(self.server, names).map_err(StoreError::from)?;
        let Some(document) = found else { return Ok(None) };
        let generation = document.get("generation").and_then(serde_json::Value::as_u64);
        let project = document.get("project").and_then(serde_json::Value::as_str) == Some(self.project);
        let marker = serde_json::from_value::<MarkerDoc>(document.clone()).ok();
        let fits = marker.is_some_and(|marker| marker.fingerprint == ours.fingerprint);
        let Some(generation) = generation.filter(|_| project && fits) else { return Ok(None) };
        match overlay::files(self.server, Kind::Read, &names.current()) {
            Ok(files) => Ok(Some((generation, files))),
            // What cannot be read is made anew.
            Err(StoreError::Corrupt(why)) => {
                tracing::warn!(why, "the shared index is replaced");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sweeps when it is time. Trouble of a sweep (a token that may not delete) is no trouble of the share.
    #[expect(clippy::too_many_arguments, reason = "all that a share holds, in one place")]
    fn sweep(
        &self,
        claim: &mut Claim<'_>,
        names: &Names,
        reader: &dyn GenerationReader,
        marker: &MarkerDoc,
        ours: &Files,
        former: &Files,
        objects: &Objects<'_>,
        sent: &mut Sent,
    ) -> Result<Garbage, ShareError> {
        let now = jiff::Timestamp::now().as_second();
        let before = match claim.former {
            Some(_) => Garbage::of(self.server, names)?,
            None => None,
        };
        let Some(before) = before else { return Ok(Garbage::none(now)) };
        if !before.is_due(now, self.sweeping) {
            return Ok(before);
        }
        let sweep = Sweep {
            server: self.server,
            names,
            fingerprint: &marker.fingerprint,
            reader,
            objects,
            ours,
            former,
            grace: self.sweeping.grace,
            now,
        };
        match sweep.run(claim, &before) {
            Ok((garbage, more)) => {
                sent.add(more);
                Ok(garbage)
            }
            Err(ShareError::Store(error)) => {
                tracing::warn!(%error, "what nobody names any more stays on the server for now");
                Ok(before)
            }
            Err(error) => Err(error),
        }
    }

    fn fill(
        &self,
        claim: &mut Claim<'_>,
        names: &Names,
        reader: &dyn GenerationReader,
        marker: &MarkerDoc,
        ours: &Files,
        theirs: Option<Files>,
    ) -> Result<Sent, ShareError> {
        let objects = Objects::new(self.server, names.clone(), &marker.fingerprint);
        objects.prepare().map_err(StoreError::from)?;
        // What the team's own list names is there: its marker proves it.
        let known = theirs.unwrap_or_default();
        let unknown: Files = ours
            .iter()
            .filter(|(path, hash)| known.get(*path) != Some(hash))
            .map(|(path, hash)| (path.clone(), hash.clone()))
            .collect();
        claim.renew()?;
        let missing = objects.missing(&unknown).map_err(StoreError::from)?;
        let mut sent = Sent::default();
        for batch in missing.chunks(BATCH_FILES) {
            claim.renew()?;
            let mut records: Vec<FileRecord> = Vec::with_capacity(batch.len());
            for (path, hash) in batch {
                let record = reader.record(path)?.filter(|record| record.stamp.hash == **hash);
                records.push(record.ok_or_else(|| {
                    StoreError::Unavailable(format!("{path} changed while it was shared; share again"))
                })?);
            }
            sent.add(objects.send(&records)?);
        }
        let garbage = self.sweep(claim, names, reader, marker, ours, &known, &objects, &mut sent)?;
        claim.put(packing::pack(GARBAGE_ROW, &garbage)?)?;
        claim.put(packing::pack(FILES_ROW, ours)?)?;
        let mut document = serde_json::to_value(marker).map_err(as_store)?;
        if let Some(object) = document.as_object_mut() {
            object.insert("project".into(), json!(self.project));
            object.insert("generation".into(), json!(claim.fence));
            object.insert("indexedFiles".into(), json!(ours.len()));
            object.insert("totalChunks".into(), json!(reader.counts()?.chunks));
            object.insert("completedAt".into(), json!(jiff::Timestamp::now().to_string()));
        }
        claim.put(vec![Row::plain(MARKER_ROW, document.to_string())])?;
        Ok(sent)
    }
}

/// The files of this machine's generation.
pub(crate) fn files_of(reader: &dyn GenerationReader) -> Result<Files, StoreError> {
    Ok(reader.manifest()?.files.into_iter().map(|(path, stamp)| (path, stamp.hash)).collect())
}

fn as_store(error: serde_json::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
