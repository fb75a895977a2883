//! The catalog: which codebases there are and what state each is in, in `<data>/codebases.json`.
//!
//! [`Catalog`] reads and has no method that writes; the tools that only look hold one of those. `CatalogWriter`
//! lives in the lifecycle alone. Membership changes by an explicit `clear` (or `prune`) and by nothing else: a root
//! that is missing today, a store that fails, a damaged file never drop an entry.

mod entry;
mod load;
mod merge;
mod reconcile;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use entry::{BuildStatus, CodebaseInfo, CodebaseOptions, CodebaseState};
pub use load::CatalogDoc;
pub(crate) use reconcile::{prune, reconcile_non_destructive, recovered};
pub(crate) use writer::{CatalogWriter, SaveError};

/// The catalog as a reader sees it.
#[derive(Debug, Clone)]
pub struct Catalog {
    path: PathBuf,
    /// The last version that could be read: what a reader goes on with while the file is damaged or unreadable.
    last_good: Arc<Mutex<Option<CatalogDoc>>>,
}

/// What was read, and what a person should know about it.
#[derive(Debug, Clone, Default)]
pub struct CatalogView {
    /// The entries.
    pub doc: CatalogDoc,
    /// Set when the file could not be used; the entries are then those of the last good read, or none.
    pub damage: Option<String>,
    /// There is no file: nothing was indexed yet, or somebody took it away.
    pub missing: bool,
}

impl Catalog {
    /// Names the catalog of a data folder; reads nothing yet.
    pub fn new(data: &Path) -> Self {
        Self { path: data.join("codebases.json"), last_good: Arc::default() }
    }

    /// Reads the file as it is now.
    ///
    /// A missing file is an empty catalog. A damaged one is left where it is (a reader does not repair) and the last
    /// good version answers.
    pub fn read(&self) -> CatalogView {
        let damage = match read_doc(&self.path) {
            Ok(Some(doc)) => {
                *self.last_good() = Some(doc.clone());
                return CatalogView { doc, damage: None, missing: false };
            }
            Ok(None) => {
                return CatalogView { missing: true, ..CatalogView::default() };
            }
            Err(damage) => damage.to_string(),
        };
        let doc = self.last_good().clone().unwrap_or_default();
        CatalogView { doc, damage: Some(damage), missing: false }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn last_good(&self) -> std::sync::MutexGuard<'_, Option<CatalogDoc>> {
        // A panic elsewhere cannot leave a half-made document here: it is replaced whole.
        self.last_good.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Why the file could not be used.
#[derive(Debug, thiserror::Error)]
enum Damage {
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is damaged: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
}

/// Reads the file; `None` when there is none.
fn read_doc(path: &Path) -> Result<Option<CatalogDoc>, Damage> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Damage::Unreadable { path: path.to_path_buf(), source }),
    };
    load::parse(&bytes).map(Some).map_err(|reason| Damage::Malformed { path: path.to_path_buf(), reason })
}

#[cfg(test)]
mod tests;
