//! Agents that are started ahead of a session, and what they have read by then.
//!
//! Codex reads its settings, its login and its instructions when it starts. A process that waits is given to a session
//! only while all of these are as they were: nobody's session begins with a login that is no more.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use chartroom_sessions::ProviderError;
use chartroom_workspace::SpawnGate;

use super::process::{self, Ready};
use super::provider::AcpConfig;
use crate::warm::{Spare, StartsSpares};

/// What Codex reads of its home folder when it starts.
const READ_AT_START: [&str; 5] =
    ["config.toml", "auth.json", "AGENTS.md", "AGENTS.override.md", "hooks.json"];

/// Starts processes. Cheap to clone.
#[derive(Clone)]
pub(super) struct Starter {
    gate: SpawnGate,
    pub(super) config: Arc<AcpConfig>,
}

impl Starter {
    pub(super) fn new(gate: SpawnGate, config: AcpConfig) -> Self {
        Self { gate, config: Arc::new(config) }
    }

    pub(super) async fn start(&self, project_dir: &Path) -> Result<Ready, ProviderError> {
        let child = self.config.command.launch(&self.gate, project_dir, Vec::new())?;
        process::ready(child, self.config.timeouts).await
    }
}

#[async_trait]
impl StartsSpares for Starter {
    type Spare = AcpSpare;

    async fn start_spare(&self, project_dir: &Path) -> Result<AcpSpare, ProviderError> {
        // Looked at first: what changes while it starts may be read or not.
        let home = self.config.codex_home();
        let settings = Settings::now(home.map(|home| settings_files(&home, project_dir)).unwrap_or_default());
        Ok(AcpSpare { ready: self.start(project_dir).await?, settings })
    }
}

/// A process that has answered `initialize` and waits for a session.
pub(super) struct AcpSpare {
    ready: Ready,
    settings: Settings,
}

impl AcpSpare {
    pub(super) fn into_ready(self) -> Ready {
        self.ready
    }
}

#[async_trait]
impl Spare for AcpSpare {
    fn is_fit(&self) -> bool {
        self.ready.lives() && self.settings.are_the_same()
    }

    async fn end(self) {
        self.ready.end().await;
    }
}

/// The files that are read at the start: those of the home, and the project's own and its parents' settings.
fn settings_files(codex_home: &Path, project_dir: &Path) -> Vec<PathBuf> {
    let of_home = READ_AT_START.iter().map(|name| codex_home.join(name));
    let of_folders = project_dir.ancestors().map(|folder| folder.join(".codex/config.toml"));
    of_home.chain(of_folders).collect()
}

/// Files as they were at a time.
struct Settings(Vec<(PathBuf, Option<Looks>)>);

/// How a file looks from outside: whoever writes it changes one of these.
#[derive(PartialEq)]
struct Looks {
    size: u64,
    inode: u64,
    modified: Option<SystemTime>,
}

impl Settings {
    fn now(files: Vec<PathBuf>) -> Self {
        let with_looks = |file: PathBuf| {
            let looks = looks(&file);
            (file, looks)
        };
        Self(files.into_iter().map(with_looks).collect())
    }

    fn are_the_same(&self) -> bool {
        self.0.iter().all(|(file, was)| looks(file) == *was)
    }
}

fn looks(file: &Path) -> Option<Looks> {
    let metadata = std::fs::metadata(file).ok()?;
    Some(Looks { size: metadata.len(), inode: metadata.ino(), modified: metadata.modified().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(what: &str, change: impl FnOnce(&Path, &Path), is_noticed: bool) {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("code/project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(home.join("config.toml"), "model = \"a\"\n").unwrap();
        let settings = Settings::now(settings_files(&home, &project));
        assert!(settings.are_the_same());
        change(&home, &project);
        assert_eq!(settings.are_the_same(), !is_noticed, "{what}");
    }

    #[test]
    fn what_codex_reads_when_it_starts_is_noticed_when_it_changes() {
        check(
            "another model",
            |home, _| std::fs::write(home.join("config.toml"), "model = \"bb\"\n").unwrap(),
            true,
        );
        check(
            "no settings any more",
            |home, _| std::fs::remove_file(home.join("config.toml")).unwrap(),
            true,
        );
        check("a login", |home, _| std::fs::write(home.join("auth.json"), "{}").unwrap(), true);
        check("instructions", |home, _| std::fs::write(home.join("AGENTS.md"), "Be brief.").unwrap(), true);
        let settings_of = |folder: &Path| {
            std::fs::create_dir(folder.join(".codex")).unwrap();
            std::fs::write(folder.join(".codex/config.toml"), "model = \"c\"\n").unwrap();
        };
        check("the project's settings", |_, project| settings_of(project), true);
        check("those of a folder above", |_, project| settings_of(project.parent().unwrap()), true);
        check("its log", |home, _| std::fs::write(home.join("history.jsonl"), "{}").unwrap(), false);
    }

    #[test]
    fn a_file_that_is_replaced_by_one_of_the_same_size_is_noticed() {
        let replace = |home: &Path, _: &Path| {
            let other = home.join("other");
            std::fs::write(&other, "model = \"b\"\n").unwrap();
            std::fs::rename(&other, home.join("config.toml")).unwrap();
        };
        check("another file", replace, true);
    }
}
