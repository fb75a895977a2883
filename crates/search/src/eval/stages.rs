//! The indexes that rows are asked of, in turn, and kept between runs for those who want to try other weights.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::questions::{Question, sentences, without_lines};
use super::rows::Row;
use super::run::{EvalError, Objects};
use super::tree::{Tree, TreeError};
use crate::chunk::{FileMeta, indexable};
use crate::embed::Embedder;
use crate::parser::Parser;
use crate::sqlite::SqliteStore;
use crate::store::{GenerationReader, VectorStore};

/// Contents asked for at once.
const BATCH: usize = 200;
/// Written last: a folder without it was not finished.
const DONE: &str = "done";

/// An index with the history before it.
pub(super) struct Stage {
    pub(super) reader: Box<dyn GenerationReader>,
    /// As [`Objects::log`] has it.
    pub(super) log: Vec<u8>,
    /// Where the tree's files are, if they are anywhere.
    pub(super) folder: Option<PathBuf>,
}

/// Makes the index of each row's tree, or opens the one that was kept.
pub(super) struct Stages<'a> {
    objects: &'a dyn Objects,
    parser: Arc<dyn Parser>,
    embedder: Arc<dyn Embedder>,
    /// Where indexes are kept.
    kept: Option<PathBuf>,
    /// Others look at the files themselves.
    with_files: bool,
    tree: Option<(TempDir, Tree)>,
}

impl<'a> Stages<'a> {
    pub(super) fn new(
        objects: &'a dyn Objects,
        parser: Arc<dyn Parser>,
        embedder: Arc<dyn Embedder>,
        kept: Option<&Path>,
        with_files: bool,
    ) -> Self {
        // Indexes with other vectors are others.
        let kept =
            kept.map(|folder| folder.join(format!("{}-{}", embedder.provider(), embedder.dimension())));
        Self { objects, parser, embedder, kept, with_files, tree: None }
    }

    /// The index of a row's tree.
    pub(super) fn at(&mut self, row: &Row) -> Result<Stage, EvalError> {
        // Of a commit, not of a row: many rows may be asked of one tree.
        let name = file_name(&format!("{}@{}", row.repo, row.base_commit));
        let kept = self.kept.as_ref().map(|folder| folder.join(name));
        if let Some(kept) = kept.as_ref().filter(|kept| !self.with_files && is_whole(kept)) {
            return opened(kept);
        }
        let log = self.objects.log(&row.base_commit).map_err(EvalError::Objects)?;
        let tree = self.moved_to(row)?;
        if let Some(kept) = kept.filter(|kept| !is_whole(kept)) {
            keep(tree, &kept, &log, &[]).map_err(TreeError::from)?;
        }
        Ok(Stage { reader: tree.reader()?, log, folder: Some(tree.folder().to_owned()) })
    }

    /// At most `most` sentences of a row's tree, and its index without their comments.
    pub(super) fn sentences(&mut self, row: &Row, most: usize) -> Result<(Vec<Question>, Stage), EvalError> {
        let name = format!("{}+{most}-sentences", file_name(&row.id));
        let kept = self.kept.as_ref().map(|folder| folder.join(name));
        if let Some(kept) = kept.as_ref().filter(|kept| !self.with_files && is_whole(kept)) {
            let questions = fs::read(kept.join("questions")).map_err(TreeError::from)?;
            let questions =
                serde_json::from_slice(&questions).map_err(io::Error::from).map_err(TreeError::from)?;
            return Ok((questions, opened(kept)?));
        }
        let log = self.objects.log(&row.base_commit).map_err(EvalError::Objects)?;
        let tree = self.moved_to(row)?;
        let read = |path: &str| fs::read_to_string(tree.folder().join(path)).ok();
        let questions = sentences(&*tree.reader()?, most, read)?;
        take_out(tree, &questions)?;
        if let Some(kept) = kept.filter(|kept| !is_whole(kept)) {
            keep(tree, &kept, &log, &questions).map_err(TreeError::from)?;
        }
        let stage = Stage { reader: tree.reader()?, log, folder: Some(tree.folder().to_owned()) };
        Ok((questions, stage))
    }

