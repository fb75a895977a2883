//! Which sandbox a child gets: what the user has set for its kind and its project, as far as this system can.
//!
//! Only the user's own config sets it, never a repository. What was asked for and cannot be had is a refusal; only the
//! default for language servers gives way, and says so.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use chartroom_transport::sandbox::{Network, Sandbox, SandboxSupport, SandboxTool};

use super::ChildKind;
use crate::CanonicalRoot;
use crate::trust::GitFolders;

mod folders;
mod names;
mod temporary;

use folders::Folders;
pub(super) use temporary::{TemporaryFolder, remove_left};

/// How much a child is kept from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// It may do what its user may.
    #[default]
    Off,
    /// It writes only inside the project, its own folders, caches and temporary ones, and reads all but secrets.
    Workspace,
    /// It reads only the system, the project and its own folders too, and reaches only the ports it needs.
    Strict,
}

impl SandboxMode {
    /// The word of the config.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxMode::Off => "off",
            SandboxMode::Workspace => "workspace",
            SandboxMode::Strict => "strict",
        }
    }
}

/// Where a child may connect to, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkSetting {
    /// Everywhere.
    All,
    /// Nowhere.
    None,
    /// HTTPS, and the ports that its environment names for its model and its proxy.
    Agent,
    /// TCP to these ports.
    Ports(Vec<u16>),
}

/// What the user has set for a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRules {
    /// For agents.
    pub agents: SandboxMode,
    /// For language servers; without a word *workspace*, for those that are known to work in it, where it can be had.
    pub language_servers: Option<SandboxMode>,
    /// What enforces it; without a word the system's own.
    pub tool: Option<SandboxTool>,
    /// May be read although they are secret, or in *strict* not needed.
    pub allow_read: Vec<PathBuf>,
    /// May be written too.
    pub allow_write: Vec<PathBuf>,
    /// Without a word everything in *workspace*, and what an agent needs in *strict*.
    pub network: Option<NetworkSetting>,
}

/// What a gate knows about sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// For every project that has none of its own.
    pub rules: SandboxRules,
    /// By the project's real path, complete each.
    pub projects: BTreeMap<PathBuf, SandboxRules>,
    /// What this system can.
    pub support: SandboxSupport,
    /// The language servers that are confined without being asked to: their stories pass in *workspace*.
    pub proven_servers: BTreeSet<String>,
    /// Hidden beside the known secrets, e.g. the folder of our own config.
    pub hidden: Vec<PathBuf>,
    /// Read by every confined child, e.g. the folder of the sockets of our tools.
    pub shown: Vec<PathBuf>,
}

/// What a child's sandbox is, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxState {
    /// None, as the user has set it.
    Off,
    /// None, for this reason, although there would be one by default.
    OffBecause(String),
    /// It is confined.
    InForce {
        /// How much.
        mode: SandboxMode,
        /// By what.
        tool: SandboxTool,
    },
    /// The user asked for one that cannot be had: the child is not started.
    Refused(String),
}

impl fmt::Display for SandboxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxState::Off => write!(f, "off"),
            SandboxState::OffBecause(reason) => write!(f, "off: {reason}"),
            SandboxState::InForce { mode, tool } => write!(f, "{} ({})", mode.as_str(), tool.as_str()),
            SandboxState::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

/// Who asks for a sandbox.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confined<'a> {
    pub(super) root: &'a CanonicalRoot,
    /// The folder whose rules count: of a worktree of our making, the one that it was made of.
    pub(super) ruled_by: &'a Path,
    pub(super) kind: ChildKind,
    pub(super) label: &'a str,
}

/// What a sandbox is put together from, beside the user's rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// What the child will have.
    pub(super) env: &'a BTreeMap<OsString, OsString>,
    /// What we have.
    pub(super) parent_env: &'a BTreeMap<OsString, OsString>,
    /// What it runs, without links.
    pub(super) program: &'a Path,
    /// What we are ourselves.
    pub(super) own_program: &'a Path,
    /// Our own data.
    pub(super) data_dir: &'a Path,
    /// Of a worktree of our making, where git keeps what belongs to it.
    pub(super) git: Option<&'a GitFolders>,
}

impl SandboxSettings {
    fn rules_of(&self, folder: &Path) -> &SandboxRules {
        // The nearest folder that the user has named counts for what is below it.
        let above = self.projects.iter().filter(|(path, _)| folder.starts_with(path));
        above.max_by_key(|(path, _)| path.components().count()).map_or(&self.rules, |(_, rules)| rules)
    }

    /// Tells what a child's sandbox is.
    pub(super) fn state(&self, child: Confined<'_>) -> SandboxState {
        let rules = self.rules_of(child.ruled_by);
        let (mode, is_default) = match child.kind {
            ChildKind::Agent | ChildKind::Test => (rules.agents, false),
            ChildKind::LanguageServer => match rules.language_servers {
                Some(mode) => (mode, false),
                None if self.proven_servers.contains(child.label) => (SandboxMode::Workspace, true),
                None => (SandboxMode::Off, true),
            },
            // Ours, git as we call it, and the user's own hands.
            ChildKind::Service
            | ChildKind::Git
            | ChildKind::Command
            | ChildKind::Installer
            | ChildKind::Records
            | ChildKind::Shell => (SandboxMode::Off, false),
        };
        if mode == SandboxMode::Off {
            return SandboxState::Off;
        }
        let tool = rules.tool.unwrap_or(SYSTEM_TOOL);
        match self.refusal(tool, rules.network_in(mode)) {
            Some(reason) if is_default => SandboxState::OffBecause(reason),
            Some(reason) => SandboxState::Refused(reason),
            None => SandboxState::InForce { mode, tool },
        }
    }

