//! Where the tests of a server run: the lite one, and a standalone Milvus where the environment names one.
//!
//! `CHARTROOM_TEST_MILVUS=http://host:19530` names it, `CHARTROOM_TEST_MILVUS_TOKEN` the token. Each test makes a database
//! of its own there and drops it at its end.

use chartroom_testkit::milvus::Lite;
use milvus::v2::prelude::*;

use super::line::{Line, PATIENT};
use crate::grpc::{Address, MilvusServer};
use crate::names;
use crate::server::Server;

const ADDRESS: &str = "CHARTROOM_TEST_MILVUS";
const TOKEN: &str = "CHARTROOM_TEST_MILVUS_TOKEN";

/// A server of which a test has a database, or all, for itself.
pub(super) struct Place {
    pub(super) address: Address,
    _kept: Option<(tempfile::TempDir, Lite)>,
}

impl Place {
    /// A lite server of its own.
    pub(super) fn lite() -> Self {
        let (dir, lite) = super::lite();
        let address = Address { uri: lite.address(), token: None, database: None, ca_file: None };
        Self { address, _kept: Some((dir, lite)) }
    }

    /// A new database of the server at this address.
    fn database_at(uri: String, token: Option<String>) -> Self {
        let name = format!("chartroom_test_{}", uuid::Uuid::new_v4().simple());
        let address = Address { uri, token, database: Some(name.clone()), ca_file: None };
        let place = Self { address, _kept: None };
        let made = place.administer(async |client| {
            let request = CreateDatabaseRequest::builder().database_name(name.as_str()).build()?;
            client.create_database(request).await
        });
        made.unwrap();
        place
    }

    /// A new database of this server.
    pub(super) fn database(&self) -> Self {
        Self::database_at(self.address.uri.clone(), self.address.token.clone())
    }

    /// Every server that there is.
    pub(super) fn all() -> Vec<Self> {
        let mut places = vec![Self::lite()];
        if let Ok(uri) = std::env::var(ADDRESS) {
            places.push(Self::database_at(uri, std::env::var(TOKEN).ok()));
        }
        places
    }

    pub(super) fn line(&self) -> Line {
        Line::to(self.address.clone())
    }

    pub(super) fn connect(&self) -> MilvusServer {
        MilvusServer::new(self.address.clone()).unwrap().with_patience(PATIENT)
    }

    /// Does something that no machine does, as the server's owner.
    fn administer<T>(
        &self,
        work: impl AsyncFnOnce(ClientV2) -> std::result::Result<T, Error>,
    ) -> std::result::Result<T, Error> {
        let mut config = ConnectConfig::new().uri(self.address.uri.as_str());
        if let Some(token) = &self.address.token {
            config = config.token(token.as_str());
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async { work(ClientV2::new(&config).await?).await })
    }

    /// How many rows the machines' collection has whose name ends so.
    pub(super) fn rows(&self, end: &str) -> usize {
        let fingerprint = super::fingerprint();
        let mut names = [names::files(&fingerprint), names::vectors(&fingerprint)].into_iter();
        let name = names.find(|name| name.ends_with(end)).expect("there is such a collection");
        self.connect().ids(&name, "").unwrap().len()
    }

    /// Drops the database and all that is in it. The SDK cannot read the lite server's list of collections; there the
    /// database goes with the server.
    fn drop_database(&self, database: &str) -> std::result::Result<(), Error> {
        self.administer(async |client| {
            let request = ListCollectionsRequest::builder().database_name(database).build()?;
            for collection in client.list_collections(request).await?.collection_names() {
                let request = ListAliasesRequest::builder();
                let request = request.database_name(database).collection_name(collection.as_str()).build()?;
                for alias in client.list_aliases(request).await?.aliases() {
                    let request = DropAliasRequest::builder().database_name(database).alias(alias.as_str());
                    client.drop_alias(request.build()?).await?;
                }
                let request = DropCollectionRequest::builder().database_name(database);
                client.drop_collection(request.collection_name(collection.as_str()).build()?).await?;
            }
            client.drop_database(DropDatabaseRequest::builder().database_name(database).build()?).await
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(database) = &self.address.database
            && let Err(error) = self.drop_database(database)
        {
            println!("the database {database} is left: {error}");
        }
    }
}