    fn moved_to(&mut self, row: &Row) -> Result<&mut Tree, EvalError> {
        if self.tree.is_none() {
            let folder = tempfile::tempdir().map_err(TreeError::from)?;
            let tree = Tree::below(folder.path(), Arc::clone(&self.parser), Arc::clone(&self.embedder))?;
            self.tree = Some((folder, tree));
        }
        let Some((_, tree)) = &mut self.tree else { return Err(TreeError::NoIndex.into()) };
        let mut wanted = self.objects.tree(&row.base_commit).map_err(EvalError::Objects)?;
        wanted.retain(|path, _| {
            path.ends_with(".gitignore")
                || indexable(Path::new(path), FileMeta { size: 1, custom: false }, &[]).is_ok()
        });
        let mut contents = std::collections::BTreeMap::new();
        for missing in tree.missing(&wanted).chunks(BATCH) {
            let names: Vec<&str> = missing.iter().map(|(_, name)| *name).collect();
            let found = self.objects.contents(&names).map_err(EvalError::Objects)?;
            for ((path, _), content) in missing.iter().zip(found) {
                contents.extend(content.map(|content| ((*path).to_owned(), content)));
            }
        }
        tree.move_to(&wanted, &contents)?;
        Ok(tree)
    }
}

/// Takes the comments that are asked with out of the files and of the index.
fn take_out(tree: &mut Tree, questions: &[Question]) -> Result<(), EvalError> {
    let folder = tree.folder().to_owned();
    let changed = questions.iter().filter_map(|question| {
        let text = fs::read_to_string(folder.join(&question.file)).ok()?;
        Some((question.file.clone(), without_lines(&text, question.lines).into_bytes()))
    });
    Ok(tree.replace(changed.collect())?)
}

/// A row's id as the name of a folder.
fn file_name(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '+' }).collect()
}

fn is_whole(kept: &Path) -> bool {
    kept.join(DONE).is_file()
}

fn opened(kept: &Path) -> Result<Stage, EvalError> {
    let key = fs::read_to_string(kept.join("key")).map_err(TreeError::from)?;
    let log = fs::read(kept.join("log")).map_err(TreeError::from)?;
    let store = SqliteStore::open(&kept.join("data"))?;
    let reader = store.open_reader(&key)?.ok_or(TreeError::NoIndex)?;
    Ok(Stage { reader, log, folder: None })
}

fn keep(tree: &Tree, kept: &Path, log: &[u8], questions: &[Question]) -> io::Result<()> {
    if kept.is_dir() {
        fs::remove_dir_all(kept)?;
    }
    copy_folder(tree.data(), &kept.join("data"))?;
    fs::write(kept.join("key"), tree.key())?;
    fs::write(kept.join("log"), log)?;
    fs::write(kept.join("questions"), serde_json::to_vec(questions)?)?;
    fs::write(kept.join(DONE), "")
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::embed::NoEmbedder;
    use crate::parser::InProcess;

    /// Commits `a` and `b`; a content is its own name. What is asked for is counted.
    #[derive(Default)]
    struct Counted(std::cell::Cell<usize>);

    impl Objects for Counted {
        fn tree(&self, commit: &str) -> Result<BTreeMap<String, String>, String> {
            self.0.set(self.0.get() + 1);
            let text = format!("/// Gives back what was lent in {commit} before.\nfn lent_{commit}() {{}}\n");
            Ok(BTreeMap::from([("lib.rs".to_owned(), text)]))
        }

        fn contents(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, String> {
            Ok(names.iter().map(|name| Some(name.as_bytes().to_vec())).collect())
        }

        fn log(&self, commit: &str) -> Result<Vec<u8>, String> {
            Ok(commit.as_bytes().to_vec())
        }
    }

    fn row(commit: &str) -> Row {
        let text = format!(r#"{{"id": "x/{commit}", "base_commit": "{commit}", "text": "t", "gold": []}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn kept_indexes_are_opened_without_the_repository() {
        let kept = tempfile::tempdir().unwrap();
        let objects = Counted::default();
        for asked in [3, 3] {
            let parser = Arc::new(InProcess::default());
            let mut stages = Stages::new(&objects, parser, Arc::new(NoEmbedder), Some(kept.path()), false);
            for commit in ["a", "b"] {
                let stage = stages.at(&row(commit)).unwrap();
                assert_eq!(stage.log, commit.as_bytes());
                assert_eq!(stage.reader.symbols_named(&format!("lent_{commit}")).unwrap().len(), 1);
            }
            let (questions, stage) = stages.sentences(&row("a"), 5).unwrap();
            assert_eq!(questions[0].text, "Gives back what was lent in a before");
            assert_eq!(stage.reader.symbols_named("lent_a").unwrap().len(), 1);
            assert_eq!(objects.0.get(), asked, "the second time nothing is made");
        }
    }
}
