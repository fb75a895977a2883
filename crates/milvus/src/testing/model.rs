//! A server in memory. Clones share what they hold, as machines share a server.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::server::{Columns, Kind, Row, Server};
use crate::trouble::{Trouble, TroubleKind};

#[derive(Debug, Default, Clone, PartialEq)]
struct Held {
    collections: BTreeMap<String, (u32, BTreeMap<String, Row>)>,
    aliases: BTreeMap<String, String>,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// It is not done, and says so.
    Refuse(TroubleKind),
    /// It is done, and the answer is lost.
    LoseAnswer,
    /// The process ends before it.
    Kill,
}

/// The panic that stands for the end of the process.
pub(crate) struct Killed;

/// What becomes of the calls to come, and of all when those are used up.
type Script = (VecDeque<Option<Fault>>, Option<Fault>);

/// After so many calls more, this.
type Before = (usize, Box<dyn FnOnce() + Send>);

#[derive(Default, Clone)]
pub(crate) struct Model {
    held: Arc<Mutex<Held>>,
    /// This machine's own.
    script: Arc<Mutex<Script>>,
    /// How many calls this machine made.
    calls: Arc<Mutex<usize>>,
    /// Whether this machine may delete rows.
    deletions: Arc<Mutex<Option<TroubleKind>>>,
    /// What happens before a call of this machine.
    before: Arc<Mutex<Option<Before>>>,
}

impl Model {
    /// Another machine's way to the same server.
    pub(crate) fn seen_elsewhere(&self) -> Self {
        Self { held: Arc::clone(&self.held), ..Self::default() }
    }

    pub(crate) fn script(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        lock(&self.script).0 = faults.into_iter().collect();
    }

    pub(crate) fn always(&self, fault: Option<Fault>) {
        *lock(&self.script) = (VecDeque::new(), fault);
    }

    pub(crate) fn refuse_deletions(&self, kind: Option<TroubleKind>) {
        *lock(&self.deletions) = kind;
    }

    /// This machine sleeps before the call after so many, and this happens meanwhile.
    pub(crate) fn sleep_before(&self, calls: usize, meanwhile: impl FnOnce() + Send + 'static) {
        *lock(&self.before) = Some((calls, Box::new(meanwhile)));
    }

    fn wake(&self) {
        let mut before = lock(&self.before);
        let due = match before.take() {
            Some((0, meanwhile)) => Some(meanwhile),
            Some((more, meanwhile)) => {
                *before = Some((more - 1, meanwhile));
                None
            }
            None => None,
        };
        drop(before);
        if let Some(meanwhile) = due {
            meanwhile();
        }
    }

    pub(crate) fn calls(&self) -> usize {
        *lock(&self.calls)
    }

    /// A hand from outside empties it.
    pub(crate) fn empty(&self) {
        *lock(&self.held) = Held::default();
    }

    /// What it holds, to be put back later: a server that is restarted with old data.
    pub(crate) fn backup(&self) -> impl Fn() + use<> {
        let (held, then) = (Arc::clone(&self.held), lock(&self.held).clone());
        move || *lock(&held) = then.clone()
    }

    /// Every row of the collections whose name ends so.
    pub(crate) fn rows(&self, suffix: &str) -> usize {
        let held = lock(&self.held);
        held.collections
            .iter()
            .filter(|(name, _)| name.ends_with(suffix))
            .map(|(_, (_, rows))| rows.len())
            .sum()
    }

    pub(crate) fn collections(&self) -> Vec<String> {
        lock(&self.held).collections.keys().cloned().collect()
    }

    /// Replaces the data of a row of the generation that answers, or takes the row away.
    pub(crate) fn plant(&self, alias: &str, id: &str, data: Option<&str>) {
        let mut held = lock(&self.held);
        let name = held.aliases.get(alias).expect("the alias is there").clone();
        let (_, rows) = held.collections.get_mut(&name).expect("the collection is there");
        match data {
            Some(data) => drop(rows.insert(id.into(), Row::plain(id, data))),
            None => drop(rows.remove(id)),
        }
    }

