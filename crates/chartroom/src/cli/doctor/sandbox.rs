//! Whether agents and language servers run in a sandbox here, and whether the system can.

use chartroom_transport::SandboxSupport;
use chartroom_workspace::gate::SandboxState;
use chartroom_workspace::{CanonicalRoot, ChildKind};

use super::{Check, State};
use crate::app::gate;
use crate::config::Config;
use crate::data::DataFolder;

pub(super) fn checks(config: &Config, data: &DataFolder, root: &CanonicalRoot) -> Vec<Check> {
    // A trust store that cannot be opened has a line of its own.
    let Ok(gate) = gate::open(data.path(), &config.sandbox) else { return Vec::new() };
    vec![
        system(&SandboxSupport::of_this_system()),
        check("agents", "agents", &gate.sandbox_state(root, ChildKind::Agent, "agent")),
        check(
            "language servers",
            "languageServers",
            &gate.sandbox_state(root, ChildKind::LanguageServer, "typescript"),
        ),
    ]
}

/// What the system has.
fn system(support: &SandboxSupport) -> Check {
    let mut has = Vec::new();
    has.extend(support.landlock.filter(|_| support.landlock_refusal().is_none()).map(|abi| {
        let ports = if support.ports_refusal().is_none() { "" } else { ", without ports" };
        format!("landlock (ABI {abi}{ports})")
    }));
    has.extend(support.bubblewrap.as_ref().map(|path| format!("bubblewrap ({})", path.display())));
    has.extend(support.seatbelt.then(|| "sandbox-exec".to_owned()));
    let (state, detail, mend) = match (has.is_empty(), support.landlock_refusal()) {
        (true, Some(why)) => (
            State::Missing,
            why,
            Some(
                "boot Linux 6.2 or later with landlock, or install bubblewrap and set sandbox.tool"
                    .to_owned(),
            ),
        ),
        _ => (State::Ok, has.join(", "), None),
    };
    Check { area: "sandbox".to_owned(), name: "this system".to_owned(), state, detail, mend }
}

/// What is in force in this folder.
fn check(name: &str, key: &str, sandbox: &SandboxState) -> Check {
    let (state, mend) = match sandbox {
        SandboxState::Off | SandboxState::InForce { .. } => (State::Ok, None),
        SandboxState::OffBecause(_) => {
            (State::Missing, Some(format!("set sandbox.{key} to say what you want")))
        }
        SandboxState::Refused(_) => {
            (State::Wrong, Some(format!("set sandbox.{key} to \"off\", or give the system what it lacks")))
        }
    };
    Check { area: "sandbox".to_owned(), name: name.to_owned(), state, detail: sandbox.to_string(), mend }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_landlock_is_told() {
        let old = SandboxSupport { landlock: Some(2), ..SandboxSupport::default() };
        for support in [SandboxSupport::default(), old] {
            let check = system(&support);
            assert_eq!(check.state, State::Missing);
            assert!(check.detail.contains("landlock") && check.mend.is_some(), "{check:?}");
        }
        let new = SandboxSupport { landlock: Some(3), ..SandboxSupport::default() };
        assert_eq!(system(&new).detail, "landlock (ABI 3, without ports)");
    }

    #[test]
    fn a_sandbox_that_was_asked_for_and_cannot_be_had_is_wrong_and_a_default_is_only_missing() {
        let state = |sandbox: SandboxState| check("agents", "agents", &sandbox).state;
        assert_eq!(state(SandboxState::Refused("x".into())), State::Wrong);
        assert_eq!(state(SandboxState::OffBecause("x".into())), State::Missing);
        assert_eq!(state(SandboxState::Off), State::Ok);
    }
}
