//! Files that a write may have broken: most servers look at open files only, so somebody has to open them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant as WallClock};

use chartroom_protocol::lsp::Freshness;
use chartroom_workspace::roots;
use chartroom_workspace::walk::{self, WalkEvent, WalkOptions};
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use super::Orchestrator;
use crate::client::Client;
use crate::content;

/// How many files that are known to be broken are looked at again when all of them are asked for.
const MAX_LOOKED_AT_AGAIN: usize = 20;
/// How many files are looked at after a write; a client keeps a few more than that open.
const MAX_LOOKED_AT: usize = 60;
/// A scan that takes longer is cut off; a write must not wait for a huge repository.
const SCAN_LIMIT: Duration = Duration::from_millis(1_000);
/// Larger files import little and cost much.
const MAX_SCANNED_LENGTH: u64 = 256 * 1024;

impl Orchestrator {
    /// Looks at the files that may be broken by a change, the likeliest first, until the deadline. What is found is then
    /// known; returned is what is not.
    pub(super) async fn check_importers(
        &self,
        client: &Arc<Client>,
        changed: &BTreeSet<PathBuf>,
        deadline: Instant,
    ) -> BTreeSet<PathBuf> {
        let candidates = self.importers(client, changed).await;
        self.look_at(client, candidates, deadline).await
    }

    /// The same for a server of another root: only what seems to import the files itself can be broken there.
    pub(super) async fn check_importers_elsewhere(
        &self,
        client: &Arc<Client>,
        changed: &BTreeSet<PathBuf>,
        deadline: Instant,
    ) -> BTreeSet<PathBuf> {
        let names: Vec<String> = changed.iter().flat_map(|file| self.names_of(client, file)).collect();
        let candidates = self.scan(client, changed, names).await;
        self.look_at(client, candidates, deadline).await
    }

    /// Looks at files, as many as there may be; returns those of which nothing current was said.
    async fn look_at(
        &self,
        client: &Arc<Client>,
        mut candidates: Vec<PathBuf>,
        deadline: Instant,
    ) -> BTreeSet<PathBuf> {
        let left_out = candidates.split_off(candidates.len().min(MAX_LOOKED_AT));
        let looked_at = join_all(candidates.iter().map(|file| async move {
            let Ok(Ok(Some(touch))) = timeout_at(deadline, client.open_from_disk(file)).await else {
                return false;
            };
            client.collect(&touch, deadline).await.freshness == Freshness::Current
        }));
        let looked_at = looked_at.await;
        let unknown = candidates.into_iter().zip(looked_at).filter(|(_, is_known)| !is_known);
        unknown.map(|(file, _)| file).chain(left_out).collect()
    }

    /// Looks again at the files that are known to be broken, so that what somebody mended is not reported.
    pub(crate) async fn refresh_known(&self) {
        let deadline = self.deadline(false);
        self.tell_what_others_did(deadline).await;
        join_all(self.clients().iter().map(|client| async move {
            let known = client.known().into_iter().filter(|file| client.is_open(file));
            join_all(known.take(MAX_LOOKED_AT_AGAIN).map(|file| async move {
                if let Ok(Ok(Some(touch))) = timeout_at(deadline, client.open_from_disk(&file)).await {
                    client.collect(&touch, deadline).await;
                }
            }))
            .await;
        }))
        .await;
    }

    /// Returns the files that may be broken by a change: those that are, those that seem to import it, the nearest first,
    /// and what is open.
    async fn importers(&self, client: &Arc<Client>, changed: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let mut candidates: Vec<PathBuf> = client.known();
        let names: Vec<String> = changed.iter().flat_map(|file| self.names_of(client, file)).collect();
        if !names.is_empty() && self.config.max_project_diagnostics_files > 0 {
            candidates.extend(self.scan(client, changed, names).await);
        }
        candidates.extend(client.open_files());
        candidates.retain(|file| !changed.contains(file) && self.relative_source(file).is_some());
        let mut seen = BTreeSet::new();
        candidates.retain(|file| seen.insert(file.clone()));
        candidates
    }

