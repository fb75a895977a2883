//! What the working tree looked like when it was recorded, so that a tree in which nothing changed is known without git.
//!
//! A folder whose entries changed has another time of change, and so has a file that was written: when none of them has,
//! the newest snapshot still holds. Files that git ignores are not looked at; which those are, git says, and again when a
//! name comes or goes, or a file of ignore rules changes.

mod walk;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::CheckpointError;
use crate::git::{Git, owned};
use crate::place::{Place, from_bytes};
use crate::snapshot::tracked;
use walk::{Passed, Walk};

/// Remembers the look of one folder between its records.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    memory: Arc<Mutex<Option<Memory>>>,
}

#[derive(Debug)]
struct Memory {
    /// What lay in the folder, as far as git looks at it. The first time it is not known what git passes over.
    walk: Option<Walk>,
    passed: Passed,
    /// The file of ignore rules that the user's config names.
    rules: Option<PathBuf>,
    /// Files that count when they are there again, though git passes over them.
    lacking: Vec<PathBuf>,
}

/// What a look found.
enum Look {
    /// All as it was.
    Same(Memory),
    Changed(Glance),
}

/// A look at the tree that found something changed, or the first one.
pub(crate) struct Glance {
    before: Option<Memory>,
    now: Option<Walk>,
}

impl Sight {
    /// Looks at the tree. Returns nothing if it is as it was; else what [`Sight::remember`] takes when git has looked, too:
    /// what changes between the two looks is found by the next one.
    pub(crate) fn glance(&self, place: &Place) -> Option<Glance> {
        let memory = self.locked().take();
        match look(place, memory) {
            Look::Same(memory) => {
                *self.locked() = Some(memory);
                None
            }
            Look::Changed(glance) => Some(glance),
        }
    }

    /// Remembers a look.
    pub(crate) async fn remember(&self, git: &Git, glance: Glance) -> Result<(), CheckpointError> {
        let Glance { before, now } = glance;
        let lacking = tracked::lacking(git);
        let now = now.map(|walk| walk.lacking(&lacking));
        let memory = match (before, now) {
            (Some(Memory { walk: Some(before), passed, rules, .. }), Some(now))
                if now.has_the_names_and_rules_of(&before) =>
            {
                Memory { walk: Some(now), passed, rules, lacking }
            }
            (_, now) => {
                let passed = passed(git).await?;
                let rules = named_rules(git).await;
                Memory { walk: now.map(|walk| walk.without(&passed)), passed, rules, lacking }
            }
        };
        *self.locked() = Some(memory);
        Ok(())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Option<Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(place: &Place, memory: Option<Memory>) -> Look {
    let Some(memory) = memory else { return Look::Changed(Glance { before: None, now: None }) };
    if memory.walk.as_ref().is_some_and(Walk::holds) {
        return Look::Same(memory);
    }
    let mut rules = rule_files(place, memory.rules.as_deref());
    rules.extend(memory.lacking.iter().cloned());
    let now = Walk::of(place.folder.as_path(), place.top(), rules, &memory.passed);
    Look::Changed(Glance { before: Some(memory), now })
}

/// What git passes over.
async fn passed(git: &Git) -> Result<Passed, CheckpointError> {
    let mut arguments = owned(&["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory", "--"]);
    arguments.push(git.place.below_top().into());
    let listed = git.ask(&arguments).await?;
    Ok(Passed::of(listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())))
}

/// The file of ignore rules that the user's config names. Most name none, which git calls a failure.
async fn named_rules(git: &Git) -> Option<PathBuf> {
    let named = git.ask(&["config", "--type=path", "core.excludesFile"]).await.ok()?;
    Some(from_bytes(named.trim_ascii())).filter(|path| path.is_absolute())
}

/// Files that decide what is ignored and what is in the user's repository, beside those in the folder.
fn rule_files(place: &Place, named: Option<&Path>) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|home| home.join(".config")));
    let mut files: Vec<PathBuf> = named.map(Path::to_path_buf).into_iter().collect();
    files.extend(home.map(|home| home.join(".gitconfig")));
    files.extend(config.iter().flat_map(|config| [config.join("git/config"), config.join("git/ignore")]));
    if let Some(repository) = &place.repository {
        files.push(repository.git_dir.join("index"));
        files.push(repository.common.join("info/exclude"));
        let folder = place.folder.as_path();
        let above = folder.ancestors().skip(1).take_while(|above| above.starts_with(&repository.top));
        files.extend(above.map(|above| above.join(".gitignore")));
    }
    files
}
