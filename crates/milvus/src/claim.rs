//! One writer at a time, on a server that has no compare-and-swap.
//!
//! A writer makes a collection of its own and creates the alias of the next number for it, which one alone can. All that
//! it writes goes to that collection; that it lives is seen by a row that changes. Who waits and sees no change for the
//! whole term, by its own clock, claims the number after it, lets the other's alias stand for its own collection and drops
//! the other's: whatever a writer that was asleep sends after that, the server refuses.
//!
//! Above the number that is published no alias is ever dropped, so that the numbers in use have no gap, and of two
//! writers the later one always has the greater.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::names::Names;
use crate::server::{Columns, Kind, Row, Server};
use crate::trouble::{Trouble, TroubleKind};
use chartroom_search::store::StoreError;
use chartroom_search::store::team::ShareError;

/// The row that changes while its writer lives.
const LEASE_ROW: &str = "lease";
/// The row that names the collections that were taken over.
const TAKEN_ROW: &str = "taken";
/// How often it is looked at by who waits, per term.
const LOOKS: u32 = 10;
/// How often somebody else may be quicker before it is told.
const TRIES: usize = 50;

/// What the row says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Beat {
    owner: String,
    beat: u64,
    /// The writer gave up and waits for nobody.
    released: bool,
}

/// The right to publish the next generation.
pub(crate) struct Claim<'a> {
    server: &'a dyn Server,
    names: &'a Names,
    owner: String,
    pub(crate) fence: u64,
    pub(crate) collection: String,
    /// The generation that is replaced.
    pub(crate) former: Option<String>,
    term: Duration,
    beat: u64,
    beaten: Instant,
}

impl<'a> Claim<'a> {
    /// Takes the next number; waits for one whose writer is not heard of until its term is over.
    pub(crate) fn take(
        server: &'a dyn Server,
        names: &'a Names,
        owner: &str,
        term: Duration,
    ) -> Result<Self, ShareError> {
        for _ in 0..TRIES {
            let former = server.alias(&names.current()).map_err(StoreError::from)?;
            let current = former.as_deref().and_then(|collection| names.fence(collection)).unwrap_or(0);
            let Some(fence) = free_after(server, names, current, term)? else { continue };
            if let Some(claim) = Self::try_take(server, names, owner, term, fence)? {
                return Ok(claim);
            }
        }
        Err(ShareError::Busy { owner: "more than one machine".into() })
    }

    fn try_take(
        server: &'a dyn Server,
        names: &'a Names,
        owner: &str,
        term: Duration,
        fence: u64,
    ) -> Result<Option<Self>, ShareError> {
        let unavailable = |trouble: Trouble| ShareError::Store(trouble.into());
        let collection = names.generation(fence, owner);
        server.create(&collection, Row::NO_VECTOR).map_err(unavailable)?;
        let mut claim = Self {
            server,
            names,
            owner: owner.to_owned(),
            fence,
            collection,
            former: None,
            term,
            beat: 0,
            beaten: Instant::now(),
        };
        claim.write_beat(false)?;
        if !server.claim(&names.claim(fence), &claim.collection).map_err(unavailable)? {
            server.drop_collection(&claim.collection).map_err(unavailable)?;
            return Ok(None);
        }
        // A number that is not above what is published was free only because it is long past.
        claim.former = server.alias(&names.current()).map_err(unavailable)?;
        let published = claim.published();
        if published >= fence {
            server.drop_alias(&names.claim(fence)).map_err(unavailable)?;
            server.drop_collection(&claim.collection).map_err(unavailable)?;
            return Ok(None);
        }
        // Those before us that never published are not heard of any more: from now on the server refuses what they send.
        claim.take_over(published)?;
        Ok(Some(claim))
    }

