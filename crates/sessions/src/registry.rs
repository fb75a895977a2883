//! Which agents there are, by their key.

use std::collections::BTreeMap;
use std::sync::Arc;

use chartroom_protocol::agent::Agent;
use chartroom_protocol::ids::CliType;

use crate::provider::{Provider, ProviderError};

/// The providers by CLI type; filled once at start.
#[derive(Clone, Default)]
pub struct Registry {
    providers: BTreeMap<CliType, Arc<dyn Provider>>,
}

impl Registry {
    /// Adds a provider under its own type; a second one of the same type replaces the first.
    pub fn register(&mut self, provider: Arc<dyn Provider>) {
        self.providers.insert(provider.cli_type().clone(), provider);
    }

    /// Returns the provider for a type, or `UNSUPPORTED_CLI_TYPE`.
    pub fn get(&self, cli_type: &CliType) -> Result<Arc<dyn Provider>, ProviderError> {
        self.providers.get(cli_type).cloned().ok_or_else(|| ProviderError::unsupported_cli_type(cli_type))
    }

    /// Returns all providers, by type.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.providers.values()
    }

    /// Returns what is known of each agent on this machine, by type.
    pub fn agents(&self) -> Vec<Agent> {
        self.all().map(|provider| provider.agent()).collect()
    }
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::error::ErrorCode;

    use super::*;
    use crate::fake::FakeProvider;

    fn registry() -> Registry {
        let mut registry = Registry::default();
        registry.register(Arc::new(FakeProvider::new("codex")));
        registry.register(Arc::new(FakeProvider::new("claude-code")));
        registry
    }

    // TC-2.2a
    #[test]
    fn the_registry_resolves_by_cli_type() {
        for cli_type in ["claude-code", "codex"] {
            let provider = registry().get(&CliType::new(cli_type)).unwrap();
            assert_eq!(provider.cli_type().as_str(), cli_type);
        }
        let names: Vec<_> = registry().agents().into_iter().map(|agent| agent.cli_type).collect();
        assert_eq!(names, [CliType::new("claude-code"), CliType::new("codex")]);
    }

    // TC-2.2b
    #[test]
    fn an_unknown_cli_type_is_an_error() {
        let Err(error) = registry().get(&CliType::new("gemini")) else { panic!("there is no gemini") };
        assert_eq!(error.code, ErrorCode::UnsupportedCliType);
        assert_eq!(error.message, r#"no agent is configured under the name "gemini""#);
    }
}
