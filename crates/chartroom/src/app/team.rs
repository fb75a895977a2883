//! A team's index: this machine's own store with a Milvus server behind it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chartroom_index::IndexSettings;
use chartroom_milvus::{Address, MilvusServer, TeamStore};
use chartroom_protocol::index::StoreConfig;
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore;

/// The store that the config names, when it names a server. Nothing is asked of the server yet.
pub(super) fn store(settings: &IndexSettings) -> anyhow::Result<Option<Arc<dyn VectorStore>>> {
    let StoreConfig::Milvus { address, token_env, database, ca_file, lease_seconds } = &settings.config.store
    else {
        return Ok(None);
    };
    if !address.starts_with("http://") && !address.starts_with("https://") {
        anyhow::bail!("`index.store.address` must begin with http:// or https://, not be \"{address}\"");
    }
    let token = match token_env {
        Some(name) => Some(std::env::var(name).with_context(|| {
            format!("the environment variable {name}, which holds the token, is not set")
        })?),
        None => None,
    };
    let address = Address {
        uri: address.clone(),
        token,
        database: database.clone(),
        ca_file: ca_file.as_ref().map(Into::into),
    };
    let own = Arc::new(SqliteStore::open(&settings.data)?);
    let server = Arc::new(MilvusServer::new(address)?);
    let store = TeamStore::new(&settings.data, own, server);
    Ok(Some(match lease_seconds {
        Some(seconds) => Arc::new(store.with_term(Duration::from_secs(u64::from(*seconds)))),
        None => Arc::new(store),
    }))
}
