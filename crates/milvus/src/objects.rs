//! What is shared of files: each version once, under a key that is made of its content, and its vectors by what was
//! embedded. Nothing here is ever changed or written twice, by nobody: a key that is there has its content.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::names::{self, Names};
use crate::packing;
use crate::server::{Columns, Kind, Row, Server};
use crate::trouble::{Trouble, TroubleKind};
use chartroom_search::store::{Chunk, FileRecord, FileStamp, Fingerprint, StoreError, Symbol};
use chartroom_search::symbols::Facts;

/// A version of a file without its vectors and its stat.
#[derive(Serialize, Deserialize)]
struct Version {
    chunks: Vec<Chunk>,
    symbols: Vec<Symbol>,
    /// Named as it is stored.
    #[serde(rename = "graph")]
    facts: Facts,
    /// Whether its chunks have vectors.
    vectors: bool,
}

/// What was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) files: u64,
    pub(crate) vectors: u64,
    pub(crate) bytes: u64,
}

impl Sent {
    pub(crate) fn add(&mut self, more: Self) {
        self.files += more.files;
        self.vectors += more.vectors;
        self.bytes += more.bytes;
    }
}

/// The shared versions of one project's files.
pub(crate) struct Objects<'a> {
    server: &'a dyn Server,
    names: Names,
    fingerprint: &'a Fingerprint,
}

impl<'a> Objects<'a> {
    pub(crate) fn new(server: &'a dyn Server, names: Names, fingerprint: &'a Fingerprint) -> Self {
        Self { server, names, fingerprint }
    }

    /// Makes the collections, or finds that they are what they must be.
    pub(crate) fn prepare(&self) -> Result<(), Trouble> {
        self.server.create(&names::files(self.fingerprint), Row::NO_VECTOR)?;
        match self.fingerprint.embedding_dimension {
            0 => Ok(()),
            dimension => self.server.create(&names::vectors(self.fingerprint), dimension),
        }
    }

