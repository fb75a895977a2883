//! What is asked of a server: rows by id, and aliases. The rest of this crate knows no more of Milvus than this.
//!
//! An alias that can be created by one alone is the only thing in Milvus that two machines cannot both have: the claim
//! of a writer stands on it (see `claim`).

use std::collections::BTreeSet;

use crate::trouble::Trouble;

/// One row of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The primary key.
    pub id: String,
    /// At most [`Row::MAX_DATA`] bytes.
    pub data: String,
    /// As long as the collection's dimension says.
    pub vector: Vec<f32>,
}

impl Row {
    /// What a text column of Milvus holds.
    pub const MAX_DATA: usize = 65_535;
    /// The dimension of rows that have no vector: a collection must have one.
    pub const NO_VECTOR: u32 = 2;

    /// A row of a collection without vectors.
    pub fn plain(id: impl Into<String>, data: impl Into<String>) -> Self {
        Self { id: id.into(), data: data.into(), vector: vec![1.0, 0.0] }
    }
}

/// What a call is for; each kind has its own time limit and its own breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Looking for a marker, while a person waits.
    Probe,
    /// Reading rows.
    Read,
    /// Writing rows.
    Write,
    /// Making and dropping collections and aliases.
    Define,
}

/// Which columns of rows are read; the others are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Only whether a row is there.
    Ids,
    /// Its text.
    Data,
    /// Its vector.
    Vectors,
}

/// A server of collections. Blocking.
pub trait Server: Send + Sync {
    /// The dimension of a collection of ours; none when there is no such collection. One with other columns is trouble.
    fn dimension(&self, collection: &str) -> Result<Option<u32>, Trouble>;

    /// Makes a collection with an index, ready to be read. One that is there with this dimension is fine.
    fn create(&self, collection: &str, dimension: u32) -> Result<(), Trouble>;

    /// Drops a collection; one that is gone is fine.
    fn drop_collection(&self, collection: &str) -> Result<(), Trouble>;

    /// Writes rows; a row with the same id is replaced. Missing when there is no such collection.
    fn put(&self, collection: &str, rows: Vec<Row>) -> Result<(), Trouble>;

    /// The rows with these ids, in any order. Missing when there is no such collection.
    fn get(
        &self,
        kind: Kind,
        collection: &str,
        ids: &[String],
        columns: Columns,
    ) -> Result<Vec<Row>, Trouble>;

    /// The ids that begin so, of rows whose ids go on with a hash in hexadecimal. Missing when there is no such collection.
    fn ids(&self, collection: &str, prefix: &str) -> Result<BTreeSet<String>, Trouble>;

    /// Deletes rows; one that is gone is fine. Missing when there is no such collection.
    fn delete(&self, collection: &str, ids: &[String]) -> Result<(), Trouble>;

    /// The collection that an alias stands for.
    fn alias(&self, alias: &str) -> Result<Option<String>, Trouble>;

    /// Creates an alias; false when it stands for another collection already. Of two that try, one succeeds.
    fn claim(&self, alias: &str, collection: &str) -> Result<bool, Trouble>;

    /// Lets an alias stand for a collection, whatever it stood for. Missing when there is no such collection.
    fn point(&self, alias: &str, collection: &str) -> Result<(), Trouble>;

    /// Drops an alias; one that is gone is fine.
    fn drop_alias(&self, alias: &str) -> Result<(), Trouble>;

    /// Where the server is, for people.
    fn address(&self) -> String;

    /// Asks whether it serves, and says what it calls itself.
    fn version(&self) -> Result<String, Trouble>;

    /// The last trouble, and when (RFC 3339).
    fn last_trouble(&self) -> Option<(String, String)> {
        None
    }
}