    /// Does a call as the script says.
    fn call<T>(&self, work: impl FnOnce(&mut Held) -> Result<T, Trouble>) -> Result<T, Trouble> {
        self.wake();
        *lock(&self.calls) += 1;
        let fault = {
            let mut script = lock(&self.script);
            let always = script.1;
            script.0.pop_front().unwrap_or(always)
        };
        match fault {
            // Without the report of a panic: it is none.
            Some(Fault::Kill) => std::panic::resume_unwind(Box::new(Killed)),
            Some(Fault::Refuse(kind)) => return Err(Trouble::new(kind, "scripted")),
            Some(Fault::LoseAnswer) => {
                drop(work(&mut lock(&self.held)));
                return Err(Trouble::new(TroubleKind::Timeout, "scripted: the answer is lost"));
            }
            None => {}
        }
        work(&mut lock(&self.held))
    }
}

impl Held {
    fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    fn collection(&mut self, name: &str) -> Result<&mut (u32, BTreeMap<String, Row>), Trouble> {
        let name = self.name(name).to_owned();
        self.collections.get_mut(&name).ok_or_else(|| missing(&name))
    }
}

impl Server for Model {
    fn dimension(&self, collection: &str) -> Result<Option<u32>, Trouble> {
        self.call(|held| Ok(held.collections.get(collection).map(|(dimension, _)| *dimension)))
    }

    fn create(&self, collection: &str, dimension: u32) -> Result<(), Trouble> {
        self.call(|held| {
            let (found, _) =
                held.collections.entry(collection.into()).or_insert((dimension, BTreeMap::new()));
            match *found == dimension {
                true => Ok(()),
                false => Err(Trouble::new(TroubleKind::Shape, format!("{collection} has another dimension"))),
            }
        })
    }

    fn drop_collection(&self, collection: &str) -> Result<(), Trouble> {
        self.call(|held| {
            if held.aliases.values().any(|used| used == collection) {
                return Err(Trouble::new(TroubleKind::Refused, "an alias stands for it"));
            }
            held.collections.remove(collection);
            Ok(())
        })
    }

    fn put(&self, collection: &str, rows: Vec<Row>) -> Result<(), Trouble> {
        self.call(|held| {
            let (dimension, there) = held.collection(collection)?;
            for row in rows {
                assert_eq!(row.vector.len(), *dimension as usize, "{}", row.id);
                assert!(row.data.len() <= Row::MAX_DATA && row.id.len() <= 128);
                there.insert(row.id.clone(), row);
            }
            Ok(())
        })
    }

    fn get(&self, _: Kind, collection: &str, ids: &[String], _: Columns) -> Result<Vec<Row>, Trouble> {
        self.call(|held| {
            let (_, there) = held.collection(collection)?;
            Ok(ids.iter().filter_map(|id| there.get(id).cloned()).collect())
        })
    }

    fn ids(&self, collection: &str, prefix: &str) -> Result<BTreeSet<String>, Trouble> {
        self.call(|held| {
            let (_, there) = held.collection(collection)?;
            Ok(there.keys().filter(|id| id.starts_with(prefix)).cloned().collect())
        })
    }

    fn delete(&self, collection: &str, ids: &[String]) -> Result<(), Trouble> {
        if let Some(kind) = *lock(&self.deletions) {
            return Err(Trouble::new(kind, "scripted"));
        }
        self.call(|held| {
            let (_, there) = held.collection(collection)?;
            ids.iter().for_each(|id| drop(there.remove(id)));
            Ok(())
        })
    }

    fn alias(&self, alias: &str) -> Result<Option<String>, Trouble> {
        self.call(|held| Ok(held.aliases.get(alias).cloned()))
    }

    fn claim(&self, alias: &str, collection: &str) -> Result<bool, Trouble> {
        self.call(|held| {
            held.collection(collection)?;
            Ok(held.aliases.entry(alias.into()).or_insert_with(|| collection.into()).as_str() == collection)
        })
    }

    fn point(&self, alias: &str, collection: &str) -> Result<(), Trouble> {
        self.call(|held| {
            if !held.collections.contains_key(collection) {
                return Err(missing(collection));
            }
            held.aliases.insert(alias.into(), collection.into());
            Ok(())
        })
    }

    fn drop_alias(&self, alias: &str) -> Result<(), Trouble> {
        self.call(|held| {
            held.aliases.remove(alias);
            Ok(())
        })
    }

    fn address(&self) -> String {
        "in memory".into()
    }

    fn version(&self) -> Result<String, Trouble> {
        self.call(|_| Ok("model".into()))
    }
}

fn missing(name: &str) -> Trouble {
    Trouble::new(TroubleKind::Missing, format!("there is no {name}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