    /// Returns the names by which other files import this one: the module's, and in another package the package's.
    fn names_of(&self, client: &Client, file: &Path) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = module_name(file).into_iter().collect();
        if let Some(project) = self.marked_project(&client.server, file) {
            names.extend(roots::package_names(&self.root, &project.nearest));
        }
        names
    }

    /// Returns the files of a client's project that seem to import one of these modules, the nearest to what was changed
    /// first.
    async fn scan(
        &self,
        client: &Arc<Client>,
        changed: &BTreeSet<PathBuf>,
        names: Vec<String>,
    ) -> Vec<PathBuf> {
        let (root, project, server) = (self.root.clone(), client.root.clone(), client.server.clone());
        let skip = changed.clone();
        let scan = tokio::task::spawn_blocking(move || {
            let began = WallClock::now();
            let options = WalkOptions {
                max_file_size: Some(MAX_SCANNED_LENGTH),
                hidden: false,
                ..WalkOptions::default()
            };
            walk::files(&root, &options)
                .take_while(|_| began.elapsed() < SCAN_LIMIT)
                .filter_map(|event| match event {
                    WalkEvent::File(file) => Some(file),
                    _ => None,
                })
                .filter(|file| file.path.starts_with(&project) && !skip.contains(&file.path))
                .filter(|file| server.language_id(&file.path).is_some())
                .filter(|file| {
                    content::read_inside(&file.inside(&root))
                        .is_ok_and(|text| names.iter().any(|name| imports(&text, name)))
                })
                .map(|file| file.path)
                .collect::<Vec<_>>()
        });
        let mut found = scan.await.unwrap_or_default();
        found.sort_by_cached_key(|file| {
            let nearest = changed.iter().map(|changed| n_common(changed, file)).max();
            (std::cmp::Reverse(nearest), file.clone())
        });
        found
    }
}

/// How many folders two paths have in common.
fn n_common(a: &Path, b: &Path) -> usize {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).count()
}

/// Returns the name by which other files import this one: its stem, or its folder's for an index file.
fn module_name(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    let stem = stem.strip_suffix(".d").unwrap_or(stem);
    let is_go = file.extension().is_some_and(|extension| extension == "go");
    match stem {
        // A package of Go is its folder.
        _ if is_go => Some(file.parent()?.file_name()?.to_str()?.to_owned()),
        "index" | "mod" | "__init__" | "lib" | "main" => {
            Some(file.parent()?.file_name()?.to_str()?.to_owned())
        }
        stem => Some(stem.to_owned()),
    }
}

/// Tells whether a text seems to import a module of that name. Too often is fine: the server decides.
fn imports(text: &str, name: &str) -> bool {
    const WORDS: &[&str] = &["import", "from", "use ", "require", "include", "mod ", "export"];
    text.lines().any(|line| {
        has_word(line, name)
            && (WORDS.iter().any(|word| line.contains(word))
                || line.contains(&format!("{name}::"))
                // A line of a block of imports, as Go has them.
                || line.trim_end().ends_with(&format!("{name}\"")))
    })
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_seen_in_each_language() {
        for (line, name) in [
            ("import { A } from './types'", "types"),
            ("const t = require('../types.js')", "types"),
            ("from app.types import A", "types"),
            ("use crate::types::A;", "types"),
            ("    let a = types::make();", "types"),
            ("mod types;", "types"),
            ("#include \"types.h\"", "types"),
            ("import \"example.com/x/types\"", "types"),
            ("\tt \"example.com/x/types\"", "types"),
            ("import { A } from '@acme/core/sub'", "@acme/core"),
            ("export * from \"@/größe\"", "größe"),
        ] {
            assert!(imports(line, name), "{line}");
        }
        for line in ["let types = 1", "import { prototypes } from 'x'", "import x from './types2'", ""] {
            assert!(!imports(line, "types"), "{line}");
        }
    }

    #[test]
    fn an_index_file_goes_by_the_name_of_its_folder() {
        for (file, name) in [
            ("/p/src/types.ts", "types"),
            ("/p/src/types/index.ts", "types"),
            ("/p/types/__init__.py", "types"),
            ("/p/types/mod.rs", "types"),
            ("/p/types.d.ts", "types"),
            ("/p/types/any.go", "types"),
        ] {
            assert_eq!(module_name(Path::new(file)).as_deref(), Some(name));
        }
    }
}
