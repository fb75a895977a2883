//! A check: files in, what every server says about them out, under one deadline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::lsp::{
    CheckOutcome, CheckParams, CheckResponse, CheckScope, Diagnostic, FileDiagnostics, Freshness,
    ServerOutcome, ServerState,
};
use chartroom_workspace::boundary;
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use super::slot::{NoClient, Slot};
use super::{Orchestrator, merge};
use crate::client::{Client, Collected};
use crate::content;
use crate::launch::Absent;

/// A file that passed the boundary and can be shown to a server.
pub(super) struct Source {
    pub(super) file: PathBuf,
    relative: String,
    text: Arc<str>,
}

/// A server, and the files it is to look at.
pub(super) type Task<'a> = (Arc<Slot>, Vec<&'a Source>);

/// What one server brought.
struct Part {
    client: Option<Arc<Client>>,
    /// For each of its files.
    collected: BTreeMap<PathBuf, Collected>,
    /// Files that may depend on them and of which it said nothing current.
    unknown: BTreeSet<PathBuf>,
    outcome: CheckOutcome,
}

impl Part {
    /// A server that brought nothing.
    fn without_client(files: &[&Source], outcome: CheckOutcome) -> Self {
        Self { client: None, collected: unanswered(files), unknown: BTreeSet::new(), outcome }
    }

    /// How the server took part for one of its files; nothing when the file is none of them.
    fn outcome_of(&self, file: &Path) -> Option<CheckOutcome> {
        let collected = self.collected.get(file)?;
        let mut of_file = self.outcome.clone();
        if let ServerOutcome::Answered { freshness, said } = &mut of_file.outcome {
            *freshness = collected.freshness;
            said.clone_from(&collected.said);
        }
        Some(of_file)
    }
}

/// A server that cannot run, and the files it would have looked at.
struct AbsentServer<'a> {
    outcome: CheckOutcome,
    files: BTreeSet<&'a Path>,
}

impl Orchestrator {
    /// Checks one file: `lsp/checkFile`. Refused and unknown files have no diagnostics.
    pub async fn check_file(&self, file: &str, text: Option<String>) -> Vec<Diagnostic> {
        let file = chartroom_protocol::lsp::FileText { file_path: file.to_owned(), text };
        let params = CheckParams { files: vec![file], ..CheckParams::default() };
        self.check(params).await.files.into_iter().flat_map(|file| file.diagnostics).collect()
    }

    /// Checks files. Dropping the future ends the collection; servers and what they say later stay.
    pub async fn check(&self, params: CheckParams) -> CheckResponse {
        // Before the texts are read: what is written after this is found by the next sweep.
        self.sweep().await;
        let mut files: Vec<FileDiagnostics> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        for file in params.files {
            match self.source(Path::new(&file.file_path), file.text) {
                Ok(source) => {
                    files.push(clean(&source.relative));
                    sources.push(source);
                }
                Err(reason) => {
                    files.push(FileDiagnostics { refused: Some(reason), ..clean(&file.file_path) });
                }
            }
        }
        self.notify_removed(&params.removed).await;
        let (slots, absent) = self.slots_of(&sources);
        let severities = if params.include_severities.is_empty() {
            &self.config.include_severities
        } else {
            &params.include_severities
        };
        let patience = params.patience_ms.unwrap_or_default();
        let removed = self.removed(&params.removed);
        let around = match params.scope {
            CheckScope::Files => None,
            CheckScope::Project => Some(&removed),
        };
        let checks = slots.iter().map(|(slot, files)| self.check_on(slot, files, around, patience));
        let (parts, unknown_elsewhere) =
            tokio::join!(join_all(checks), self.check_elsewhere(&slots, &sources, params.scope));
        for source in &sources {
            let of_file = parts.iter().filter_map(|part| {
                let findings = part.collected.get(&source.file)?.findings.clone();
                Some((part.client.as_deref()?, findings))
            });
            let diagnostics = merge::merge(&self.root, &source.file, &source.relative, of_file, severities);
            self.metrics.checked(&source.relative, diagnostics.len());
            if let Some(file) = files.iter_mut().find(|file| file.file == source.relative) {
                file.diagnostics = diagnostics;
                let absent = absent.iter().filter(|absent| absent.files.contains(source.file.as_path()));
                let absent = absent.map(|absent| absent.outcome.clone());
                file.servers =
                    by_id(parts.iter().filter_map(|part| part.outcome_of(&source.file)).chain(absent));
                let servers = self.servers_of(&source.file);
                if self.registry.for_file(&source.file).is_empty() {
                    file.refused = Some("no language server knows this kind of file".to_owned());
                } else if !servers.is_empty()
                    && servers.iter().all(|(server, _)| server.quirks.reports_nothing)
                {
                    file.refused =
                        Some("no language server looks for errors in this kind of file".to_owned());
                }
            }
        }
        self.epoch.send_modify(|epoch| *epoch += 1);
        let unknown: BTreeSet<String> = parts
            .iter()
            .flat_map(|part| &part.unknown)
            .chain(&unknown_elsewhere)
            .filter_map(|file| self.relative_source(file))
            .collect();
        let others = match params.scope {
            CheckScope::Files => Vec::new(),
            CheckScope::Project => self.others(&parts, &files, &unknown),
        };
        let outcomes = parts.into_iter().map(|part| part.outcome);
        let servers = by_id(outcomes.chain(absent.into_iter().map(|absent| absent.outcome)));
        let unknown = unknown.into_iter().collect();
        CheckResponse { others, unknown, files, servers, epoch: self.epoch() }
    }

