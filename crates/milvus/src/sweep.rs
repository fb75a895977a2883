//! Taking away what no generation names any more: versions of files and vectors, of this project alone.
//!
//! A share sweeps at most once a day, while it holds the claim. What neither its own list nor the former one names is
//! condemned, which is written down in the generation; what an earlier share condemned and a whole grace period has
//! left unnamed is deleted. Laptops at older commits find their versions until then, and embed them afterwards.
//!
//! Rows of files and vectors cannot be fenced: a writer that sleeps between its last look at its claim and a deletion
//! may delete what its taker has just named again. That costs embeddings and no answer (a version that is not there is
//! made where it is needed), and the next sweep finds what is named and missing, and sends it again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::names::{self, Names};
use crate::objects::{Objects, Sent};
use crate::overlay::{self, Files};
use crate::server::{Kind, Server};
use chartroom_search::store::team::ShareError;
use chartroom_search::store::{FileRecord, Fingerprint, GenerationReader, StoreError};

/// The row of a generation that says what is condemned.
pub(crate) const GARBAGE_ROW: &str = "garbage";

/// Rows that are deleted together; the claim is looked at before each.
const BATCH: usize = 1000;

/// When is swept, and how long what nobody names stays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweeping {
    pub(crate) every: Duration,
    pub(crate) grace: Duration,
}

impl Default for Sweeping {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self { every: Duration::from_secs(DAY), grace: Duration::from_secs(14 * DAY) }
    }
}

/// What is condemned, since when: seconds of the clock of whoever condemned it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Garbage {
    /// The last sweep.
    swept: i64,
    files: BTreeMap<String, i64>,
    vectors: BTreeMap<String, i64>,
}

impl Garbage {
    /// What a project begins with.
    pub(crate) fn none(now: i64) -> Self {
        Self { swept: now, ..Self::default() }
    }

    /// What the generation that answers says; one that says nothing readable condemns nothing.
    pub(crate) fn of(server: &dyn Server, names: &Names) -> Result<Option<Self>, StoreError> {
        match overlay::document(server, Kind::Read, &names.current(), GARBAGE_ROW) {
            Err(StoreError::Corrupt(_)) => Ok(None),
            other => other,
        }
    }

    /// Whether it is time; a clock that went back does not put it off for ever.
    pub(crate) fn is_due(&self, now: i64, sweeping: Sweeping) -> bool {
        self.swept > now || now - self.swept >= seconds(sweeping.every)
    }
}

/// The keys that are named.
struct Named {
    files: BTreeSet<String>,
    vectors: BTreeSet<String>,
    /// Files of ours that are not there whole.
    incomplete: Vec<String>,
}

/// One sweep.
pub(crate) struct Sweep<'a> {
    pub(crate) server: &'a dyn Server,
    pub(crate) names: &'a Names,
    pub(crate) fingerprint: &'a Fingerprint,
    pub(crate) reader: &'a dyn GenerationReader,
    pub(crate) objects: &'a Objects<'a>,
    /// What is being shared.
    pub(crate) ours: &'a Files,
    /// What answers until then, and stays until the share after.
    pub(crate) former: &'a Files,
    pub(crate) grace: Duration,
    pub(crate) now: i64,
}

