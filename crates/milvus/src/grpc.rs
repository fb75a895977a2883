//! A real server: Milvus, Zilliz Cloud, or the lite server of the tests, through the SDK's second API.
//!
//! The SDK would retry 75 times and report to the server how it is used; both are off. What is asked again is decided
//! here: rows that are written are the same whenever they are written, so that those alone are.

mod dial;
mod errors;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::result::Result;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use milvus::v2::ConsistencyLevel;
use milvus::v2::prelude::*;
use tokio::runtime::Runtime;

use crate::breaker::Breaker;
use crate::server::{Columns, Kind, Row, Server};
use crate::trouble::{Trouble, TroubleKind};
use errors::trouble_of;

/// How long a person who searches waits for the server, and how long a connection may take to be made.
const PROBE: Duration = Duration::from_secs(2);
/// How often rows are written at most.
const ATTEMPTS: u32 = 3;
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(300);
/// How often it is looked whether another machine has made what we were not let to make.
const LOOKS: u32 = 20;
/// Rows of one request; of those that are read the SDK takes 4 MB at a time.
const WRITE_BYTES: usize = 4 << 20;
const READ_BYTES: usize = 3 << 20;
/// Ids that are deleted by one request.
const DELETE_BYTES: usize = 64 << 10;
/// Ids that one query lists; Milvus allows 16,384.
const LISTED: usize = 10_000;

/// Where a server is and how one is let in.
#[derive(Clone)]
pub struct Address {
    /// `http://host:port` or `https://host:port`.
    pub uri: String,
    /// `user:password`, or an API key.
    pub token: Option<String>,
    /// The database; `default` when none is named.
    pub database: Option<String>,
    /// The certificates to trust instead of the system's, PEM.
    pub ca_file: Option<PathBuf>,
}

/// A client, connected when it is first needed.
pub struct MilvusServer {
    address: Address,
    /// Ends without waiting for it.
    runtime: Option<Runtime>,
    client: Mutex<Option<ClientV2>>,
    breaker: Breaker,
    probe: Duration,
    /// Ids that one query lists.
    listed: usize,
}