    /// Every path goes through here, whoever sent it; nothing is started for a file that does not come out.
    fn source(&self, path: &Path, text: Option<String>) -> Result<Source, String> {
        let file = boundary::inside_source(&self.root, path).map_err(|error| error.to_string())?;
        if file.is_dir() {
            return Err("it is a folder".to_owned());
        }
        let text = match text {
            Some(text) => {
                content::check_text(&text)?;
                text.into()
            }
            None => content::read_inside(&file)?,
        };
        let relative = file.relative().to_string_lossy().into_owned();
        Ok(Source { file: file.name(), relative, text })
    }

    /// Files that a tool removed, as they were named.
    fn removed(&self, removed: &[String]) -> Vec<PathBuf> {
        let inside = removed.iter().filter_map(|path| boundary::inside(&self.root, Path::new(path)).ok());
        inside.map(|file| file.name()).collect()
    }

    /// Servers that run are told that files are gone; none is started for that.
    async fn notify_removed(&self, removed: &[String]) {
        let files = self.removed(removed);
        if files.is_empty() {
            return;
        }
        let limit = Instant::now() + Duration::from_millis(self.config.diagnostic_timeout);
        join_all(self.clients().into_iter().map(|client| {
            let files = &files;
            async move {
                // A server that does not listen learns it from the next look at the disk, or is gone.
                drop(timeout_at(limit, client.removed(files)).await);
            }
        }))
        .await;
    }

