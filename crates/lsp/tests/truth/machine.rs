//! Takes the steps on a real folder and compares, after each, what the orchestrator says with what is so.

use std::path::Path;
use std::sync::Arc;

use chartroom_lsp::Orchestrator;
use chartroom_protocol::lsp::{
    CheckParams, CheckResponse, CheckScope, FileDiagnostics, FileText, Freshness, ServerOutcome,
};

use super::model::{FILES, Step, World};

/// How a language writes the model down.
pub(crate) trait Language {
    /// The file of a module.
    fn file(&self, module: usize) -> String;
    /// Its text.
    fn text(&self, world: &World, module: usize) -> String;
    /// The lines, from 1, that are wrong.
    fn errors(&self, world: &World, module: usize) -> Vec<u32>;
    /// The config file and its text.
    fn config(&self, world: &World) -> Option<(String, String)>;
    /// Tells whether a module imports one of these.
    fn depends(&self, world: &World, module: usize, on: &[usize]) -> bool {
        world.depends(module, on)
    }
    /// Tells whether a file can go without another being changed.
    fn can_remove(&self) -> bool {
        true
    }
    /// Ends the server as a crash would; tells whether it could.
    fn kill(&self, orchestrator: &Orchestrator) -> bool;
    /// Tells whether a server that said nothing of a file may have had nothing to say.
    fn may_be_silent(&self) -> bool;
    /// Tells whether an answer with an error may come before the compiler has found the others: it says so, and the next
    /// one has them all.
    fn may_tell_some(&self) -> bool {
        false
    }
}

/// What was seen.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) steps: u64,
    /// Files of which something current was said.
    pub(crate) current: u64,
    /// Those of them of which some errors were told and others not yet, where a language may do that.
    pub(crate) partly: u64,
    /// Files of which it was said that nothing is known.
    pub(crate) unknown: u64,
    /// Other files that were reported.
    pub(crate) others: u64,
}

pub(crate) struct Machine<L> {
    pub(crate) language: L,
    pub(crate) orchestrator: Arc<Orchestrator>,
    pub(crate) world: World,
    pub(crate) counts: Counts,
    /// Every state so far, for a checkout.
    history: Vec<World>,
    root: std::path::PathBuf,
}

impl<L: Language> Machine<L> {
    /// Over a folder that holds nothing yet.
    pub(crate) fn new(language: L, orchestrator: Arc<Orchestrator>, root: &Path) -> Self {
        let mut world = World::first();
        if !language.can_remove() {
            // Nor can one come: they are all there from the beginning.
            for module in 0..FILES.len() {
                world.files.entry(module).or_default();
            }
        }
        let history = vec![world.clone()];
        let machine =
            Self { language, orchestrator, world, counts: Counts::default(), history, root: root.to_owned() };
        machine.lay_out(&World::default());
        machine
    }

