//! The store: this machine's own generations, filled from and proven by what the team shares.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chartroom_protocol::index::SkippedFiles;
use serde_json::{Value, json};

use crate::bindings::Bindings;
use crate::names::{self, Names};
use crate::objects::Objects;
use crate::overlay::{self, Seen};
use crate::server::{Kind, Server};
use crate::share::{Share, files_of};
use crate::sweep::Sweeping;
use chartroom_search::store::team::{Binding, Health, Overlay, ShareError, Shared, Team};
use chartroom_search::store::{
    FileRecord, FileStamp, Fingerprint, GenerationId, GenerationReader, GenerationWriter, MarkerDoc,
    ProbeError, StoreError, VectorStore,
};

/// How long a writer may be silent before another takes over.
pub(crate) const TERM: Duration = Duration::from_secs(30);

/// Generations of this machine, shared with a team where a root is bound to a project.
pub struct TeamStore {
    own: Arc<dyn VectorStore>,
    server: Arc<dyn Server>,
    bindings: Bindings,
    seen: Seen,
    /// Who we are to other machines.
    owner: String,
    term: Duration,
    sweeping: Sweeping,
}

impl TeamStore {
    /// Puts a machine's own store and a server together. Asks the server nothing.
    pub fn new(data: &Path, own: Arc<dyn VectorStore>, server: Arc<dyn Server>) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let owner = format!("{host}:{}:{}", std::process::id(), uuid::Uuid::new_v4());
        let (bindings, seen, sweeping) = (Bindings::below(data), Seen::default(), Sweeping::default());
        Self { own, server, bindings, seen, owner, term: TERM, sweeping }
    }

    /// The same with another term.
    pub fn with_term(mut self, term: Duration) -> Self {
        self.term = term;
        self
    }

    /// The same, which takes away what nobody names at other times.
    #[cfg(test)]
    pub(crate) fn with_sweeping(mut self, sweeping: Sweeping) -> Self {
        self.sweeping = sweeping;
        self
    }
}

impl VectorStore for TeamStore {
    fn provider(&self) -> &str {
        "milvus"
    }

    fn roots(&self) -> Result<Vec<String>, StoreError> {
        self.own.roots()
    }

    fn begin_generation(&self, root: &str) -> Result<Box<dyn GenerationWriter>, StoreError> {
        self.own.begin_generation(root)
    }

    fn open_writer(&self, root: &str) -> Result<Option<Box<dyn GenerationWriter>>, StoreError> {
        self.seen.changed(root);
        self.own.open_writer(root)
    }

    fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError> {
        self.own.open_reader(root)
    }

    /// Both must be there: this machine's, or there is nothing to answer from; and the team's, which is the truth.
    fn read_marker(&self, root: &str) -> Result<Option<Value>, ProbeError> {
        let Some(own) = self.own.read_marker(root)? else { return Ok(None) };
        let binding = self.bindings.get(root).map_err(|error| ProbeError::Io(error.to_string()))?;
        match binding {
            None => Ok(Some(own)),
            Some(binding) => self.shared_marker(root, &binding.project),
        }
    }

    fn skipped(&self, root: &str) -> Result<SkippedFiles, StoreError> {
        self.own.skipped(root)
    }

    fn publish(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        self.seen.changed(root);
        self.own.publish(root, generation)
    }

    fn discard(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        self.own.discard(root, generation)
    }

    fn drop_unfinished(&self, root: &str) -> Result<(), StoreError> {
        self.own.drop_unfinished(root)
    }

    /// What the team has stays: one machine that clears its own does not take it from the others.
    fn drop_root(&self, root: &str) -> Result<(), StoreError> {
        self.own.drop_root(root)?;
        self.unbind(root)
    }

    fn team(&self) -> Option<&dyn Team> {
        Some(self)
    }
}

impl Team for TeamStore {
    fn binding(&self, root: &str) -> Result<Option<Binding>, StoreError> {
        self.bindings.get(root)
    }

    fn bind(&self, root: &str, binding: &Binding) -> Result<(), StoreError> {
        self.seen.forget(root);
        self.bindings.set(root, binding)
    }

    fn unbind(&self, root: &str) -> Result<(), StoreError> {
        self.seen.forget(root);
        self.bindings.remove(root)
    }

    fn own_marker(&self, root: &str) -> Result<Option<Value>, ProbeError> {
        self.own.read_marker(root)
    }

    fn shared_marker(&self, root: &str, project: &str) -> Result<Option<Value>, ProbeError> {
        names::check_project(project).map_err(ProbeError::Unavailable)?;
        let Some(mut document) = overlay::marker(&*self.server, &Names::of(project))? else {
            return Ok(None);
        };
        // A team's roots are in other places. That the project is the same one stands for the path.
        let same = document.get("project").and_then(Value::as_str) == Some(project);
        if let Some(object) = document.as_object_mut().filter(|_| same) {
            object.insert("codebasePath".into(), json!(root));
        }
        self.seen.marker(root, &document);
        Ok(Some(document))
    }

    fn known_files(
        &self,
        root: &str,
        fingerprint: &Fingerprint,
        wanted: &[(&str, &FileStamp)],
    ) -> Result<Vec<Option<FileRecord>>, StoreError> {
        let Some(binding) = self.bindings.get(root)? else { return Ok(vec![None; wanted.len()]) };
        Objects::new(&*self.server, Names::of(&binding.project), fingerprint).fetch(wanted)
    }

    fn share(&self, root: &str, project: &str, marker: &MarkerDoc) -> Result<Shared, ShareError> {
        names::check_project(project).map_err(StoreError::Unavailable)?;
        let reader = self
            .own
            .open_reader(root)?
            .ok_or_else(|| StoreError::Unavailable(format!("{root} has no index to share")))?;
        let share = Share {
            server: &*self.server,
            project,
            owner: &self.owner,
            term: self.term,
            sweeping: self.sweeping,
        };
        let shared = share.run(&*reader, marker);
        self.seen.forget(root);
        shared
    }

    fn overlay(&self, root: &str) -> Option<Overlay> {
        let binding = self.bindings.get(root).ok().flatten()?;
        let ours = || files_of(&*self.own.open_reader(root).ok().flatten()?).ok();
        let theirs = || overlay::files(&*self.server, Kind::Probe, &Names::of(&binding.project).current());
        self.seen.overlay(root, &binding.project, ours, theirs)
    }

    fn health(&self) -> Health {
        let asked = Instant::now();
        let version = self.server.version().map_err(|trouble| trouble.text);
        Health {
            address: self.server.address(),
            version,
            latency_ms: u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX),
            last_trouble: self.server.last_trouble(),
        }
    }
}