    /// Returns the slots that serve these files, started if need be, and the servers that cannot run.
    fn slots_of<'a>(&self, sources: &'a [Source]) -> (Vec<Task<'a>>, Vec<AbsentServer<'a>>) {
        let mut slots: BTreeMap<super::Key, (Arc<Slot>, Vec<&Source>)> = BTreeMap::new();
        let mut absent: BTreeMap<(String, String), AbsentServer<'_>> = BTreeMap::new();
        for source in sources {
            for (server, project) in self.servers_of(&source.file) {
                if server.quirks.reports_nothing {
                    continue;
                }
                match self.slot(server, &project) {
                    Ok(slot) => {
                        let entry = slots.entry(slot.key.clone()).or_insert_with(|| (slot, Vec::new()));
                        entry.1.push(source);
                    }
                    Err(why) => {
                        let root = self.relative_root(&project.root);
                        let entry = absent.entry((server.id.clone(), root.clone()));
                        let entry = entry.or_insert_with(|| AbsentServer {
                            outcome: outcome(&server.id, &root, absence(why)),
                            files: BTreeSet::new(),
                        });
                        entry.files.insert(&source.file);
                    }
                }
            }
        }
        (slots.into_values().collect(), absent.into_values().collect())
    }

    /// Checks files on one server; `around` is what was removed, when other files are to be looked at too.
    async fn check_on(
        &self,
        slot: &Arc<Slot>,
        sources: &[&Source],
        around: Option<&Vec<PathBuf>>,
        patience: u64,
    ) -> Part {
        let began = Instant::now();
        let timeout = if slot.is_first_touch() {
            self.config.first_touch_timeout
        } else {
            self.config.diagnostic_timeout
        };
        let deadline = began + Duration::from_millis(timeout.max(patience));
        let _touching = slot.touching();
        let root = self.relative_root(&slot.key.root);
        let part = match slot.ready(deadline).await {
            Err(NoClient::Starting) => {
                let why = Absent {
                    status: ServerState::Starting,
                    reason: "the server is still starting".to_owned(),
                    hint: None,
                };
                Part::without_client(sources, outcome(&slot.key.id, &root, absence(why)))
            }
            Err(NoClient::Absent(why)) => {
                Part::without_client(sources, outcome(&slot.key.id, &root, absence(why)))
            }
            Ok(client) => {
                let (collected, unknown) = self.collect_on(&client, sources, around, deadline).await;
                let worst = worst(&collected);
                // A server that died meanwhile has nothing to say, and the outcome tells why.
                let told = match slot.now() {
                    Err(NoClient::Absent(why)) => absence(why),
                    Ok(_) | Err(NoClient::Starting) => worst,
                };
                Part { client: Some(client), collected, unknown, outcome: outcome(&slot.key.id, &root, told) }
            }
        };
        let timed_out =
            !matches!(part.outcome.outcome, ServerOutcome::Answered { freshness: Freshness::Current, .. });
        self.metrics.collected(&slot.key.id, began.elapsed(), timed_out);
        part
    }

    async fn collect_on(
        &self,
        client: &Arc<Client>,
        sources: &[&Source],
        around: Option<&Vec<PathBuf>>,
        deadline: Instant,
    ) -> (BTreeMap<PathBuf, Collected>, BTreeSet<PathBuf>) {
        let changed: BTreeSet<PathBuf> = sources.iter().map(|source| source.file.clone()).collect();
        // Everything is sent before anything is waited for: twenty files are not twenty time-outs.
        let texts = sources.iter().map(|source| (source.file.clone(), source.text.clone())).collect();
        let Ok(Ok(touches)) = timeout_at(deadline, client.touch(texts)).await else {
            return (unanswered(sources), BTreeSet::new());
        };
        let importers = async {
            match around {
                None => BTreeSet::new(),
                Some(removed) => {
                    let changed = changed.iter().chain(removed).cloned().collect();
                    self.check_importers(client, &changed, deadline).await
                }
            }
        };
        let collected = join_all(touches.iter().map(|touch| client.collect(touch, deadline)));
        let (collected, unknown) = tokio::join!(collected, importers);
        (touches.into_iter().map(|touch| touch.file).zip(collected).collect(), unknown)
    }

    /// Other broken files: those that are known to the servers that took part and were not asked for. A server that
    /// knows nothing of what was written has nothing to add to it.
    /// What was said of a file before the change, and not since, is not told as if it were so.
    fn others(
        &self,
        parts: &[Part],
        files: &[FileDiagnostics],
        unknown: &BTreeSet<String>,
    ) -> Vec<FileDiagnostics> {
        let ids: BTreeSet<&str> = parts.iter().map(|part| part.outcome.id.as_str()).collect();
        let clients = self.clients().into_iter().filter(|client| ids.contains(client.server.id.as_str()));
        self.diagnostics_of(clients)
            .into_iter()
            .filter(|(relative, _)| {
                files.iter().all(|file| file.file != *relative) && !unknown.contains(relative)
            })
            .map(|(file, diagnostics)| FileDiagnostics { diagnostics, ..clean(&file) })
            .collect()
    }

    /// A project's root for people: relative, `.` for the workspace itself.
    pub(super) fn relative_root(&self, project: &Path) -> String {
        match self.root.relative(project) {
            Some(relative) if !relative.as_os_str().is_empty() => relative.to_string_lossy().into_owned(),
            _ => ".".to_owned(),
        }
    }
}

fn clean(file: &str) -> FileDiagnostics {
    FileDiagnostics { file: file.to_owned(), diagnostics: Vec::new(), refused: None, servers: Vec::new() }
}

/// The files of a server that said nothing about any of them.
fn unanswered(files: &[&Source]) -> BTreeMap<PathBuf, Collected> {
    let nothing = || Collected { findings: Vec::new(), freshness: Freshness::TimedOut, said: None };
    files.iter().map(|source| (source.file.clone(), nothing())).collect()
}

/// How far a server can be believed about all of its files.
fn worst(collected: &BTreeMap<PathBuf, Collected>) -> ServerOutcome {
    let worst = collected.values().max_by_key(|one| match one.freshness {
        Freshness::Current => 0,
        Freshness::Loading => 1,
        Freshness::TimedOut => 2,
        Freshness::Failed => 3,
    });
    ServerOutcome::Answered {
        freshness: worst.map_or(Freshness::Current, |one| one.freshness),
        said: worst.and_then(|one| one.said.clone()),
    }
}

fn by_id(outcomes: impl Iterator<Item = CheckOutcome>) -> Vec<CheckOutcome> {
    let mut outcomes: Vec<CheckOutcome> = outcomes.collect();
    outcomes.sort_by(|a, b| (&a.id, &a.root).cmp(&(&b.id, &b.root)));
    outcomes
}

fn outcome(id: &str, root: &str, outcome: ServerOutcome) -> CheckOutcome {
    CheckOutcome { id: id.to_owned(), root: root.to_owned(), outcome }
}

fn absence(absent: Absent) -> ServerOutcome {
    ServerOutcome::Absent { status: absent.status, reason: Some(absent.reason), hint: absent.hint }
}