impl MilvusServer {
    /// Names a server; nothing is asked of it yet.
    pub fn new(address: Address) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("milvus")
            .enable_all()
            .build()?;
        let (client, breaker) = (Mutex::default(), Breaker::default());
        Ok(Self { address, runtime: Some(runtime), client, breaker, probe: PROBE, listed: LISTED })
    }

    /// The same with another patience.
    pub fn with_patience(mut self, probe: Duration) -> Self {
        self.probe = probe;
        self
    }

    /// The same, which lists so many ids at once.
    #[cfg(test)]
    pub(crate) fn with_listed(mut self, listed: usize) -> Self {
        self.listed = listed;
        self
    }

    fn limit(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Probe => self.probe,
            Kind::Read => Duration::from_secs(10),
            Kind::Write | Kind::Define => Duration::from_secs(30),
        }
    }

    async fn client(&self) -> Result<ClientV2, Trouble> {
        if let Some(client) = &*self.client.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(client.clone());
        }
        let mut config = ConnectConfig::new()
            .uri(self.address.uri.as_str())
            .connect_timeout(self.probe)
            .rpc_timeout(Duration::from_secs(30))
            .retry(RetryConfig::new().max_attempts(1))
            .telemetry(TelemetryConfig::new().enabled(false));
        if let Some(token) = &self.address.token {
            config = config.token(token.as_str());
        }
        if let Some(database) = &self.address.database {
            config = config.database(database.as_str());
        }
        if let Some(file) = &self.address.ca_file {
            config = config.ca_certificate(file.to_string_lossy());
        }
        let client = tokio::select! {
            biased;
            client = ClientV2::new(&config) => client.map_err(|error| self.trouble(error))?,
            why = dial::unreachable(&self.address, self.probe) => return Err(why),
        };
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
        Ok(client)
    }

    fn trouble(&self, error: Error) -> Trouble {
        let Trouble { kind, text } = trouble_of(&error);
        Trouble::new(kind, format!("{} at {}", text, self.address()))
    }

    /// Asks, within the limit of the kind, unless the last answer of that kind was an outage a moment ago.
    fn ask<T>(&self, kind: Kind, question: impl AsyncFn(ClientV2) -> Result<T, Error>) -> Result<T, Trouble> {
        self.breaker.check(kind, Instant::now())?;
        let Some(runtime) = &self.runtime else {
            return Err(Trouble::new(TroubleKind::Unavailable, "the client has ended"));
        };
        let limit = self.limit(kind);
        let answer = runtime.block_on(async {
            let late = || {
                let text = format!("no answer within {} s at {}", limit.as_secs(), self.address.uri);
                Trouble::new(TroubleKind::Timeout, text)
            };
            let asked = async {
                let client = self.client().await?;
                question(client).await.map_err(|error| self.trouble(error))
            };
            tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(late()))
        });
        self.breaker.note(kind, Instant::now(), &answer);
        answer
    }

    fn load(&self, collection: &str) -> Result<(), Trouble> {
        self.insist(Kind::Define, async |client| {
            let request = LoadCollectionRequest::builder().collection_name(collection).build()?;
            client.load_collection(request).await
        })
    }

    /// Whether a collection that we were not let to make is there soon, by another's hand.
    fn appears(&self, collection: &str) -> Result<bool, Trouble> {
        for _ in 0..LOOKS {
            if self.dimension(collection)?.is_some() {
                return Ok(true);
            }
            #[allow(clippy::disallowed_methods, reason = "another machine's call gives us no signal")]
            std::thread::sleep(PAUSE);
        }
        Ok(false)
    }

    /// Rows that a filter lets through, so many at most.
    fn query(
        &self,
        kind: Kind,
        collection: &str,
        filter: &str,
        fields: &[&str],
        limit: usize,
    ) -> Result<QueryResponse, Trouble> {
        let query = async |client: ClientV2| {
            let request = QueryRequest::builder()
                .collection_name(collection)
                .filter(filter)
                .output_fields(fields.iter().copied())
                .consistency_level(ConsistencyLevel::Strong)
                .limit(limit as i64)
                .build()?;
            client.query(request).await
        };
        match self.insist(kind, query) {
            // The lite server forgets at a restart what was loaded, and people can release a collection.
            Err(trouble) if trouble.kind == TroubleKind::NotLoaded => {
                self.load(collection)?;
                self.insist(kind, query)
            }
            other => other,
        }
    }

    /// Rows whose ids begin so, as many as are listed at once.
    fn begin_so(&self, collection: &str, prefix: &str) -> Result<Vec<Row>, Trouble> {
        let filter = format!("id like \"{prefix}%\"");
        let answer = self.query(Kind::Read, collection, &filter, &["id"], self.listed)?;
        rows_of(answer.results(), Columns::Ids)
    }

    /// Asks again after an outage: for what is the same however often it is done.
    fn insist<T>(
        &self,
        kind: Kind,
        question: impl AsyncFn(ClientV2) -> Result<T, Error>,
    ) -> Result<T, Trouble> {
        let again = async |client: ClientV2| {
            let mut answer = question(client.clone()).await;
            for _ in 1..ATTEMPTS {
                match &answer {
                    Err(error) if trouble_of(error).is_outage() => {
                        tokio::time::sleep(PAUSE).await;
                        answer = question(client.clone()).await;
                    }
                    _ => break,
                }
            }
            answer
        };
        self.ask(kind, again)
    }
}