    /// Takes one step; the error says in what the answer was wrong.
    pub(crate) async fn take(&mut self, step: &Step) -> Result<(), String> {
        self.counts.steps += 1;
        let goes = matches!(step, Step::Move(..) | Step::Rename(..) | Step::Delete(..));
        let goes = goes || matches!(step, Step::Patch(_, Some(_)));
        if goes && !self.language.can_remove() {
            return Ok(());
        }
        let before = self.world.clone();
        match step {
            Step::Edit(file, change) | Step::Write(file, change) => {
                self.world.change(*file, *change);
                self.lay_out(&before);
                let scope = match step {
                    Step::Write(..) => CheckScope::Project,
                    _ => CheckScope::Files,
                };
                self.look(&[*file], &[], scope).await?;
            }
            Step::Patch(changes, removed) => {
                let mut files = Vec::new();
                for (file, change) in changes {
                    self.world.change(*file, *change);
                    files.push(*file);
                }
                let removed =
                    removed.filter(|file| self.world.files.contains_key(file) && !files.contains(file));
                if let Some(removed) = removed {
                    self.world.files.remove(&removed);
                }
                files.sort_unstable();
                files.dedup();
                self.lay_out(&before);
                self.look(&files, removed.as_slice(), CheckScope::Files).await?;
            }
            Step::Move(from, to) => {
                let Some(from) = self.world.existing(*from).filter(|from| from != to) else { return Ok(()) };
                self.rename(from, *to);
                self.lay_out(&before);
                self.look(&[*to], &[from], CheckScope::Project).await?;
            }
            Step::Sed(file, change, look) => {
                self.world.change(*file, *change);
                self.outside(&before, *look).await?;
            }
            Step::Checkout(back, look) => {
                let n_back = back % self.history.len();
                self.world = self.history[self.history.len() - 1 - n_back].clone();
                self.outside(&before, *look).await?;
            }
            Step::Rename(from, to, look) => {
                if let Some(from) = self.world.existing(*from).filter(|from| from != to) {
                    self.rename(from, *to);
                }
                self.outside(&before, *look).await?;
            }
            Step::Delete(file, look) => {
                self.world.files.remove(file);
                self.outside(&before, *look).await?;
            }
            Step::Configure(look) => {
                self.world.is_strict = !self.world.is_strict;
                self.outside(&before, *look).await?;
            }
            Step::Kill(look) => {
                if self.language.kill(&self.orchestrator) {
                    let response = self.check(&[*look], &[], CheckScope::Files).await;
                    if response.servers.iter().any(|server| is_current(&server.outcome)) {
                        return Err("a dead server is said to be current".to_owned());
                    }
                    self.orchestrator.restart(None).await;
                }
                self.outside(&before, *look).await?;
            }
            Step::Look(file, around) => {
                let scope = if *around { CheckScope::Project } else { CheckScope::Files };
                if let Some(file) = self.world.existing(*file) {
                    self.look(&[file], &[], scope).await?;
                }
            }
        }
        self.history.push(self.world.clone());
        Ok(())
    }

    fn rename(&mut self, from: usize, to: usize) {
        if let Some(source) = self.world.files.remove(&from) {
            let imports = source.imports.iter().copied().filter(|(module, _)| *module != to).collect();
            self.world.files.insert(to, super::model::Source { imports, ..source });
        }
    }

    /// Something was done past our tools: the next look at any file has to be right.
    async fn outside(&mut self, before: &World, look: usize) -> Result<(), String> {
        self.lay_out(before);
        match self.world.existing(look) {
            Some(file) => self.look(&[file], &[], CheckScope::Files).await,
            None => Ok(()),
        }
    }

    /// Writes what differs to the disk.
    fn lay_out(&self, before: &World) {
        for module in 0..FILES.len() {
            let path = self.root.join(self.language.file(module));
            if !self.world.files.contains_key(&module) {
                if path.exists() {
                    std::fs::remove_file(&path).unwrap();
                }
                continue;
            }
            let text = self.language.text(&self.world, module);
            let known = before.files.contains_key(&module).then(|| self.language.text(before, module));
            if known.as_ref() != Some(&text) {
                replace(&path, &text);
            }
        }
        if let Some((name, text)) = self.language.config(&self.world)
            && (before.files.is_empty() || before.is_strict != self.world.is_strict)
        {
            replace(&self.root.join(name), &text);
        }
    }

    async fn check(&self, files: &[usize], removed: &[usize], scope: CheckScope) -> CheckResponse {
        let name = |file: &usize| self.root.join(self.language.file(*file)).to_string_lossy().into_owned();
        let params = CheckParams {
            files: files.iter().map(|file| FileText { file_path: name(file), text: None }).collect(),
            removed: removed.iter().map(name).collect(),
            scope,
            ..CheckParams::default()
        };
        self.orchestrator.check(params).await
    }