    /// Lets the aliases of those before us stand for our collection, and drops what they had.
    fn take_over(&mut self, published: u64) -> Result<(), ShareError> {
        let mut taken = BTreeSet::new();
        for stale in published + 1..self.fence {
            let theirs = self.server.alias(&self.names.claim(stale)).map_err(StoreError::from)?;
            let Some(theirs) = theirs.filter(|theirs| *theirs != self.collection) else { continue };
            taken.extend(taken_by(self.server, &theirs).map_err(StoreError::from)?);
            taken.insert(theirs);
        }
        if taken.is_empty() {
            return Ok(());
        }
        // Written down first: when we die in the middle, no alias may lead to these collections any more, and a writer that
        // sleeps before its swap must find its own gone, whoever takes over after us.
        let list =
            serde_json::to_string(&taken).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.put(vec![Row::plain(TAKEN_ROW, list)])?;
        for stale in published + 1..self.fence {
            self.server
                .point(&self.names.claim(stale), &self.collection)
                .map_err(|trouble| self.lost(trouble))?;
        }
        for theirs in &taken {
            self.former = self.server.alias(&self.names.current()).map_err(StoreError::from)?;
            if self.former.as_ref() != Some(theirs) {
                drop_unless_used(self.server, theirs).map_err(StoreError::from)?;
            }
        }
        Ok(())
    }

    fn published(&self) -> u64 {
        self.former.as_deref().and_then(|collection| self.names.fence(collection)).unwrap_or(0)
    }

    /// Writes rows of the generation, and with them that we live.
    pub(crate) fn put(&mut self, rows: Vec<Row>) -> Result<(), ShareError> {
        self.server.put(&self.collection, rows).map_err(|trouble| self.lost(trouble))?;
        self.renew()
    }

    /// Shows that we live, when a third of the term has passed.
    pub(crate) fn renew(&mut self) -> Result<(), ShareError> {
        match self.beaten.elapsed() * 3 < self.term {
            true => Ok(()),
            false => self.write_beat(false),
        }
    }

    /// Looks whether the claim is still ours, and shows that we live, however lately we did.
    pub(crate) fn confirm(&mut self) -> Result<(), ShareError> {
        self.check_held()?;
        self.write_beat(false)
    }

    fn check_held(&self) -> Result<(), ShareError> {
        let held = self.server.alias(&self.names.claim(self.fence)).map_err(StoreError::from)?;
        match held.as_deref() == Some(self.collection.as_str()) {
            true => Ok(()),
            false => Err(ShareError::Lost),
        }
    }

    fn write_beat(&mut self, released: bool) -> Result<(), ShareError> {
        self.beat += 1;
        let beat = Beat { owner: self.owner.clone(), beat: self.beat, released };
        let text =
            serde_json::to_string(&beat).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let row = Row::plain(LEASE_ROW, text);
        self.server.put(&self.collection, vec![row]).map_err(|trouble| self.lost(trouble))?;
        self.beaten = Instant::now();
        Ok(())
    }

    /// A collection of ours that is gone was taken from us.
    fn lost(&self, trouble: Trouble) -> ShareError {
        match trouble.kind {
            TroubleKind::Missing => ShareError::Lost,
            _ => ShareError::Store(trouble.into()),
        }
    }

    /// Lets the generation answer, if the claim is still ours; then drops what is older than the one before it.
    pub(crate) fn publish(self) -> Result<u64, ShareError> {
        self.check_held()?;
        let current = self.names.current();
        match self.server.point(&current, &self.collection) {
            Ok(()) => {}
            // Refused by name: between the look and the step it was taken from us.
            Err(trouble) if trouble.kind == TroubleKind::Missing => return Err(ShareError::Lost),
            Err(trouble) if !trouble.is_outage() => return Err(ShareError::Store(trouble.into())),
            // It may have been done without our hearing of it.
            Err(trouble) => match self.server.alias(&current) {
                Ok(Some(found)) if found == self.collection => {}
                _ => return Err(ShareError::Unanswered(trouble.into())),
            },
        }
        if let Err(trouble) = self.drop_old() {
            tracing::warn!(%trouble, "old shared generations are left on the server");
        }
        Ok(self.fence)
    }

