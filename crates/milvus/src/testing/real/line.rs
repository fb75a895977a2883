//! A machine's way to a real server. Its client can be replaced, as a new process has a new one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::grpc::{Address, MilvusServer};
use crate::server::{Columns, Kind, Row, Server};
use crate::trouble::Trouble;

/// A loaded machine is slow, and no trouble.
pub(super) const PATIENT: Duration = Duration::from_secs(30);
/// Where trouble is made, waiting for it is of no use.
pub(super) const IMPATIENT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Line {
    address: Address,
    client: Arc<Mutex<Arc<MilvusServer>>>,
    /// What happens before the next time an alias is let stand for another collection.
    before_point: Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>,
}

impl Line {
    pub(super) fn to(address: Address) -> Self {
        let client = Arc::new(Mutex::new(Arc::new(client(&address, PATIENT))));
        Self { address, client, before_point: Arc::default() }
    }

    /// Another client, which waits so long for a probe and has met no trouble yet.
    pub(super) fn renew(&self, patience: Duration) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(client(&self.address, patience));
    }

    /// This machine sleeps before it lets an alias stand for another collection, and this happens meanwhile.
    pub(super) fn sleep_before_point(&self, meanwhile: impl FnOnce() + Send + 'static) {
        *self.before_point.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(meanwhile));
    }

    fn now(&self) -> Arc<MilvusServer> {
        Arc::clone(&self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn client(address: &Address, patience: Duration) -> MilvusServer {
    MilvusServer::new(address.clone()).unwrap().with_patience(patience)
}

impl Server for Line {
    fn dimension(&self, collection: &str) -> Result<Option<u32>, Trouble> {
        self.now().dimension(collection)
    }
    fn create(&self, collection: &str, dimension: u32) -> Result<(), Trouble> {
        self.now().create(collection, dimension)
    }
    fn drop_collection(&self, collection: &str) -> Result<(), Trouble> {
        self.now().drop_collection(collection)
    }
    fn put(&self, collection: &str, rows: Vec<Row>) -> Result<(), Trouble> {
        self.now().put(collection, rows)
    }
    fn get(
        &self,
        kind: Kind,
        collection: &str,
        ids: &[String],
        columns: Columns,
    ) -> Result<Vec<Row>, Trouble> {
        self.now().get(kind, collection, ids, columns)
    }
    fn ids(&self, collection: &str, prefix: &str) -> Result<BTreeSet<String>, Trouble> {
        self.now().ids(collection, prefix)
    }
    fn delete(&self, collection: &str, ids: &[String]) -> Result<(), Trouble> {
        self.now().delete(collection, ids)
    }
    fn alias(&self, alias: &str) -> Result<Option<String>, Trouble> {
        self.now().alias(alias)
    }
    fn claim(&self, alias: &str, collection: &str) -> Result<bool, Trouble> {
        self.now().claim(alias, collection)
    }
    fn point(&self, alias: &str, collection: &str) -> Result<(), Trouble> {
        let meanwhile = self.before_point.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        self.now().point(alias, collection)
    }
    fn drop_alias(&self, alias: &str) -> Result<(), Trouble> {
        self.now().drop_alias(alias)
    }
    fn address(&self) -> String {
        self.now().address()
    }
    fn version(&self) -> Result<String, Trouble> {
        self.now().version()
    }
    fn last_trouble(&self) -> Option<(String, String)> {
        self.now().last_trouble()
    }
}