impl Drop for MilvusServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Server for MilvusServer {
    fn dimension(&self, collection: &str) -> Result<Option<u32>, Trouble> {
        let described = self.ask(Kind::Define, async |client| {
            let request = DescribeCollectionRequest::builder().collection_name(collection).build()?;
            client.describe_collection(request).await
        });
        let described = match described {
            Ok(described) => described,
            Err(trouble) if trouble.kind == TroubleKind::Missing => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        let schema = described.description().get_schema();
        let kinds: Vec<(&str, DataType)> =
            schema.get_fields().iter().map(|field| (field.get_name(), field.get_data_type())).collect();
        let wanted =
            [("id", DataType::VarChar), ("data", DataType::VarChar), ("vector", DataType::FloatVector)];
        if kinds != wanted {
            return Err(Trouble::new(
                TroubleKind::Shape,
                format!(
                    "the collection {collection} has other columns than ours; drop or rename it at {}",
                    self.address()
                ),
            ));
        }
        Ok(schema.get_fields().last().map(FieldSchema::get_dimension))
    }

    fn create(&self, collection: &str, dimension: u32) -> Result<(), Trouble> {
        let created = self.ask(Kind::Define, async |client| {
            let text = |name: &str, length: u32| {
                FieldSchema::new().name(name).data_type(DataType::VarChar).max_length(length)
            };
            let vector =
                FieldSchema::new().name("vector").data_type(DataType::FloatVector).dimension(dimension);
            let schema = CollectionSchema::new()
                .add_field(text("id", 128).primary_key(true))
                .add_field(text("data", 65_535))
                .add_field(vector);
            let request =
                CreateCollectionRequest::builder().collection_name(collection).schema(schema).build()?;
            client.create_collection(request).await
        });
        if let Err(trouble) = created {
            // Another machine may have been quicker, or be in the middle of it; what it makes must be what we would have.
            if trouble.kind != TroubleKind::Refused || !self.appears(collection)? {
                return Err(trouble);
            }
        }
        match self.dimension(collection)? {
            Some(found) if found == dimension => {}
            Some(found) => {
                return Err(Trouble::new(
                    TroubleKind::Shape,
                    format!(
                        "the collection {collection} has vectors of {found} dimensions, not {dimension}; drop or rename it at {}",
                        self.address()
                    ),
                ));
            }
            None => return Err(Trouble::new(TroubleKind::Missing, format!("{collection} is gone again"))),
        }
        self.insist(Kind::Define, async |client| {
            let index = IndexParam::new()
                .field_name("vector")
                .index_type(if dimension == Row::NO_VECTOR { IndexType::Flat } else { IndexType::AutoIndex })
                .metric_type(MetricType::Ip);
            let request = CreateIndexRequest::builder()
                .collection_name(collection)
                .index_params(vec![index])
                .build()?;
            match client.create_index(request).await {
                // It has one.
                Err(Error::Server(error)) if error.reason().contains("exist") => {}
                other => drop(other?),
            }
            client
                .load_collection(LoadCollectionRequest::builder().collection_name(collection).build()?)
                .await
        })
    }

    fn drop_collection(&self, collection: &str) -> Result<(), Trouble> {
        let dropped = self.insist(Kind::Define, async |client| {
            let request = DropCollectionRequest::builder().collection_name(collection).build()?;
            client.drop_collection(request).await
        });
        missing_is_fine(dropped)
    }

    fn put(&self, collection: &str, rows: Vec<Row>) -> Result<(), Trouble> {
        let size = |row: &Row| row.id.len() + row.data.len() + 4 * row.vector.len() + 16;
        for batch in batches(&rows, WRITE_BYTES, size) {
            self.insist(Kind::Write, async |client| {
                let columns = vec![
                    FieldData::varchar("id", batch.iter().map(|row| row.id.clone()).collect()),
                    FieldData::varchar("data", batch.iter().map(|row| row.data.clone()).collect()),
                    FieldData::float_vector("vector", batch.iter().map(|row| row.vector.clone()).collect()),
                ];
                let insert = InsertRequest::builder().collection_name(collection).columns(columns).build()?;
                client.upsert(UpsertRequest::builder().insert(insert).build()?).await.map(drop)
            })?;
        }
        Ok(())
    }

    fn get(
        &self,
        kind: Kind,
        collection: &str,
        ids: &[String],
        columns: Columns,
    ) -> Result<Vec<Row>, Trouble> {
        let mut found = Vec::new();
        let (fields, expected): (&[&str], usize) = match columns {
            Columns::Ids => (&["id"], 256),
            Columns::Data => (&["id", "data"], Row::MAX_DATA),
            // Of 3,072 dimensions.
            Columns::Vectors => (&["id", "vector"], 13 << 10),
        };
        for batch in batches(ids, READ_BYTES, |_| expected) {
            let answer = self.query(kind, collection, &one_of(batch), fields, batch.len())?;
            found.extend(rows_of(answer.results(), columns)?);
        }
        Ok(found)
    }

    fn ids(&self, collection: &str, prefix: &str) -> Result<BTreeSet<String>, Trouble> {
        // A query has no order and its answer a limit: where more may be, the next digit of the hash parts them.
        let (mut found, mut prefixes) = (BTreeSet::new(), vec![prefix.to_owned()]);
        while let Some(prefix) = prefixes.pop() {
            let page = self.begin_so(collection, &prefix)?;
            match page.len() < self.listed {
                // `_` stands for any character there.
                true => found.extend(page.into_iter().map(|row| row.id).filter(|id| id.starts_with(&prefix))),
                false => prefixes.extend("0123456789abcdef".chars().map(|digit| format!("{prefix}{digit}"))),
            }
        }
        Ok(found)
    }

    fn delete(&self, collection: &str, ids: &[String]) -> Result<(), Trouble> {
        for batch in batches(ids, DELETE_BYTES, String::len) {
            self.insist(Kind::Write, async |client| {
                let request =
                    DeleteRequest::builder().collection_name(collection).filter(one_of(batch)).build()?;
                client.delete(request).await.map(drop)
            })?;
        }
        Ok(())
    }

    fn alias(&self, alias: &str) -> Result<Option<String>, Trouble> {
        let described = self.ask(Kind::Define, async |client| {
            client.describe_alias(DescribeAliasRequest::builder().alias(alias).build()?).await
        });
        match described {
            Ok(described) => Ok(Some(described.collection_name().to_owned())),
            Err(trouble) if trouble.kind == TroubleKind::Missing => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    fn claim(&self, alias: &str, collection: &str) -> Result<bool, Trouble> {
        let created = self.ask(Kind::Define, async |client| {
            let request = CreateAliasRequest::builder().alias(alias).collection_name(collection).build()?;
            client.create_alias(request).await
        });
        // What the alias stands for now decides, whatever came of the call.
        match (self.alias(alias)?, created) {
            (Some(found), _) => Ok(found == collection),
            (None, Err(trouble)) => Err(trouble),
            (None, Ok(())) => {
                Err(Trouble::new(TroubleKind::Unavailable, format!("the alias {alias} went as it came")))
            }
        }
    }

    fn point(&self, alias: &str, collection: &str) -> Result<(), Trouble> {
        if self.alias(alias)?.is_none() && self.claim(alias, collection)? {
            return Ok(());
        }
        self.ask(Kind::Define, async |client| {
            let request = AlterAliasRequest::builder().alias(alias).collection_name(collection).build()?;
            client.alter_alias(request).await
        })
    }

    fn drop_alias(&self, alias: &str) -> Result<(), Trouble> {
        let dropped = self.insist(Kind::Define, async |client| {
            client.drop_alias(DropAliasRequest::builder().alias(alias).build()?).await
        });
        missing_is_fine(dropped)
    }

    fn address(&self) -> String {
        match &self.address.database {
            Some(database) => format!("{} (database {database})", self.address.uri),
            None => self.address.uri.clone(),
        }
    }

    fn version(&self) -> Result<String, Trouble> {
        self.ask(Kind::Probe, async |client| {
            let request = GetServerVersionRequest::builder().build()?;
            Ok(client.server_version(request).await?.version().to_owned())
        })
    }

    fn last_trouble(&self) -> Option<(String, String)> {
        self.breaker.last()
    }
}

fn missing_is_fine(outcome: Result<(), Trouble>) -> Result<(), Trouble> {
    match outcome {
        Err(trouble) if trouble.kind != TroubleKind::Missing => Err(trouble),
        _ => Ok(()),
    }
}

fn one_of(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    format!("id in [{}]", quoted.join(","))
}

/// Cuts a list so that no piece is larger than this, or has a single item.
fn batches<T>(items: &[T], limit: usize, size: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut pieces, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, item) in items.iter().enumerate() {
        let more = size(item);
        if at > start && bytes + more > limit {
            pieces.push(&items[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += more;
    }
    if start < items.len() {
        pieces.push(&items[start..]);
    }
    pieces
}

/// Rows out of columns.
fn rows_of(results: &QueryResults, columns: Columns) -> Result<Vec<Row>, Trouble> {
    let column = |name: &str| results.get_output_fields().iter().find(|field| field.name() == name);
    let odd = |what: &str| Trouble::new(TroubleKind::Parse, format!("the server's rows have no {what}"));
    let Some(ids) = column("id").and_then(FieldData::as_varchar) else {
        // A query that finds nothing may answer without columns.
        return if results.get_row_count() == 0 { Ok(Vec::new()) } else { Err(odd("ids")) };
    };
    let mut rows: Vec<Row> =
        ids.iter().map(|id| Row { id: id.clone(), data: String::new(), vector: Vec::new() }).collect();
    let n_found = match columns {
        Columns::Ids => ids.len(),
        Columns::Data => {
            let data = column("data").and_then(FieldData::as_varchar).ok_or_else(|| odd("data"))?;
            rows.iter_mut().zip(data).for_each(|(row, data)| row.data.clone_from(data));
            data.len()
        }
        Columns::Vectors => {
            let vectors =
                column("vector").and_then(FieldData::as_float_vectors).ok_or_else(|| odd("vectors"))?;
            rows.iter_mut().zip(vectors).for_each(|(row, vector)| row.vector.clone_from(vector));
            vectors.len()
        }
    };
    if n_found == ids.len() { Ok(rows) } else { Err(odd("length that fits")) }
}