    /// Looks at files, and compares.
    async fn look(&mut self, files: &[usize], removed: &[usize], scope: CheckScope) -> Result<(), String> {
        let response = self.check(files, removed, scope).await;
        for (file, answer) in files.iter().zip(&response.files) {
            let expected = self.language.errors(&self.world, *file);
            let told = lines(answer);
            if let Some(reason) = &answer.refused {
                return Err(format!("{} was refused: {reason}", answer.file));
            }
            if answer.servers.iter().any(|server| is_current(&server.outcome)) {
                self.counts.current += 1;
                let is_some = !told.is_empty() && told.iter().all(|line| expected.contains(line));
                if told != expected {
                    let says_so = answer.servers.iter().any(|server| says_something(&server.outcome));
                    if !(is_some && says_so && self.language.may_tell_some()) {
                        return Err(format!(
                            "{}: lines {told:?} are said to be wrong, {expected:?} are",
                            answer.file
                        ));
                    }
                    self.counts.partly += 1;
                    self.look_again(*file, &expected).await?;
                }
                continue;
            }
            self.counts.unknown += 1;
            if !self.language.may_be_silent() {
                return Err(format!("{} is not known: {:?}", answer.file, answer.servers));
            }
            if told.iter().any(|line| !expected.contains(line)) {
                return Err(format!("{}: not known, and {told:?} of {expected:?} is told", answer.file));
            }
        }
        if scope == CheckScope::Project {
            self.compare_others(files, removed, &response)?;
        }
        Ok(())
    }

    /// What was left out is in the next answer.
    async fn look_again(&self, file: usize, expected: &[u32]) -> Result<(), String> {
        let response = self.check(&[file], &[], CheckScope::Files).await;
        let is_known = response.servers.iter().any(|server| is_current(&server.outcome));
        let told = response.files.first().map(lines).unwrap_or_default();
        if is_known && told != expected {
            let name = self.language.file(file);
            return Err(format!("{name}: lines {told:?} are wrong at a second look, {expected:?} are"));
        }
        Ok(())
    }

    /// What is reported of other files is so, and what depends on the change and is broken is reported or not known.
    fn compare_others(
        &mut self,
        files: &[usize],
        removed: &[usize],
        response: &CheckResponse,
    ) -> Result<(), String> {
        for other in &response.others {
            self.counts.others += 1;
            let module = (0..FILES.len()).find(|module| self.language.file(*module) == other.file);
            let expected = module.filter(|module| self.world.files.contains_key(module));
            let expected =
                expected.map(|module| self.language.errors(&self.world, module)).unwrap_or_default();
            let told = lines(other);
            if told != expected {
                return Err(format!("{}: lines {told:?} are reported, {expected:?} are wrong", other.file));
            }
        }
        if !response.servers.iter().any(|server| is_current(&server.outcome)) {
            return Ok(());
        }
        let changed: Vec<usize> = files.iter().chain(removed).copied().collect();
        for module in self.world.files.keys().filter(|module| !files.contains(module)) {
            let name = self.language.file(*module);
            let is_told =
                response.others.iter().any(|other| other.file == name) || response.unknown.contains(&name);
            let is_broken = !self.language.errors(&self.world, *module).is_empty();
            if self.language.depends(&self.world, *module, &changed) && is_broken && !is_told {
                return Err(format!("{name} is broken by the change, and nothing is said of it"));
            }
        }
        Ok(())
    }
}

fn lines(file: &FileDiagnostics) -> Vec<u32> {
    let mut lines: Vec<u32> = file.diagnostics.iter().map(|diagnostic| diagnostic.line).collect();
    lines.dedup();
    lines
}

fn is_current(outcome: &ServerOutcome) -> bool {
    matches!(outcome, ServerOutcome::Answered { freshness: Freshness::Current, .. })
}

fn says_something(outcome: &ServerOutcome) -> bool {
    matches!(outcome, ServerOutcome::Answered { said: Some(_), .. })
}

/// As tools and most programs do it: beside, then in its place.
fn replace(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("new~");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, path).unwrap();
}