    /// Drops what is older than the former generation, which stays until the next share: somebody may be reading it.
    fn drop_old(&self) -> Result<(), Trouble> {
        let mut old = BTreeSet::new();
        for fence in (1..self.published()).rev() {
            let alias = self.names.claim(fence);
            let Some(collection) = self.server.alias(&alias)? else { break };
            self.server.drop_alias(&alias)?;
            if self.names.fence(&collection).is_some_and(|fence| fence < self.published()) {
                old.insert(collection);
            }
        }
        old.iter().try_for_each(|collection| drop_unless_used(self.server, collection))
    }

    /// Lets the next one begin at once.
    pub(crate) fn give_up(mut self) {
        if let Err(error) = self.write_beat(true) {
            tracing::debug!(%error, "the next share waits until this one's term is over");
        }
    }
}

/// The number that can be claimed: the one after what is published, or after a writer that is not heard of any more.
/// None when everything changed meanwhile.
fn free_after(
    server: &dyn Server,
    names: &Names,
    published: u64,
    term: Duration,
) -> Result<Option<u64>, ShareError> {
    let unavailable = |trouble: Trouble| ShareError::Store(trouble.into());
    let mut newest = None;
    for fence in published + 1.. {
        match server.alias(&names.claim(fence)).map_err(unavailable)? {
            Some(collection) => newest = Some((fence, collection)),
            None => break,
        }
    }
    let Some((fence, collection)) = newest else { return Ok(Some(published + 1)) };
    let first = beat(server, &collection).map_err(unavailable)?;
    if first.as_ref().is_some_and(|beat| beat.released) {
        return Ok(Some(fence + 1));
    }
    let since = Instant::now();
    while since.elapsed() < term {
        pause(term / LOOKS);
        if server.alias(&names.claim(fence)).map_err(unavailable)?.as_deref() != Some(collection.as_str())
            || server.alias(&names.current()).map_err(unavailable)?.as_deref() == Some(collection.as_str())
        {
            return Ok(None);
        }
        let now = beat(server, &collection).map_err(unavailable)?;
        if now.as_ref().is_some_and(|beat| beat.released) {
            return Ok(Some(fence + 1));
        }
        if now != first {
            let owner = now.or(first).map_or_else(|| "another machine".into(), |beat| beat.owner);
            return Err(ShareError::Busy { owner });
        }
    }
    Ok(Some(fence + 1))
}

/// What the writer of this collection took over and may not have dropped.
fn taken_by(server: &dyn Server, collection: &str) -> Result<BTreeSet<String>, Trouble> {
    match server.get(Kind::Read, collection, &[TAKEN_ROW.to_owned()], Columns::Data) {
        Ok(rows) => Ok(rows.first().and_then(|row| serde_json::from_str(&row.data).ok()).unwrap_or_default()),
        Err(trouble) if trouble.kind == TroubleKind::Missing => Ok(BTreeSet::new()),
        Err(trouble) => Err(trouble),
    }
}

fn beat(server: &dyn Server, collection: &str) -> Result<Option<Beat>, Trouble> {
    match server.get(Kind::Read, collection, &[LEASE_ROW.to_owned()], Columns::Data) {
        Ok(rows) => Ok(rows.first().and_then(|row| serde_json::from_str(&row.data).ok())),
        Err(trouble) if trouble.kind == TroubleKind::Missing => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// Drops a collection; one that an alias stands for after all is refused by the server, and stays.
fn drop_unless_used(server: &dyn Server, collection: &str) -> Result<(), Trouble> {
    match server.drop_collection(collection) {
        Err(trouble) if trouble.kind == TroubleKind::Refused => {
            tracing::warn!(%trouble, "a shared generation is still in use");
            Ok(())
        }
        other => other,
    }
}

fn pause(time: Duration) {
    #[allow(clippy::disallowed_methods, reason = "another machine's lease gives no signal")]
    std::thread::sleep(time);
}