impl Sweep<'_> {
    /// Sends again what is named and missing, deletes what was condemned long enough, and says what is condemned now.
    pub(crate) fn run(&self, claim: &mut Claim<'_>, before: &Garbage) -> Result<(Garbage, Sent), ShareError> {
        let (files, vectors) = (names::files(self.fingerprint), names::vectors(self.fingerprint));
        let unavailable = |trouble| ShareError::Store(StoreError::from(trouble));
        let prefix = self.names.keys();
        let files_there = self.server.ids(&files, &prefix).map_err(unavailable)?;
        claim.renew()?;
        let vectors_there = match self.fingerprint.embedding_dimension {
            0 => BTreeSet::new(),
            _ => self.server.ids(&vectors, &prefix).map_err(unavailable)?,
        };
        claim.renew()?;
        let named = self.named(claim, &files_there, &vectors_there)?;
        let sent = self.mend(claim, &named.incomplete)?;

        let is_named = |id: &str| named.files.contains(id.split('.').next().unwrap_or(id));
        let (mut dead_files, mut condemned_files) =
            plan(&files_there, is_named, &before.files, self.now, self.grace);
        let (dead_vectors, mut condemned_vectors) =
            plan(&vectors_there, |id| named.vectors.contains(id), &before.vectors, self.now, self.grace);
        // The reverse of how they were written: a version whose first row is there has all of it.
        dead_files.sort_by_key(|id| id.contains('.'));
        for (collection, dead, condemned, before) in [
            (&files, &dead_files, &mut condemned_files, &before.files),
            (&vectors, &dead_vectors, &mut condemned_vectors, &before.vectors),
        ] {
            for batch in dead.chunks(BATCH) {
                claim.confirm()?;
                if let Err(trouble) = self.server.delete(collection, batch) {
                    // A token without the right, perhaps: they stay condemned, and somebody else's sweep takes them.
                    tracing::warn!(%trouble, "what nobody names any more stays on the server for now");
                    condemned.extend(batch.iter().filter_map(|id| Some((id.clone(), *before.get(id)?))));
                }
            }
        }
        Ok((Garbage { swept: self.now, files: condemned_files, vectors: condemned_vectors }, sent))
    }

    /// What is named, by our list and by the former one.
    fn named(
        &self,
        claim: &mut Claim<'_>,
        files_there: &BTreeSet<String>,
        vectors_there: &BTreeSet<String>,
    ) -> Result<Named, ShareError> {
        let (mut files, mut vectors, mut incomplete) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let embedded = self.fingerprint.embedding_dimension > 0;
        for (path, hash) in self.ours {
            claim.renew()?;
            let key = self.names.file_key(path, hash);
            let mut whole = files_there.contains(&key);
            if embedded {
                for stored in self.reader.chunks_in(path)? {
                    let vector = self.names.vector_key(&stored.chunk.content_hash);
                    whole &= vectors_there.contains(&vector);
                    vectors.insert(vector);
                }
            }
            if !whole {
                incomplete.push(path.clone());
            }
            files.insert(key);
        }
        // What the former generation alone names is read from the server: it is what the last shares changed.
        let differs = |(path, hash): &(&String, &String)| self.ours.get(*path) != Some(*hash);
        let keys: Vec<String> =
            self.former.iter().filter(differs).map(|(path, hash)| self.names.file_key(path, hash)).collect();
        vectors.extend(self.objects.vector_keys(&keys)?);
        files.extend(keys);
        Ok(Named { files, vectors, incomplete })
    }

    fn mend(&self, claim: &mut Claim<'_>, incomplete: &[String]) -> Result<Sent, ShareError> {
        let mut sent = Sent::default();
        for path in incomplete {
            claim.renew()?;
            let hash = self.ours.get(path);
            let record: Option<FileRecord> =
                self.reader.record(path)?.filter(|record| Some(&record.stamp.hash) == hash);
            if let Some(record) = record {
                sent.add(self.objects.send(&[record])?);
            }
        }
        Ok(sent)
    }
}

/// Which rows go now, and which are condemned.
fn plan(
    there: &BTreeSet<String>,
    is_named: impl Fn(&str) -> bool,
    condemned: &BTreeMap<String, i64>,
    now: i64,
    grace: Duration,
) -> (Vec<String>, BTreeMap<String, i64>) {
    let (mut dead, mut left) = (Vec::new(), BTreeMap::new());
    for id in there.iter().filter(|id| !is_named(id)) {
        match condemned.get(id) {
            Some(since) if *since <= now && now - since >= seconds(grace) => dead.push(id.clone()),
            // Condemned by a clock that was ahead of ours: from now on.
            Some(since) => drop(left.insert(id.clone(), (*since).min(now))),
            None => drop(left.insert(id.clone(), now)),
        }
    }
    (dead, left)
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(100);

    #[track_caller]
    fn check(condemned: &[(&str, i64)], now: i64, dead: &[&str], left: &[(&str, i64)]) {
        let there = ["named", "a", "b"].map(str::to_owned).into();
        let pairs = |pairs: &[(&str, i64)]| -> BTreeMap<String, i64> {
            pairs.iter().map(|(id, since)| ((*id).to_owned(), *since)).collect()
        };
        let planned = plan(&there, |id| id == "named", &pairs(condemned), now, GRACE);
        assert_eq!((planned.0, planned.1), (dead.iter().map(|id| (*id).to_owned()).collect(), pairs(left)));
    }

    #[test]
    fn what_nobody_names_is_condemned_first_and_goes_when_its_grace_is_over() {
        check(&[], 1000, &[], &[("a", 1000), ("b", 1000)]);
        check(&[("a", 901), ("b", 900)], 1000, &["b"], &[("a", 901)]);
        // Named again, it is condemned no more; gone already, it is forgotten.
        check(&[("named", 0), ("gone", 0), ("a", 950)], 1000, &[], &[("a", 950), ("b", 1000)]);
    }

    #[test]
    fn a_clock_that_went_back_deletes_nothing_and_begins_anew() {
        check(&[("a", 5000), ("b", 1000)], 1000, &[], &[("a", 1000), ("b", 1000)]);
        let sweeping = Sweeping { every: GRACE, grace: GRACE };
        assert!(Garbage::none(5000).is_due(1000, sweeping));
        assert!(!Garbage::none(1000).is_due(1099, sweeping) && Garbage::none(1000).is_due(1100, sweeping));
    }
}