    /// The files that are not there, of these.
    pub(crate) fn missing<'f>(
        &self,
        files: &'f BTreeMap<String, String>,
    ) -> Result<Vec<(&'f String, &'f String)>, Trouble> {
        let keys: Vec<String> = files.iter().map(|(path, hash)| self.names.file_key(path, hash)).collect();
        let there = self.ids(&names::files(self.fingerprint), &keys)?;
        let pairs = files.iter().zip(&keys).filter(|(_, key)| !there.contains(*key));
        Ok(pairs.map(|(pair, _)| pair).collect())
    }

    fn ids(&self, collection: &str, ids: &[String]) -> Result<BTreeSet<String>, Trouble> {
        Ok(self
            .server
            .get(Kind::Read, collection, ids, Columns::Ids)?
            .into_iter()
            .map(|row| row.id)
            .collect())
    }

    /// Sends these files: vectors first, then the later rows, then the row that says that the file is there.
    pub(crate) fn send(&self, records: &[FileRecord]) -> Result<Sent, StoreError> {
        let mut sent = Sent { files: records.len() as u64, ..Sent::default() };
        let mut vectors: BTreeMap<String, &Vec<f32>> = BTreeMap::new();
        for record in records {
            for (chunk, vector) in record.chunks.iter().zip(&record.vectors) {
                vectors.insert(self.names.vector_key(&chunk.content_hash), vector);
            }
        }
        if !vectors.is_empty() {
            let collection = names::vectors(self.fingerprint);
            let keys: Vec<String> = vectors.keys().cloned().collect();
            let there = self.ids(&collection, &keys)?;
            let rows: Vec<Row> = vectors
                .into_iter()
                .filter(|(key, _)| !there.contains(key))
                .map(|(id, vector)| Row { id, data: String::new(), vector: vector.clone() })
                .collect();
            sent.vectors = rows.len() as u64;
            sent.bytes += bytes(&rows);
            self.server.put(&collection, rows)?;
        }
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for record in records {
            let version = Version {
                chunks: record.chunks.clone(),
                symbols: record.symbols.clone(),
                facts: record.facts.clone(),
                vectors: !record.vectors.is_empty(),
            };
            let key = self.names.file_key(&record.rel_path, &record.stamp.hash);
            let mut rows = packing::pack(&key, &version)?.into_iter();
            first.extend(rows.next());
            later.extend(rows);
        }
        let collection = names::files(self.fingerprint);
        sent.bytes += bytes(&first) + bytes(&later);
        self.server.put(&collection, later)?;
        self.server.put(&collection, first)?;
        Ok(sent)
    }

    /// What is known of these versions, in the order asked. One that cannot be read whole is not known.
    pub(crate) fn fetch(&self, wanted: &[(&str, &FileStamp)]) -> Result<Vec<Option<FileRecord>>, StoreError> {
        let keys: Vec<String> =
            wanted.iter().map(|(path, stamp)| self.names.file_key(path, &stamp.hash)).collect();
        let mut versions = match self.versions(&keys) {
            Ok(versions) => versions,
            Err(trouble) if trouble.kind == TroubleKind::Missing => HashMap::new(),
            Err(trouble) => return Err(trouble.into()),
        };
        let vectors = self.vectors(versions.values())?;
        let record = |((path, stamp), key): (&(&str, &FileStamp), &String)| {
            let version = versions.remove(key)?;
            // Made for another path or of other text: a key that lies is not believed.
            if version.chunks.iter().any(|chunk| chunk.rel_path != *path) {
                return None;
            }
            let found: Option<Vec<Vec<f32>>> = match version.vectors {
                true => {
                    version.chunks.iter().map(|chunk| vectors.get(&chunk.content_hash).cloned()).collect()
                }
                false => Some(Vec::new()),
            };
            Some(FileRecord {
                rel_path: (*path).to_owned(),
                stamp: (*stamp).clone(),
                chunks: version.chunks,
                vectors: found?,
                symbols: version.symbols,
                facts: version.facts,
            })
        };
        Ok(wanted.iter().zip(&keys).map(record).collect())
    }

    fn versions(&self, keys: &[String]) -> Result<HashMap<String, Version>, Trouble> {
        let collection = names::files(self.fingerprint);
        let mut texts: HashMap<String, String> = HashMap::new();
        let first = self.server.get(Kind::Read, &collection, keys, Columns::Data)?;
        let mut later = Vec::new();
        for row in &first {
            for at in 1..=packing::more_parts(&row.data).unwrap_or(0) {
                later.push(packing::part_id(&row.id, at));
            }
        }
        if !later.is_empty() {
            let rows = self.server.get(Kind::Read, &collection, &later, Columns::Data)?;
            texts.extend(rows.into_iter().map(|row| (row.id, row.data)));
        }
        let mut versions = HashMap::new();
        for row in first {
            let more = packing::more_parts(&row.data).unwrap_or(0);
            let rest: Option<Vec<&str>> =
                (1..=more).map(|at| texts.get(&packing::part_id(&row.id, at)).map(String::as_str)).collect();
            let Some(rest) = rest else { continue };
            let rows: Vec<&str> = std::iter::once(row.data.as_str()).chain(rest).collect();
            match packing::unpack::<Version>(&rows) {
                Ok(version) => drop(versions.insert(row.id, version)),
                Err(error) => tracing::warn!(key = row.id, %error, "a shared file is left out"),
            }
        }
        Ok(versions)
    }

    /// The keys of the vectors of these versions, as far as they can be read.
    pub(crate) fn vector_keys(&self, keys: &[String]) -> Result<BTreeSet<String>, StoreError> {
        let versions = self.versions(keys)?;
        let chunks = versions.values().filter(|version| version.vectors).flat_map(|version| &version.chunks);
        Ok(chunks.map(|chunk| self.names.vector_key(&chunk.content_hash)).collect())
    }

    /// The vectors of these versions by content hash.
    fn vectors<'v>(
        &self,
        versions: impl Iterator<Item = &'v Version>,
    ) -> Result<HashMap<String, Vec<f32>>, StoreError> {
        let mut hashes: BTreeMap<String, &String> = BTreeMap::new();
        for chunk in versions.filter(|version| version.vectors).flat_map(|version| &version.chunks) {
            hashes.insert(self.names.vector_key(&chunk.content_hash), &chunk.content_hash);
        }
        if hashes.is_empty() {
            return Ok(HashMap::new());
        }
        let keys: Vec<String> = hashes.keys().cloned().collect();
        let rows = self.server.get(Kind::Read, &names::vectors(self.fingerprint), &keys, Columns::Vectors)?;
        let fits = |row: &Row| row.vector.len() == self.fingerprint.embedding_dimension as usize;
        let found = rows.into_iter().filter(fits).filter_map(|row| {
            let hash = hashes.get(&row.id)?;
            Some(((*hash).clone(), row.vector))
        });
        Ok(found.collect())
    }
}

fn bytes(rows: &[Row]) -> u64 {
    rows.iter().map(|row| (row.id.len() + row.data.len() + 4 * row.vector.len()) as u64).sum()
}