    /// Puts a child's sandbox together, with a temporary folder of its own where it needs one.
    pub(super) fn sandbox(
        &self,
        child: Confined<'_>,
        (mode, tool): (SandboxMode, SandboxTool),
        around: Surroundings<'_>,
    ) -> io::Result<(Sandbox, Option<TemporaryFolder>)> {
        let rules = self.rules_of(child.ruled_by);
        let folders = Folders::of(around.env);
        let mut hidden = self.hidden((child.root, child.ruled_by), around.parent_env, around.data_dir);
        // A child's own variables may name more than ours.
        hidden.extend(folders.secrets(child.root.as_path()).into_iter().filter(|path| !rules.allows(path)));
        hidden.sort();
        hidden.dedup();
        let temporary = TemporaryFolder::if_needed(&folders, &hidden)?;
        let own = match child.kind {
            ChildKind::Agent => folders.of_agent(child.label),
            _ => Vec::new(),
        };
        folders.make_own(&own);
        let mut write = vec![child.root.as_path().to_owned()];
        write.extend(folders.temporary());
        write.extend(temporary.iter().map(|folder| folder.path().to_owned()));
        write.extend(own);
        if mode == SandboxMode::Workspace || child.kind == ChildKind::LanguageServer {
            folders.make_caches(child.label);
            write.extend(folders.caches());
        }
        write.extend(rules.allow_write.iter().cloned());
        let git = around.git.filter(|_| child.kind == ChildKind::Agent);
        write.extend(git.map(GitFolders::written_by_a_commit).unwrap_or_default());
        let mut read = match mode {
            SandboxMode::Strict => {
                let mut needed = folders.needed_to_run(around.program);
                // An agent starts our own program for its tools.
                needed.push(around.own_program.to_owned());
                needed
            }
            SandboxMode::Off | SandboxMode::Workspace => vec![PathBuf::from("/")],
        };
        read.extend(self.shown.iter().cloned());
        read.extend(around.git.map(|git| git.common.clone()));
        read.extend(rules.allow_read.iter().cloned());
        if child.kind == ChildKind::LanguageServer {
            // It may be one that was installed there; no secret is beside it.
            read.push(around.data_dir.join(super::LANGUAGE_SERVERS));
        }
        let network = match rules.network_in(mode) {
            NetworkSetting::All => Network::All,
            NetworkSetting::None => Network::Ports(Vec::new()),
            NetworkSetting::Agent => Network::Ports(folders::ports(around.env)),
            NetworkSetting::Ports(ports) => Network::Ports(ports.clone()),
        };
        Ok((Sandbox { tool, read, write, hidden, network, apart: mode == SandboxMode::Strict }, temporary))
    }

    /// Returns what a confined child of this project does not read.
    ///
    /// A child does not get the variables that name its user's keys: they are read from ours.
    pub(super) fn hidden(
        &self,
        (root, ruled_by): (&CanonicalRoot, &Path),
        parent_env: &BTreeMap<OsString, OsString>,
        data_dir: &Path,
    ) -> Vec<PathBuf> {
        let rules = self.rules_of(ruled_by);
        let mut hidden = Folders::of(parent_env).secrets(root.as_path());
        hidden.extend(self.hidden.iter().cloned());
        hidden.retain(|path| !rules.allows(path));
        // Whoever may read this could speak to us as the user, whatever the config allows.
        hidden.push(data_dir.to_owned());
        hidden
    }

    /// Whether a sandbox that cannot be had gives way: nobody has asked for it.
    pub(super) fn gives_way(&self, child: Confined<'_>) -> bool {
        child.kind == ChildKind::LanguageServer && self.rules_of(child.ruled_by).language_servers.is_none()
    }

    /// Says why this system cannot enforce it.
    fn refusal(&self, tool: SandboxTool, network: &NetworkSetting) -> Option<String> {
        let needs_ports = match network {
            NetworkSetting::All => false,
            NetworkSetting::None => tool == SandboxTool::Landlock,
            NetworkSetting::Agent | NetworkSetting::Ports(_) => tool != SandboxTool::Seatbelt,
        };
        let ports = || needs_ports.then(|| self.support.ports_refusal()).flatten();
        match tool {
            SandboxTool::Landlock => self.support.landlock_refusal().or_else(ports),
            SandboxTool::Bubblewrap if self.support.bubblewrap.is_none() => {
                Some("bubblewrap is not installed (/usr/bin/bwrap)".to_owned())
            }
            SandboxTool::Bubblewrap => ports(),
            SandboxTool::Seatbelt if !self.support.seatbelt => {
                Some("there is no sandbox-exec on this system".to_owned())
            }
            SandboxTool::Seatbelt => None,
        }
    }
}

impl SandboxRules {
    fn allows(&self, path: &PathBuf) -> bool {
        self.allow_read.contains(path) || self.allow_write.contains(path)
    }

    fn network_in(&self, mode: SandboxMode) -> &NetworkSetting {
        match (&self.network, mode) {
            (Some(network), _) => network,
            (None, SandboxMode::Strict) => &NetworkSetting::Agent,
            (None, SandboxMode::Off | SandboxMode::Workspace) => &NetworkSetting::All,
        }
    }
}

/// What needs no other program.
const SYSTEM_TOOL: SandboxTool =
    if cfg!(target_os = "macos") { SandboxTool::Seatbelt } else { SandboxTool::Landlock };
