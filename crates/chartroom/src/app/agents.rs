//! The agents as providers, and the question that is asked before one starts.

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::error::ErrorCode;
use chartroom_sessions::{FolderCheck, ProviderError, Registry};
use chartroom_workspace::{CanonicalRoot, GateError, SpawnGate};

use crate::config::Config;

/// Returns a provider for every agent of the config.
pub(super) fn registry(_config: &Config, _gate: &SpawnGate) -> Registry {
    Registry::default()
}

/// An agent starts only in a folder that exists and is trusted; the refusal names the command that mends it.
pub(super) fn folder_check(gate: &SpawnGate) -> FolderCheck {
    let gate = gate.clone();
    Arc::new(move |folder: &Path| {
        let root = CanonicalRoot::open(folder).map_err(|error| {
            ProviderError::new(ErrorCode::InvalidPath, error.to_string()).with_cause(error)
        })?;
        if gate.is_trusted(&root) {
            return Ok(());
        }
        let what = "an agent would run its hooks and servers".to_owned();
        let error = GateError::Untrusted { root, what };
        Err(ProviderError::new(ErrorCode::WorkspaceUntrusted, error.to_string()).with_cause(error))
    })
}
